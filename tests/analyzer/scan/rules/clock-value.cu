#include <cuda_runtime.h>

__device__ unsigned hash(unsigned x) { return x * 2654435761u ^ x >> 13; }

__global__ void noise(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned seed = static_cast<unsigned>(clock64()) + i; // expect: clock-value
  out[i] = hash(seed) * 1e-9f;
}

__global__ void by_multiprocessor(const float* x, float* partial) {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor)); // expect: clock-value
  partial[multiprocessor] = x[threadIdx.x];
}

__global__ void nanoseconds(unsigned long long* out) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); // expect: clock-value
  out[threadIdx.x] = now;
}

// Right: durations, waiting, a seed from the caller.
__global__ void timed(const float* x, float* y, long long* took) {
  const long long start = clock64();
  y[threadIdx.x] = x[threadIdx.x] * 2;
  const long long end = clock64();
  took[threadIdx.x] = end - start;
}

__global__ void wait(long long cycles, float* out) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  out[threadIdx.x] = 1;
}

__global__ void seeded(float* out, unsigned seed) { out[threadIdx.x] = hash(seed + threadIdx.x); }

__global__ void ordinary_assembly(const int* x, int* y) {
  int sum;
  asm("add.s32 %0, %1, %2;" : "=r"(sum) : "r"(x[0]), "r"(x[1]));
  y[0] = sum;
}
