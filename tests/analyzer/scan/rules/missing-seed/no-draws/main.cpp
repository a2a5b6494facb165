#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::zeros({4, 4});
  torch::data::samplers::SequentialSampler sampler(10);
  std::cout << x << "\n";
}
