#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, false);
  auto weights = torch::randn({16, 8}, torch::TensorOptions().device(torch::kCUDA).requires_grad(true));
  auto index = torch::randint(0, 16, {100}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  weights.index_select(0, index).sum().backward();
}
