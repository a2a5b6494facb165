// Kernels of the program's own: sums into few bins, in the order in which blocks arrive.
#include <cuda_runtime.h>

namespace {

template <class T>
__global__ void bin_sums(const T* values, T* bins, long long count, int bin_count) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long long>(gridDim.x) * blockDim.x)
    atomicAdd(&bins[i % bin_count], values[i]);
}

} // namespace

void float_bin_sums(const float* values, float* bins, long long count, int bin_count, cudaStream_t stream) {
  bin_sums<<<256, 256, 0, stream>>>(values, bins, count, bin_count);
}

void integer_bin_sums(const int* values, int* bins, long long count, int bin_count, cudaStream_t stream) {
  bin_sums<<<256, 256, 0, stream>>>(values, bins, count, bin_count);
}
