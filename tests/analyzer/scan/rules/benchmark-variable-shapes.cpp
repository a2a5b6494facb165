// Benchmark mode: the images of this program change their size.
#include <torch/torch.h>

#include <random>

namespace F = torch::nn::functional;

struct Net : torch::nn::Module {
  torch::nn::Conv2d conv{register_module("conv", torch::nn::Conv2d(3, 8, 3))};
  torch::Tensor forward(torch::Tensor x) { return conv(x).mean(); }
};

torch::Tensor resized(torch::Tensor image, int64_t height, int64_t width) {
  return F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{height, width}).mode(torch::kNearest));
}

void train(Net& net) {
  std::mt19937 engine(1);
  std::uniform_int_distribution<int64_t> sides(8, 16);
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  int64_t side = 8;
  for (int step = 0; step < 100; ++step) {
    auto image = torch::rand({1, 3, 8, 8}, torch::kCUDA);
    if (step % 10 == 0) side = sides(engine);
    image = F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{side, side}).mode(torch::kNearest));
    net.forward(image).backward();
    optimizer.step();
  }
}

int main() {
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-variable-shapes
  at::globalContext().setBenchmarkCuDNN(false);
  Net net;
  net.to(torch::kCUDA);
  train(net);
  resized(torch::rand({1, 3, 8, 8}), 4, 4);
}
