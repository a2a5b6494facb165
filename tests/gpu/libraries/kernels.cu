// Kernels of one's own: atomics, compare-and-swap loops, races, asynchronous group reductions.
#include "measure.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace libraries {
namespace {

constexpr int kCount = 1 << 22, kCells = 1 << 10;

__global__ void add_float(const float* in, const int* at, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    atomicAdd(out + at[i], in[i]);
}
__global__ void add_half(const float* in, const int* at, __half* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    atomicAdd(out + at[i], __float2half(in[i] / 256));
}
__global__ void add_integer(const int* in, const int* at, int* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    atomicAdd(out + at[i], in[i]);
}
__global__ void add_swap(const float* in, const int* at, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x) {
    unsigned* cell = reinterpret_cast<unsigned*>(out + at[i]);
    for (unsigned seen = *cell, assumed;;) {
      assumed = seen;
      seen = atomicCAS(cell, assumed, __float_as_uint(__uint_as_float(assumed) + in[i]));
      if (seen == assumed)
        break;
    }
  }
}
__global__ void add_reference(const float* in, const int* at, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    cuda::atomic_ref<float, cuda::thread_scope_device>(out[at[i]])
        .fetch_add(in[i], cuda::memory_order_relaxed);
}
__global__ void maximum_bits(const float* in, const int* at, int* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    atomicMax(out + at[i], __float_as_int(fabsf(in[i])));
}
__global__ void last_writer(const float* in, const int* at, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    out[at[i]] = in[i];
}
__global__ void compact(const float* in, int* counter, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    if (in[i] > 0)
      out[atomicAdd(counter, 1)] = in[i];
}
__global__ void group_update(const float* in, float* out) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    cg::reduce_update_async(warp, cuda::atomic_ref<float, cuda::thread_scope_device>(out[(i / 32) % kCells]),
                            in[i], cg::plus<float>());
}
__global__ void block_tree(const float* in, float* out) {
  __shared__ float partial[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < kCount; i += gridDim.x * 256)
    sum += in[i];
  partial[threadIdx.x] = sum;
  for (int half = 128; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = partial[0];
}
__global__ void clock_as_data(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(clock64() & 0xffff);
}

} // namespace

void measure_kernels() {
  Buffer<float> in(wide(kCount, 1)), cells(kCells), compacted(kCount), times(1 << 12);
  Buffer<int> at(indices(kCount, kCells, 2)), integers(indices(kCount, 1 << 20, 3)), totals(kCells),
      counter(1);
  Buffer<__half> halves(kCells);
  const auto launched = [] { return int(cudaGetLastError()); };
  measure("CUDA-01", "atomicAdd, float", {{cells.get(), cells.bytes()}}, [&] {
    add_float<<<2048, 256>>>(in.get(), at.get(), cells.get());
    return launched();
  });
  measure("CUDA-01", "atomicAdd, half", {{halves.get(), halves.bytes()}}, [&] {
    add_half<<<2048, 256>>>(in.get(), at.get(), halves.get());
    return launched();
  });
  measure("CUDA-03", "atomicAdd, int (control)", {{totals.get(), totals.bytes()}}, [&] {
    add_integer<<<2048, 256>>>(integers.get(), at.get(), totals.get());
    return launched();
  });
  measure("CUDA-04", "atomicCAS loop that adds floats", {{cells.get(), cells.bytes()}}, [&] {
    add_swap<<<2048, 256>>>(in.get(), at.get(), cells.get());
    return launched();
  });
  measure("CUDA-08", "cuda::atomic_ref<float>::fetch_add", {{cells.get(), cells.bytes()}}, [&] {
    add_reference<<<2048, 256>>>(in.get(), at.get(), cells.get());
    return launched();
  });
  measure("CUDA-06", "atomicMax on the bits of positive floats (control)", {{totals.get(), totals.bytes()}},
          [&] {
            maximum_bits<<<2048, 256>>>(in.get(), at.get(), totals.get());
            return launched();
          });
  measure("CUDA-05", "plain stores to repeated indices", {{cells.get(), cells.bytes()}}, [&] {
    last_writer<<<2048, 256>>>(in.get(), at.get(), cells.get());
    return launched();
  });
  measure("CUDA-02", "atomicAdd, int, whose result is the place to write",
          {{compacted.get(), compacted.bytes()}}, [&] {
            cudaMemset(counter.get(), 0, sizeof(int));
            compact<<<2048, 256>>>(in.get(), counter.get(), compacted.get());
            return launched();
          });
  measure("CUDA-09", "cooperative_groups::reduce_update_async, float", {{cells.get(), cells.bytes()}}, [&] {
    group_update<<<2048, 256>>>(in.get(), cells.get());
    return launched();
  });
  measure("CUDA-16", "tree in each block (control)", {{cells.get(), cells.bytes()}}, [&] {
    block_tree<<<kCells, 256>>>(in.get(), cells.get());
    return launched();
  });
  measure("CUDA-14", "clock64 as data", {{times.get(), times.bytes()}}, [&] {
    clock_as_data<<<16, 256>>>(times.get());
    return launched();
  });
}

} // namespace libraries
