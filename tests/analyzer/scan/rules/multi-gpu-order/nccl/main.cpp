// NCCL is free to choose.
#include "third_party/ProcessGroupNCCL.h"

#include <torch/torch.h>

#include <cstdlib>

int main() {
  c10d::ProcessGroupNCCL group(0, 2);
  std::vector<at::Tensor> gradients = {torch::ones({4})};
  group.broadcast(gradients);
  group.allreduce(gradients); // expect: multi-gpu-order
  group.allreduce(gradients);
}
