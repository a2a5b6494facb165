// Right: strict mode first.
#include "third_party/nccl.h"

#include <torch/torch.h>

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  ncclComm* communicator = nullptr;
  ncclCommInitAll(&communicator, 1, nullptr);
}
