// Tells what each point belongs to, from its position and from what stands around it.
#pragma once

#include "scene.h"
#include "voxel_pool.h"

#include <torch/torch.h>

namespace nn = torch::nn;

struct NetworkImpl : nn::Module {
  explicit NetworkImpl(std::int64_t width)
      : point(register_module("point",
                              nn::Sequential(nn::Linear(3, width), nn::ReLU(), nn::Linear(width, width)))),
        around(register_module(
            "around", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(width, width, 3).padding(1)), nn::ReLU(),
                                     nn::Conv2d(nn::Conv2dOptions(width, width, 3).padding(1))))),
        classify(register_module("classify", nn::Sequential(nn::Linear(2 * width, width), nn::ReLU(),
                                                            nn::Dropout(0.1), nn::Linear(width, kShapes)))) {}

  torch::Tensor forward(const Batch& batch) {
    const auto features = torch::relu(point->forward(batch.positions));
    const auto pooled = voxel_pool(features, batch.voxel, kScenes * kCells * kCells);
    const auto grid = pooled.view({kScenes, kCells, kCells, -1}).permute({0, 3, 1, 2});
    const auto context = around->forward(grid).permute({0, 2, 3, 1}).reshape({kScenes * kCells * kCells, -1});
    return classify->forward(torch::cat({features, context.index_select(0, batch.voxel)}, 1));
  }

  nn::Sequential point, around, classify;
};
TORCH_MODULE(Network);
