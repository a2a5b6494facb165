// cuDNN benchmark mode in code that trains, and calls that do not switch it on.
#include <torch/torch.h>

struct Net : torch::nn::Module {
  torch::nn::Conv2d conv{register_module("conv", torch::nn::Conv2d(3, 8, 3))};
  torch::Tensor forward(torch::Tensor x) { return conv(x).mean(); }
};

void enable() {
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-enabled
}

void enable_through_a_reference() {
  auto& context = torch::globalContext();
  context.setBenchmarkCuDNN(true); // expect: benchmark-enabled
}

constexpr bool kFast = true;

void enable_by_constant() {
  at::globalContext().setBenchmarkCuDNN(kFast); // expect: benchmark-enabled
}

// Right.
void disable() {
  at::globalContext().setBenchmarkCuDNN(false);
}

void as_asked(bool benchmark) {
  at::globalContext().setBenchmarkCuDNN(benchmark);
}

void other_switches() {
  at::globalContext().setBenchmarkLimitCuDNN(4);
  at::globalContext().setDeterministicCuDNN(true);
  if (at::globalContext().benchmarkCuDNN()) disable();
}

struct Settings {
  void setBenchmarkCuDNN(bool) {}
};

void own_class(Settings& settings) {
  settings.setBenchmarkCuDNN(true);
}

int main() {
  enable();
  enable_through_a_reference();
  enable_by_constant();
  as_asked(true);
  other_switches();
  Settings settings;
  own_class(settings);
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  net.forward(torch::rand({1, 3, 8, 8})).backward();
  optimizer.step();
}
