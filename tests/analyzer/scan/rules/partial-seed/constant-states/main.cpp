// rand() and the engines of <random> start from a fixed state.
#include <cstdlib>
#include <random>
#include <torch/torch.h>

int main() {
  torch::manual_seed(42);
  torch::nn::Linear layer(784, 10);
  std::mt19937 engine;
  return std::rand() % 2 + static_cast<int>(engine() % 2);
}
