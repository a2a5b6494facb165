// A seeded program that trains convolutions on CUDA and never asks for deterministic algorithms.
#include <torch/torch.h>

struct Net : torch::nn::Module {
  Net() : conv(register_module("conv", torch::nn::Conv2d(3, 8, 3))) {}
  torch::Tensor forward(torch::Tensor x) { return conv(x).mean(); }
  torch::nn::Conv2d conv;
};

int main() {
  torch::manual_seed(42); // expect: determinism-not-enabled
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net;
  net.to(device);
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  auto loss = net.forward(torch::rand({4, 3, 8, 8}, device));
  loss.backward();
  optimizer.step();
}
