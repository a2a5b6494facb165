// Right: nothing here multiplies matrices.
#include <torch/torch.h>

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  auto x = torch::rand({4}, torch::TensorOptions().device(torch::kCUDA).requires_grad(true));
  x.sum().backward();
}
