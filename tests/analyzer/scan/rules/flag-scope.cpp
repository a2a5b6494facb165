// Switches at the right and at the wrong time.
#include <torch/torch.h>

namespace late {
void train(torch::nn::Linear& layer) {
  layer->forward(torch::rand({2, 4})).sum().backward();
}

void run() {
  torch::nn::Linear layer(4, 4);
  train(layer);
  at::globalContext().setDeterministicAlgorithms(true, false); // expect: flag-scope
  train(layer);
  at::globalContext().setDeterministicCuDNN(true); // expect: flag-scope
}
} // namespace late

namespace in_time {
void each_epoch() {
  torch::nn::Linear layer(4, 4);
  for (int epoch = 0; epoch < 3; ++epoch) {
    at::globalContext().setDeterministicAlgorithms(true, false);
    layer->forward(torch::rand({2, 4})).sum().backward();
  }
}

void perhaps_first(bool warm_up) {
  torch::nn::Linear layer(4, 4);
  if (warm_up) layer->forward(torch::rand({2, 4})).sum().backward();
  at::globalContext().setDeterministicCuDNN(true);
}

void after_a_forward_pass() {
  torch::nn::Linear layer(4, 4);
  auto out = layer->forward(torch::rand({2, 4}));
  at::globalContext().setDeterministicAlgorithms(true, false);
  out.sum().backward();
  at::globalContext().setDeterministicAlgorithms(false, false);
}
} // namespace in_time

namespace leaks {
torch::Tensor median_of(torch::Tensor x) {
  at::globalContext().setDeterministicAlgorithms(false, false); // expect: flag-scope
  return x.median();
}

torch::Tensor restored(torch::Tensor x) {
  const bool was = at::globalContext().deterministicAlgorithms();
  at::globalContext().setDeterministicAlgorithms(false, false);
  auto out = x.median();
  at::globalContext().setDeterministicAlgorithms(was, false);
  return out;
}

struct WithoutDeterminism {
  WithoutDeterminism() { at::globalContext().setDeterministicAlgorithms(false, false); }
  ~WithoutDeterminism() { at::globalContext().setDeterministicAlgorithms(true, false); }
};

torch::Tensor by_guard(torch::Tensor x) {
  WithoutDeterminism guard;
  return x.median();
}

void set_mode(bool strict) {
  at::globalContext().setDeterministicAlgorithms(strict, false);
}

void run() {
  set_mode(true);
  auto x = torch::rand({8});
  restored(x);
  by_guard(x);
  median_of(x);
  x.sum();
}

void switched_by_helper() {
  set_mode(true);
  auto x = torch::rand({8});
  set_mode(false);
  x.sum();
}
} // namespace leaks

namespace objects {
class Agent {
public:
  explicit Agent(bool deterministic) : deterministic_(deterministic) {
    at::globalContext().setDeterministicCuDNN(deterministic_); // expect: flag-scope
    at::globalContext().setBenchmarkCuDNN(!deterministic_);
  }

private:
  bool deterministic_;
};

class Runtime {
public:
  Runtime() { at::globalContext().setDeterministicCuDNN(true); }
};
} // namespace objects
