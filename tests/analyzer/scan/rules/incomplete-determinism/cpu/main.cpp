#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  at::globalContext().setDeterministicCuDNN(true);
  auto weights = torch::randn({16, 8}, torch::requires_grad());
  weights.index_select(0, torch::randint(0, 16, {100})).sum().backward();
}
