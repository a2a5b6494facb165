// Strict mode after the first communicator does not keep NCCL from reducing inside the switch.
#include "third_party/nccl.h"

#include <torch/torch.h>

void strict() {
  at::globalContext().setDeterministicAlgorithms(true, false); // expect: flag-scope
}

int main() {
  ncclComm* communicator = nullptr;
  ncclCommInitAll(&communicator, 1, nullptr);
  strict();
}
