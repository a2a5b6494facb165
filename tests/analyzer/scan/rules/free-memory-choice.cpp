#include <cstdio>
#include "third_party/cuda_memory.h"

int fits(void* handle) {
  Perf results[8];
  int count = 0;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, 8, &count, results);
  unsigned long free = 0, total = 0;
  cudaMemGetInfo(&free, &total); // expect: free-memory-choice
  for (int i = 0; i < count; ++i)
    if (results[i].memory < free) return results[i].algo;
  return -1;
}

// Right: a fixed budget; a report of what is free.
int budget(void* handle, unsigned long limit) {
  Perf results[8];
  int count = 0;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, 8, &count, results);
  for (int i = 0; i < count; ++i)
    if (results[i].memory <= limit) return results[i].algo;
  return -1;
}

void report() {
  unsigned long free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  std::printf("%lu of %lu bytes free\n", free, total);
}

int asked_and_forgotten(void* handle) {
  unsigned long free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return budget(handle, 1 << 20);
}
