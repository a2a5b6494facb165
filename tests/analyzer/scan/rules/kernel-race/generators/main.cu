#include "third_party/curand_kernel.h"

// One generator for all threads, and one for each.
__global__ void one_generator(curandState* state, float* out) {
  out[threadIdx.x] = curand_uniform(state); // expect: kernel-race
}

__global__ void generator_each(curandState* states, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState mine = states[i];
  out[i] = curand_uniform(&mine) + curand_uniform(&states[i]) + curand_uniform(states + i);
  states[i] = mine;
}
