// A trainer that never seeds: one finding, at the first draw of the program.
#include <torch/torch.h>

#include <cstdlib>
#include <random>

namespace lookalikes {
// The user's own function of the same name draws nothing from LibTorch.
double randn(int x) { return x * 0.5; }

// An explicit generator is seeded where it is made.
torch::Tensor from_own_generator() {
  auto generator = at::detail::createCPUGenerator(7);
  return torch::randn({2, 2}, generator);
}

// rand() starts from the same state in every run.
int c_library() { return std::rand(); }

struct Sampler {
  std::mt19937 engine{5};
  torch::Tensor normal(int n) { return torch::zeros({n}); }
};
} // namespace lookalikes

struct Net : torch::nn::Module {
  Net() {
    fc = register_module("fc", torch::nn::Linear(4, 2));
    dropout = register_module("dropout", torch::nn::Dropout(0.5));
  }
  torch::Tensor forward(torch::Tensor x) { return dropout(fc(x)); }
  torch::nn::Linear fc{nullptr};
  torch::nn::Dropout dropout{nullptr};
};

int main() { // expect: missing-seed
  lookalikes::randn(3);
  lookalikes::c_library();
  auto order = torch::data::samplers::SequentialSampler(10);
  auto ready = torch::zeros({3, 3});
  Net net;
  auto x = torch::randn({8, 4});
  auto y = net.forward(x).sum();
  y.backward();
}
