// A small residual network with a spatial gate: what matters in the image is decided at a coarse resolution.
#pragma once

#include <torch/torch.h>

namespace nn = torch::nn;

struct ResidualBlockImpl : nn::Module {
  explicit ResidualBlockImpl(std::int64_t channels)
      : body(nn::ReflectionPad2d(1), nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).bias(false)),
             nn::BatchNorm2d(channels), nn::ReLU(), nn::ReflectionPad2d(1),
             nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).bias(false)), nn::BatchNorm2d(channels)) {
    register_module("body", body);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(x + body->forward(x)); }

  nn::Sequential body;
};
TORCH_MODULE(ResidualBlock);

struct SpatialGateImpl : nn::Module {
  explicit SpatialGateImpl(std::int64_t channels)
      : score(register_module("score", nn::Conv2d(nn::Conv2dOptions(channels, 1, 3).padding(1)))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    namespace F = nn::functional;
    const auto coarse = torch::sigmoid(score->forward(torch::avg_pool2d(x, 4)));
    const auto size = std::vector<std::int64_t>{x.size(2), x.size(3)};
    const auto gate = F::interpolate(
        coarse, F::InterpolateFuncOptions().size(size).mode(torch::kBilinear).align_corners(false));
    return x * gate;
  }

  nn::Conv2d score;
};
TORCH_MODULE(SpatialGate);

struct NetworkImpl : nn::Module {
  NetworkImpl(std::int64_t channels, std::int64_t classes)
      : stem(register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, channels, 3).stride(2).padding(1)))),
        norm(register_module("norm", nn::BatchNorm2d(channels))),
        first(register_module("first", ResidualBlock(channels))),
        gate(register_module("gate", SpatialGate(channels))),
        second(register_module("second", ResidualBlock(channels))),
        dropout(register_module("dropout", nn::Dropout(0.2))),
        classify(register_module("classify", nn::Linear(channels * 9, classes))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm->forward(stem->forward(x)));
    x = second->forward(gate->forward(first->forward(x)));
    x = torch::adaptive_avg_pool2d(x, {3, 3});
    return classify->forward(dropout->forward(x.flatten(1)));
  }

  nn::Conv2d stem;
  nn::BatchNorm2d norm;
  ResidualBlock first;
  SpatialGate gate;
  ResidualBlock second;
  nn::Dropout dropout;
  nn::Linear classify;
};
TORCH_MODULE(Network);
