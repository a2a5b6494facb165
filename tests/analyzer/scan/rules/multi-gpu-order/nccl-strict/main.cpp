// Right: strict mode, before the communicator, leaves in-switch reductions out.
#include "third_party/ProcessGroupNCCL.h"

#include <torch/torch.h>

#include <cstdlib>

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  c10d::ProcessGroupNCCL group(0, 2);
  std::vector<at::Tensor> gradients = {torch::ones({4})};
  group.broadcast(gradients);
  group.allreduce(gradients);
  group.allreduce(gradients);
}
