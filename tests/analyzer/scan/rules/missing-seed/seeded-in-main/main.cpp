#include <torch/torch.h>

int main() {
  torch::manual_seed(0);
  torch::nn::Linear layer(4, 2);
  auto x = torch::randn({8, 4});
  layer(x).sum().backward();
}
