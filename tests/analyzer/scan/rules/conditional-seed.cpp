// A seed on one path only.
#include <torch/torch.h>

void prepare(bool random_start) {
  if (random_start) torch::manual_seed(1);
}

int main(int argc, char**) {
  prepare(argc > 1);
  torch::nn::Linear layer(784, 10); // expect: conditional-seed
  auto noise = torch::randn({4, 784});
  layer->forward(noise).sum().backward();
  return 0;
}
