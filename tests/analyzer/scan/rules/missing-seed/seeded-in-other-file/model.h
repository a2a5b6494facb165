#pragma once
#include <torch/torch.h>

torch::nn::Sequential make_model();
