#include <torch/torch.h>

static torch::Tensor start() { return torch::randn({4}); } // expect: missing-seed

int main() { start(); }
