#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(__activemask(), v, offset); // expect: warp-mask
  const unsigned mask = __activemask();
  v = __shfl_xor_sync(mask, v, 1); // expect: warp-mask
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}

// Right: a mask that the program chooses; counters that any lanes add up together.
__global__ void right(const float* x, float* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  float v = x[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(mask, v, offset);
  const unsigned active = __activemask();
  const int leader = __ffs(active) - 1;
  int base = 0;
  if (threadIdx.x % 32 == leader) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);
  out[i] = v;
}
