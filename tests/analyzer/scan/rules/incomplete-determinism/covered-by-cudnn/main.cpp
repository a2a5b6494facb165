// Only convolutions: cuDNN's switch covers them.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  at::globalContext().setDeterministicCuDNN(true);
  torch::nn::Conv2d conv(3, 8, 3);
  conv->to(torch::kCUDA);
  conv(torch::rand({1, 3, 8, 8}, torch::kCUDA)).sum().backward();
}
