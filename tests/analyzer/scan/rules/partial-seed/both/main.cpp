#include <torch/torch.h>

int main() {
  torch::manual_seed(42);
  torch::cuda::manual_seed_all(42);
  torch::nn::Linear layer(784, 10);
  return 0;
}
