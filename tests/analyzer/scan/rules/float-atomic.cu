#include <atomic>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Cell {
  float value;
  int count;
};

__global__ void sums(const float* x, float* total, double* wide, __half* half, __nv_bfloat16* brain, Cell* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(total, x[i]); // expect: float-atomic
  atomicAdd(&wide[i % 8], double(x[i])); // expect: float-atomic
  atomicAdd(half, __float2half(x[i])); // expect: float-atomic
  atomicAdd(brain + 1, __float2bfloat16(x[i])); // expect: float-atomic
  atomicAdd(&cells[0].value, x[i]); // expect: float-atomic
}

__global__ void in_shared_memory(const float* x, float* out) {
  __shared__ float partial[32];
  atomicAdd(&partial[threadIdx.x % 32], x[threadIdx.x]); // expect: float-atomic
  __syncthreads();
  out[threadIdx.x % 32] = partial[threadIdx.x % 32];
}

__device__ inline void add(float* address, float value) {
  atomicAdd(address, value); // expect: float-atomic
}

__global__ void through_a_wrapper(const float* x, float* total) {
  add(total, x[threadIdx.x]); // expect: float-atomic
}

__device__ double multiply(double* address, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value * __longlong_as_double(assumed))); // expect: float-atomic
  } while (assumed != old);
  return __longlong_as_double(old);
}

template <class T> __global__ void generic(const T* x, T* total) {
  atomicAdd(total, x[threadIdx.x]); // expect: float-atomic
}

void launch(const float* x, float* total) { generic<float><<<1, 32>>>(x, total); }

void on_the_host(std::atomic<double>& total, double x) {
  double seen = total.load();
  while (!total.compare_exchange_weak(seen, seen + x)) { // expect: float-atomic
  }
}

// Right: integers, maximum and minimum, one owner.
__global__ void counts(const int* x, int* count, unsigned long long* wide, Cell* cells, unsigned* flags) {
  atomicAdd(count, 1);
  atomicAdd(wide, 1ull);
  atomicAdd(&cells[0].count, x[0]);
  atomicOr(flags, 1u);
  atomicMax(count, x[threadIdx.x]);
  atomicCAS(count, 0, 1);
}

// A maximum is the same in any order.
__device__ float largest_by_swap(float* address, float value) {
  auto* bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void largest(const float* x, int* best) { atomicMax(best, __float_as_int(x[threadIdx.x])); }

__global__ void fixed_point(const float* x, unsigned long long* total) {
  atomicAdd(total, static_cast<unsigned long long>(x[threadIdx.x] * 4294967296.0));
}

__global__ void one_owner(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  out[threadIdx.x] = sum;
}

namespace mine {
__device__ void atomicAdd(float* address, float value, int owner) {
  if (owner == 0) *address += value;
}
} // namespace mine

__global__ void own_function(float* out) { mine::atomicAdd(out, 1.0f, threadIdx.x); }

long integers_on_the_host(std::atomic<long>& total) { return total.fetch_add(3); }

__device__ void add_by_assembly(float* address, float value) {
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory"); // expect: float-atomic
}

__global__ void through_assembly(const float* x, float* out) {
  add_by_assembly(out, x[threadIdx.x]); // expect: float-atomic
}

__device__ void count_by_assembly(unsigned* address) { asm volatile("red.global.add.u32 [%0], 1;" ::"l"(address) : "memory"); }

// The bits of a half, whose type says so.
__device__ void add_half(__half* address, __half value) {
  unsigned* word = (unsigned*)((char*)address - ((size_t)address & 2));
  unsigned old = *word, assumed;
  do {
    assumed = old;
    const float sum = __half2float(*address) + __half2float(value);
    old = atomicCAS(word, assumed, (unsigned)sum); // expect: float-atomic
  } while (assumed != old);
}

// Dispatch over many types begins with integers.
template <class T> __device__ void add_any(T* address, T value) {
  atomicAdd(address, value); // expect: float-atomic
}
template <class T, int N> struct Reducer {
  static __device__ void write(T* address, T value) {
    if (N % 2 == 0) add_any(address, value); // expect: float-atomic
  }
};
template <class T, int N> __global__ void reduce(const T* x, T* out) {
  Reducer<T, N>::write(out, x[threadIdx.x]); // expect: float-atomic
}
template <class T> void reduce_each(const T* x, T* out) {
  reduce<T, 0><<<1, 32>>>(x, out), reduce<T, 2><<<1, 32>>>(x, out), reduce<T, 4><<<1, 32>>>(x, out), reduce<T, 6><<<1, 32>>>(x, out);
  reduce<T, 8><<<1, 32>>>(x, out), reduce<T, 10><<<1, 32>>>(x, out), reduce<T, 12><<<1, 32>>>(x, out);
}
void dispatch(void* x, void* out) {
  reduce_each((const int*)x, (int*)out);
  reduce_each((const unsigned*)x, (unsigned*)out);
  reduce_each((const unsigned long long*)x, (unsigned long long*)out);
  reduce_each((const float*)x, (float*)out);
}

// A functor, and the address not the first argument.
struct Multiply {
  __device__ void operator()(float value, float* address) const {
    int *bits = (int*)address, old = *bits, assumed;
    do {
      assumed = old;
      old = atomicCAS(bits, assumed, __float_as_int(value * __int_as_float(assumed))); // expect: float-atomic
    } while (assumed != old);
  }
};
__device__ void multiply_by(float* address, float value) {
  Multiply()(value, address); // expect: float-atomic
}
__global__ void product(const float* x, float* out) {
  multiply_by(out, x[threadIdx.x]); // expect: float-atomic
}

// A template that nothing instantiates may be for floating-point numbers.
template <class T> __global__ void never_launched(const T* x, T* total, int* count, unsigned* flags) {
  atomicAdd(total, x[threadIdx.x]); // expect: float-atomic
  atomicAdd(count, 1);
  atomicAdd(total, 1);
  atomicOr(flags, 1u);
}

__global__ void by_one_thread(float* out, const float* x, int n) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int i = 0; i < n; ++i) atomicAdd(out, x[i]);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(out + 1, x[0]);
}

__global__ void once_an_element(float* sums, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[i], x[i]);
}

__global__ void by_one_thread_a_block(float* out, const float* x) {
  if (threadIdx.x == 0) atomicAdd(out, x[blockIdx.x]); // expect: float-atomic
}

__global__ void twice_an_element(float* sums, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[i], x[i]); // expect: float-atomic
  if (i + 1 < n) atomicAdd(&sums[i + 1], x[i]); // expect: float-atomic
}

__global__ void by_threads_of_a_block(float* sums, const float* x) {
  atomicAdd(&sums[threadIdx.x], x[blockIdx.x * blockDim.x + threadIdx.x]); // expect: float-atomic
}
