#include "third_party/nccl.h"

void sums(float* gradient, unsigned long n, void* communicator, void* stream) {
  ncclAllReduce(gradient, gradient, n, ncclFloat, ncclSum, communicator, stream); // expect: nccl-algorithm
  ncclAllReduce(gradient, gradient, n, ncclBfloat16, ncclSum, communicator, stream); // expect: nccl-algorithm
}

// Right: maxima, integers and copies are the same in any order.
void stable(float* x, int* counts, unsigned long n, void* communicator, void* stream) {
  ncclAllReduce(x, x, n, ncclFloat, ncclMax, communicator, stream);
  ncclAllReduce(counts, counts, n, ncclInt32, ncclSum, communicator, stream);
  ncclBroadcast(x, x, n, ncclFloat, 0, communicator, stream);
}
