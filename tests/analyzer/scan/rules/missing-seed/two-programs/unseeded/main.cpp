#include <torch/torch.h>

static torch::Tensor start() { return torch::randn({4}); }

int main() { start(); } // expect: missing-seed
