// What an operator and a training step cost, as the program itself sees it: the best of many blocks, so that other
// load on the machine counts little. Prints one line: nanoseconds an operator, microseconds a step, operators a step.
//   observe_cost [cpu|cuda]
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

namespace {

template <class Body>
double best_nanoseconds(int blocks, Body&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int block = 0; block < blocks; ++block) {
    const auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

} // namespace

int main(int count, char** values) {
  const c10::Device device(count > 1 ? values[1] : "cpu");
  at::set_num_threads(1);
  torch::manual_seed(1);
  at::Tensor x = torch::ones({8}, device);
  constexpr int kCalls = 2000;
  const auto calls = [&] {
    at::NoGradGuard no_grad;
    for (int i = 0; i < kCalls; ++i)
      x.add_(1);
    x.sum().item<float>(); // waits for the device
  };
  calls();
  const double an_operator = best_nanoseconds(200, calls) / kCalls;

  torch::nn::Sequential net(torch::nn::Linear(256, 256), torch::nn::ReLU(), torch::nn::Linear(256, 256),
                            torch::nn::ReLU(), torch::nn::Linear(256, 10));
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const at::Tensor images = torch::randn({64, 256}, device), labels = torch::randint(10, {64}, at::TensorOptions(device).dtype(at::kLong));
  const auto step = [&] {
    optimizer.zero_grad();
    const at::Tensor loss = torch::cross_entropy_loss(net->forward(images), labels);
    loss.backward();
    optimizer.step();
    loss.item<float>();
  };
  step();
  std::printf("%.2f %.3f\n", an_operator, best_nanoseconds(300, step) * 1e-3);
}
