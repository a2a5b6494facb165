// Seeds for some generators only.
#include <torch/torch.h>

int main() {
  torch::cuda::manual_seed(42); // expect: partial-seed
  torch::nn::Linear layer(784, 10);
  auto noise = torch::randn({4, 784});
  layer->forward(noise).sum().backward();
  return 0;
}

void unrelated() {
  const int seed = 3;
  (void)seed;
}
