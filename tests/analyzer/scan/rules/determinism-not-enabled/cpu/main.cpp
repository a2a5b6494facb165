#include <torch/torch.h>

int main() {
  torch::manual_seed(4);
  torch::nn::Conv2d conv(3, 8, 3);
  conv(torch::rand({1, 3, 8, 8})).sum().backward();
}
