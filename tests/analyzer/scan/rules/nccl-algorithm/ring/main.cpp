#include "../../third_party/nccl.h"
#include <cstdlib>

int main() {
  setenv("NCCL_ALGO", "Ring", 1);
  ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, nullptr, nullptr);
}
