// Deterministic cuDNN in a program whose gradients need more than that.
#include <torch/torch.h>

void set_up(bool strict) {
  at::globalContext().setDeterministicCuDNN(true); // expect: incomplete-determinism
  if (!strict) at::globalContext().setDeterministicCuDNN(false);
}

int main() {
  torch::manual_seed(1);
  set_up(true);
  auto device = torch::Device(torch::kCUDA);
  auto weights = torch::randn({16, 8}, torch::TensorOptions().device(device).requires_grad(true));
  auto index = torch::randint(0, 16, {100}, torch::TensorOptions().dtype(torch::kLong).device(device));
  auto loss = weights.index_select(0, index).sum();
  loss.backward();
}
