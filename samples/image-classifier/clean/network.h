// A small residual network with a spatial gate: what matters in the image is decided at a coarse resolution.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>

namespace nn = torch::nn;

struct ResidualBlockImpl : nn::Module {
  explicit ResidualBlockImpl(std::int64_t channels)
      : body(nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)),
             nn::BatchNorm2d(channels), nn::ReLU(),
             nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)),
             nn::BatchNorm2d(channels)) {
    register_module("body", body);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(x + body->forward(x)); }

  nn::Sequential body;
};
TORCH_MODULE(ResidualBlock);

/// Bilinear interpolation of `from` values to `to` values as a matrix [to, from], corners not aligned.
inline torch::Tensor interpolation_matrix(std::int64_t from, std::int64_t to) {
  auto matrix = torch::zeros({to, from});
  auto weight = matrix.accessor<float, 2>();
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = std::max(0.0, (static_cast<double>(i) + 0.5) * from / to - 0.5);
    const auto low = std::min(static_cast<std::int64_t>(place), from - 1);
    const auto high = std::min(low + 1, from - 1);
    weight[i][low] += static_cast<float>(1.0 - (place - low));
    weight[i][high] += static_cast<float>(place - low);
  }
  return matrix;
}

/// The gate is enlarged by two matrix products: the gradient of bilinear interpolation adds in any order on a
/// GPU.
struct SpatialGateImpl : nn::Module {
  SpatialGateImpl(std::int64_t channels, std::int64_t size)
      : score(register_module("score", nn::Conv2d(nn::Conv2dOptions(channels, 1, 3).padding(1)))),
        enlarge(register_buffer("enlarge", interpolation_matrix(size / 4, size))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto coarse = torch::sigmoid(score->forward(torch::avg_pool2d(x, 4)));
    return x * torch::matmul(torch::matmul(enlarge, coarse), enlarge.t());
  }

  nn::Conv2d score;
  torch::Tensor enlarge;
};
TORCH_MODULE(SpatialGate);

struct NetworkImpl : nn::Module {
  NetworkImpl(std::int64_t channels, std::int64_t classes, std::int64_t size)
      : stem(register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, channels, 3).stride(2).padding(1)))),
        norm(register_module("norm", nn::BatchNorm2d(channels))),
        first(register_module("first", ResidualBlock(channels))),
        gate(register_module("gate", SpatialGate(channels, size / 2))),
        second(register_module("second", ResidualBlock(channels))),
        dropout(register_module("dropout", nn::Dropout(0.2))),
        classify(register_module("classify", nn::Linear(channels * 9, classes))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm->forward(stem->forward(x)));
    x = second->forward(gate->forward(first->forward(x)));
    x = torch::avg_pool2d(x, /*kernel_size=*/8, /*stride=*/4); // to 3 x 3
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
