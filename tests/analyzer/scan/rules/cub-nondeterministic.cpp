#include "third_party/cub_block.h"

float block(float x) {
  cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC> fast; // expect: cub-nondeterministic
  return fast.Sum(x);
}

void device(const float* x, float* y, int n) {
  cub::DeviceReduce::Sum(x, y, n, cuda::execution::require(cuda::execution::determinism::not_guaranteed)); // expect: cub-nondeterministic
}

// Right: the defaults, and the requirement.
float right(const float* x, float* y, int n) {
  cub::DeviceReduce::Sum(x, y, n, cuda::execution::require(cuda::execution::determinism::run_to_run));
  cub::DeviceReduce::Sum(x, y, n, 0);
  cub::BlockReduce<float, 256> reduce;
  cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_RAKING> raking;
  return reduce.Sum(*x) + raking.Sum(*x);
}
