#include <torch/torch.h>

static torch::Tensor start() { return torch::randn({4}); }

int main() {
  torch::manual_seed(1);
  start();
}
