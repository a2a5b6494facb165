// Scenes of points in a unit cube: ground, a wall, a ball and a pole.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

constexpr std::int64_t kShapes = 4;
constexpr std::int64_t kPoints = 2048; // in one scene
constexpr std::int64_t kScenes = 4;    // in one batch
constexpr std::int64_t kCells = 8;     // voxels are columns over a grid of kCells x kCells

struct Batch {
  torch::Tensor positions; // float [kScenes * kPoints, 3]
  torch::Tensor voxel;     // int64 [kScenes * kPoints], in [0, kScenes * kCells * kCells)
  torch::Tensor shape;     // int64 [kScenes * kPoints]: what is to be predicted
};

/// The scenes of step `step`, the same each time.
inline Batch make_batch(std::uint32_t step) {
  std::mt19937 engine(step + 1);
  const auto uniform = [&engine] { return static_cast<float>(engine() >> 8) / 16777216.0f; };
  std::vector<float> positions;
  std::vector<std::int64_t> voxel, shape;
  for (std::int64_t scene = 0; scene < kScenes; ++scene) {
    const float ball_x = 0.2f + 0.6f * uniform(), ball_y = 0.2f + 0.6f * uniform();
    const float pole_x = uniform(), pole_y = uniform(), wall = 0.1f + 0.8f * uniform();
    for (std::int64_t i = 0; i < kPoints; ++i) {
      const auto kind = static_cast<std::int64_t>(engine() % kShapes);
      const float u = uniform(), v = uniform(), noise = 0.02f * (uniform() - 0.5f);
      float x = u, y = v, z = 0.02f;
      if (kind == 1) {
        y = wall;
        z = v;
      } else if (kind == 2) {
        const float longitude = 6.2831853f * u, height = 2 * v - 1,
                    radius = 0.15f * std::sqrt(1 - height * height);
        x = ball_x + radius * std::cos(longitude);
        y = ball_y + radius * std::sin(longitude);
        z = 0.2f + 0.15f * height;
      } else if (kind == 3) {
        x = pole_x;
        y = pole_y;
        z = v;
      }
      x = std::fmin(std::fmax(x + noise, 0.0f), 0.999f);
      y = std::fmin(std::fmax(y + noise, 0.0f), 0.999f);
      positions.insert(positions.end(), {x, y, z});
      const auto row = static_cast<std::int64_t>(y * kCells), column = static_cast<std::int64_t>(x * kCells);
      voxel.push_back((scene * kCells + row) * kCells + column);
      shape.push_back(kind);
    }
  }
  return {torch::tensor(positions).view({-1, 3}), torch::tensor(voxel), torch::tensor(shape)};
}
