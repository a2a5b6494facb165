// Gradients of what is only looked at are never computed.
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;

static torch::Tensor resized(const torch::Tensor& x) {
  return F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{8, 8}).mode(torch::kBilinear)); // expect: nondeterministic-op
}

static const auto kHalf = F::InterpolateFuncOptions().scale_factor(std::vector<double>{0.5, 0.5}).mode(torch::kBilinear);

struct Net : torch::nn::Module {
  torch::nn::Conv2d conv = register_module("conv", torch::nn::Conv2d(3, 3, 3));
  torch::Tensor kept;
  torch::Tensor forward(torch::Tensor x) { return conv(x); }
  std::tuple<torch::Tensor, torch::Tensor> both(torch::Tensor x) { return {conv(x), conv(x)}; }
};

void keep(torch::Tensor& out, Net& net, const torch::Tensor& input) {
  out = F::interpolate(net.forward(input), kHalf); // expect: nondeterministic-op
}

// Overwritten by the next step, or handed on to it.
void tied(Net& net, torch::Tensor input) {
  torch::Tensor first, second;
  std::tie(first, second) = net.both(input);
  for (int step = 0; step < 10; ++step) {
    std::tie(first, second) = net.both(second);
    (first + second).mean().backward();
    first = F::interpolate(first, kHalf);
    std::cout << first.mean().item<float>();
    second = F::interpolate(second, kHalf); // expect: nondeterministic-op
  }
}

static torch::Tensor scaled(torch::Tensor x) {
  x = x * 0.5;
  return x.clamp(0, 1);
}
static torch::Tensor penalty(torch::Tensor x) {
  x.mean().backward();
  return x;
}
static std::vector<torch::Tensor> history;
static torch::Tensor remembered(torch::Tensor x) {
  history.push_back(x);
  return x;
}

// Through functions of the program's own.
void through_functions(Net& net, torch::Tensor input) {
  auto output = net.forward(input);
  std::cout << scaled(F::interpolate(output, kHalf)).mean().item<float>();
  std::cout << penalty(F::interpolate(output, kHalf)).mean().item<float>(); // expect: nondeterministic-op
  std::cout << remembered(F::interpolate(output, kHalf)).mean().item<float>(); // expect: nondeterministic-op
  scaled(F::interpolate(output, kHalf)).mean().backward(); // expect: nondeterministic-op
}

struct BatchLoader {
  bool operator()(std::tuple<torch::Tensor, torch::Tensor>& batch);
};

void from_a_loader(Net& net, BatchLoader& loader) {
  std::tuple<torch::Tensor, torch::Tensor> batch;
  torch::Tensor image;
  while (loader(batch)) {
    image = std::get<0>(batch).to(torch::kCUDA);
    if (image.size(0) > 1) image = image * 2;
    image = F::interpolate(image, kHalf);
    net.forward(image).mean().backward();
  }
}

int main() {
  torch::manual_seed(1);
  Net net;
  net.to(torch::kCUDA);
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  torch::Tensor output, shown, sum, total = torch::zeros({}, torch::kCUDA);
  std::vector<torch::Tensor> pictures, losses;
  for (int step = 0; step < 100; ++step) {
    auto input = torch::rand({2, 3, 32, 32}, torch::kCUDA);
    output = net.forward(input);
    auto loss = output.mean();
    loss = loss + resized(output).mean();
    auto small = F::interpolate(output, kHalf); // expect: nondeterministic-op
    loss += small.mean();
    auto later = F::interpolate(output, kHalf); // expect: nondeterministic-op
    losses.push_back(later);
    net.kept = F::interpolate(output, kHalf); // expect: nondeterministic-op
    auto by_reference = [&] { return shown.mean(); };
    shown = F::interpolate(output, kHalf); // expect: nondeterministic-op
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) {
      output = F::interpolate(output, kHalf);
      auto pair = torch::cat({input, output}, 0);
      pictures.push_back(pair.detach());
      std::cout << F::interpolate(output, kHalf).mean().item<float>() << by_reference() << "\n";
      sum = F::interpolate(resized(input), kHalf); // expect: nondeterministic-op
    }
    if (sum.defined()) total += sum.mean();
  }
  total.backward();
  keep(net.kept, net, torch::rand({2, 3, 32, 32}, torch::kCUDA));
  tied(net, torch::rand({2, 3, 32, 32}, torch::kCUDA));
  through_functions(net, torch::rand({2, 3, 32, 32}, torch::kCUDA));
  BatchLoader loader;
  from_a_loader(net, loader);
}
