// Strict mode switches index_add_, and makes cumsum throw.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  at::globalContext().setDeterministicAlgorithms(true, false);
  auto options = torch::TensorOptions().device(torch::kCUDA);
  auto source = torch::randn({100, 4}, options.requires_grad(true));
  auto sums = torch::zeros({16, 4}, options);
  sums.index_add_(0, torch::randint(0, 16, {100}, options.dtype(torch::kLong)), source);
  auto running = torch::cumsum(source, 0); // expect: nondeterministic-op
  running.sum().backward();
}
