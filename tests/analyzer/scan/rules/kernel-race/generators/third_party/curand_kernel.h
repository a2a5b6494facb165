// Names of cuRAND's header, so that the test needs none.
#pragma once
#include <cuda_runtime.h>
struct curandState {
  unsigned d, v[5];
};
__device__ float curand_uniform(curandState*);
