#include <cuda_runtime.h>

__global__ void sum(const float* x, float* partial, int n) {
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) total += x[i];
  partial[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
__global__ void sum_of_a_variable_stride(const float* x, float* partial, int n) {
  const int stride = gridDim.x * blockDim.x;
  double total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (x[i] > 0) total += x[i];
  }
  partial[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
__global__ void rows(const float* x, float* out, int n, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    float total = 0;
    for (int j = 0; j < k; ++j) total += x[i * k + j];
    out[i] = total;
  }
}
__global__ void counts(const int* x, int* out, int n) {
  int total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) total += x[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

int grid_of_device() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return properties.multiProcessorCount * 4;
}

void launch(const float* x, const int* c, float* out, int* counted, int n) {
  const int blocks = grid_of_device();
  sum<<<blocks, 256>>>(x, out, n); // expect: machine-dependent-reduction
  sum_of_a_variable_stride<<<dim3(blocks), 256>>>(x, out, n); // expect: machine-dependent-reduction
  int minimum, size;
  cudaOccupancyMaxPotentialBlockSize(&minimum, &size, sum);
  sum<<<minimum, 256>>>(x, out, n); // expect: machine-dependent-reduction
  // Right: each element is the work of one thread, integers, a grid of fixed size or of the data's.
  rows<<<blocks, 256>>>(x, out, n, 8);
  counts<<<blocks, 256>>>(c, counted, n);
  sum<<<512, 256>>>(x, out, n);
  sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
