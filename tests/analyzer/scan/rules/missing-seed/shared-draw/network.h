#pragma once
#include <torch/torch.h>

struct Network : torch::nn::Module {
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(4, 2));
};
