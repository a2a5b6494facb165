#include <torch/torch.h>

void reproducible(int seed) {
  torch::manual_seed(seed);
  at::globalContext().setDeterministicAlgorithms(true, false);
}

int main() {
  reproducible(4);
  torch::nn::Conv2d conv(3, 8, 3);
  conv->to(torch::kCUDA);
  conv(torch::rand({1, 3, 8, 8}, torch::kCUDA)).sum().backward();
}
