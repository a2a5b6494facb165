// Linear layers alone are deterministic.
#include <torch/torch.h>

int main() {
  torch::manual_seed(4);
  torch::nn::Linear layer(3, 8);
  layer->to(torch::kCUDA);
  layer(torch::rand({1, 3}, torch::kCUDA)).sum().backward();
}
