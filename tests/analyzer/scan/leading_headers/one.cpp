#include <torch/torch.h>

torch::Tensor one() { return torch::zeros({1}); }
