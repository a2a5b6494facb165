// The device half of the comparison: the same numbers as compare_cpu.cpp, reduced in any order.
#include "runtime/compare/element.h"

#include <cuda_runtime.h>

namespace {

using reprobe::compare::Comparison;
using reprobe::compare::Type;
namespace element = reprobe::compare::element;

constexpr int kThreads = 256;

// Non-negative doubles order like their bits, so one integer maximum does for them.
struct Totals {
  unsigned long long hash[2], differing, nan_mismatches, max_ulp, max_absolute, max_relative;
};

__device__ unsigned long long bits(double value) {
  return __double_as_longlong(value);
}

__device__ unsigned long long warp_sum(unsigned long long value) {
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

__device__ unsigned long long warp_maximum(unsigned long long value) {
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_down_sync(0xffffffffu, value, step);
    value = value > other ? value : other;
  }
  return value;
}

__global__ void hash_kernel(const unsigned char* bytes, unsigned long long count, Totals* totals) {
  std::uint64_t low = 0, high = 0;
  const unsigned long long words = (count + 7) / 8;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % 8 == 0;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < words; i += stride) {
    std::uint64_t word = 0;
    const unsigned long long left = count - 8 * i;
    if (aligned && left >= 8) {
      word = reinterpret_cast<const std::uint64_t*>(bytes)[i];
    } else {
      for (unsigned long long k = 0; k < 8 && k < left; ++k)
        word |= std::uint64_t(bytes[8 * i + k]) << (8 * k);
    }
    element::add_word(word, i, low, high);
  }
  const unsigned long long low_sum = warp_sum(low), high_sum = warp_sum(high);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->hash[0], low_sum);
    atomicAdd(&totals->hash[1], high_sum);
  }
}

template <class Element>
__global__ void distance_kernel(const typename Element::Word* reference, const typename Element::Word* result,
                                unsigned long long elements, std::uint8_t* ever_differs, Totals* totals) {
  unsigned long long differing = 0, nan_mismatches = 0;
  double ulp = 0, absolute = 0, relative = 0;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < elements; i += stride) {
    const typename Element::Word a = reference[i], b = result[i];
    if (a == b)
      continue;
    ++differing;
    if (ever_differs)
      ever_differs[i] = 1;
    const element::Distance d = Element::distance(a, b);
    nan_mismatches += d.nan_mismatch;
    ulp = element::larger(ulp, d.ulp);
    absolute = element::larger(absolute, d.absolute);
    relative = element::larger(relative, d.relative);
  }
  differing = warp_sum(differing);
  nan_mismatches = warp_sum(nan_mismatches);
  const unsigned long long max_ulp = warp_maximum(bits(ulp)), max_absolute = warp_maximum(bits(absolute)),
                           max_relative = warp_maximum(bits(relative));
  if (threadIdx.x % 32 == 0 && differing) {
    atomicAdd(&totals->differing, differing);
    atomicAdd(&totals->nan_mismatches, nan_mismatches);
    atomicMax(&totals->max_ulp, max_ulp);
    atomicMax(&totals->max_absolute, max_absolute);
    atomicMax(&totals->max_relative, max_relative);
  }
}

__global__ void equal_kernel(const uint4* a, const uint4* b, unsigned long long chunks,
                             const unsigned char* a_tail, const unsigned char* b_tail, unsigned tail,
                             int* differs) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned difference = 0;
  for (unsigned long long i = first; i < chunks; i += stride) {
    const uint4 x = a[i], y = b[i];
    difference |= (x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w);
  }
  if (first < tail)
    difference |= a_tail[first] ^ b_tail[first];
  if (difference)
    *differs = 1;
}

__global__ void equal_bytes_kernel(const unsigned char* a, const unsigned char* b, unsigned long long count,
                                   int* differs) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += stride)
    if (a[i] != b[i])
      *differs = 1;
}

unsigned grid(unsigned long long work) {
  const unsigned long long blocks = (work + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 4096 ? 4096 : blocks);
}

/// Device memory for one result, freed on the stream that used it.
template <class T>
struct OnDevice {
  T* data = nullptr;
  cudaStream_t stream;
  explicit OnDevice(cudaStream_t stream) : stream(stream) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (data)
      cudaFreeAsync(data, stream);
  }
  cudaError_t make() {
    cudaError_t error = cudaMallocAsync(reinterpret_cast<void**>(&data), sizeof(T), stream);
    if (error == cudaSuccess)
      error = cudaMemsetAsync(data, 0, sizeof(T), stream);
    return error;
  }
  cudaError_t fetch(T* to) {
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
      error = cudaMemcpyAsync(to, data, sizeof(T), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
      error = cudaStreamSynchronize(stream);
    return error;
  }
};

double as_double(unsigned long long value) {
  double result;
  static_assert(sizeof result == sizeof value, "same width");
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int reprobe_equal_cuda(const void* reference,
                                                                         const void* result,
                                                                         std::uint64_t bytes,
                                                                         void* stream_handle, int* equal) {
  *equal = 1;
  if (bytes == 0)
    return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  OnDevice<int> differs(stream);
  cudaError_t error = differs.make();
  if (error != cudaSuccess)
    return error;
  const auto* a = static_cast<const unsigned char*>(reference);
  const auto* b = static_cast<const unsigned char*>(result);
  if ((reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % 16 == 0) {
    const unsigned long long chunks = bytes / 16;
    equal_kernel<<<grid(chunks), kThreads, 0, stream>>>(
        reinterpret_cast<const uint4*>(a), reinterpret_cast<const uint4*>(b), chunks, a + 16 * chunks,
        b + 16 * chunks, unsigned(bytes % 16), differs.data);
  } else {
    equal_bytes_kernel<<<grid(bytes), kThreads, 0, stream>>>(a, b, bytes, differs.data);
  }
  int found = 0;
  error = differs.fetch(&found);
  *equal = !found;
  return error;
}

extern "C" __attribute__((visibility("default"))) int
reprobe_compare_cuda(const void* reference, const void* result, std::uint64_t elements, int type,
                     std::uint8_t* ever_differs, void* stream_handle, Comparison* out) {
  *out = Comparison{};
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  const std::uint64_t bytes = elements * reprobe::compare::size_of(static_cast<Type>(type));
  out->hash[0] = bytes;
  if (bytes == 0)
    return cudaSuccess;
  OnDevice<Totals> totals(stream);
  cudaError_t error = totals.make();
  if (error != cudaSuccess)
    return error;
  hash_kernel<<<grid((bytes + 7) / 8), kThreads, 0, stream>>>(static_cast<const unsigned char*>(result),
                                                              bytes, totals.data);
  element::with_type(static_cast<Type>(type), [&](auto element_type) {
    using Element = decltype(element_type);
    using Word = typename Element::Word;
    distance_kernel<Element><<<grid(elements), kThreads, 0, stream>>>(static_cast<const Word*>(reference),
                                                                      static_cast<const Word*>(result),
                                                                      elements, ever_differs, totals.data);
  });
  Totals found{};
  error = totals.fetch(&found);
  out->hash[0] += found.hash[0];
  out->hash[1] = found.hash[1];
  out->differing = found.differing;
  out->nan_mismatches = found.nan_mismatches;
  out->max_ulp = as_double(found.max_ulp);
  out->max_absolute = as_double(found.max_absolute);
  out->max_relative = as_double(found.max_relative);
  return error;
}
