// Right: the ring fixes the order.
#include "third_party/ProcessGroupNCCL.h"

#include <torch/torch.h>

#include <cstdlib>

int main() {
  setenv("NCCL_ALGO", "Ring", 1);
  c10d::ProcessGroupNCCL group(0, 2);
  std::vector<at::Tensor> gradients = {torch::ones({4})};
  group.broadcast(gradients);
  group.allreduce(gradients);
  group.allreduce(gradients);
}
