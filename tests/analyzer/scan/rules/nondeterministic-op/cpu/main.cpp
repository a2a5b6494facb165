// The same calls in a project that never touches CUDA.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  auto sums = torch::zeros({16, 4});
  auto index = torch::randint(0, 16, {100});
  auto source = torch::randn({100, 4}, torch::requires_grad());
  sums.index_add_(0, index, source);
  auto running = torch::cumsum(source, 0);
  source.gather(0, index).sum().backward();
}
