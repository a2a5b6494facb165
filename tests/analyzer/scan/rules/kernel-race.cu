#include <cuda_runtime.h>

__global__ void last_wins(const float* x, float* out) {
  out[0] = x[threadIdx.x]; // expect: kernel-race
}

__global__ void lost_updates(const float* x, float* total, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  *total += x[i]; // expect: kernel-race
  if (x[i] > 0.f) count[0]++; // expect: kernel-race
}

__global__ void missing_column(const float* a, float* out, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  out[row] = a[row * n + column]; // expect: kernel-race
}

__global__ void position_of_maximum(const float* x, const long* group, const float* best, long* position, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const long g = group[i];
    if (x[i] == best[g]) position[g] = i; // expect: kernel-race
  }
}

struct Info {
  const long* data;
  int sizes[4], strides[4];
};
__device__ int offset_of(int i, const Info& info) {
  int offset = 0;
  for (int d = 3; d >= 0; --d) offset += i % info.sizes[d] * info.strides[d], i /= info.sizes[d];
  return offset;
}

__global__ void position_through_a_layout(const float* x, const Info info, const float* best, long* position, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, width = info.sizes[3];
  if (i >= n) return;
  const long g = info.data[offset_of(i, info)];
  const int place = i / width * 64 + g;
  const float most = __ldg(best + place);
  if (x[i] == most) position[place] = i % width; // expect: kernel-race
}

__global__ void repeated(const float* x, const int* bin, int* counts, float* sample) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int b = bin[i];
  atomicAdd(&counts[b], 1);
  sample[b] = x[i]; // expect: kernel-race
}

__device__ void choose(int& step) { step = blockDim.x; }

__global__ void lowest(const float* x, int* where, int n) {
  __shared__ int least, index;
  int step;
  choose(step);
  if (threadIdx.x == 0) least = 1000000, index = -1;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += step) {
    const int mine = x[i] * 1000000;
    const int before = atomicMin(&least, mine);
    if (mine < before) index = i; // expect: kernel-race
  }
  __syncthreads();
  if (threadIdx.x == 0) where[blockIdx.x] = index;
}

template <class T> __global__ void generic(const T* x, T* out) {
  out[blockIdx.x] = x[threadIdx.x]; // expect: kernel-race
}
void launch(const float* x, float* out) { generic<float><<<4, 32>>>(x, out); }

// Right: one thread each.
__global__ void elementwise(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] * 2;
  y[i] += x[i];
  for (int k = i; k < n; k += gridDim.x * blockDim.x) y[k] = x[k];
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void block_sum(const float* x, float* out) {
  __shared__ float partial[256];
  const int tid = threadIdx.x;
  partial[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) partial[tid] += partial[tid + half];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = partial[0];
}

__global__ void block_sum_early_exit(const float* x, float* out) {
  float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x) return;
  out[blockIdx.x] = sum;
}

__global__ void all_lanes_hold_the_sum(const float* x, float* out) {
  float sum = x[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  out[blockIdx.x] = sum;
}

__global__ void flag(const float* x, int* changed, bool* any) {
  if (x[threadIdx.x] > 0.f) {
    *changed = 1;
    any[0] = true;
  }
}

__global__ void own_array(const float* x, float* y) {
  float mine[4];
  for (int k = 0; k < 4; ++k) mine[k] = x[threadIdx.x * 4 + k];
  float* first = mine;
  first[0] = x[threadIdx.x];
  float scale = 1;
  float* pointer = &scale;
  *pointer = x[threadIdx.x];
  y[threadIdx.x] = mine[0] + mine[3] + scale;
}

__global__ void through_pointers(const float* x, float* y, int n) {
  float* row = y + blockIdx.x * n;
  row += threadIdx.x;
  *row = x[threadIdx.x + blockIdx.x * n];
}

__global__ void pointers_into_shared_memory(const float* x, float* y, int n) {
  extern __shared__ float memory[];
  float *keys = memory, *values = &memory[n];
  keys[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
  values[threadIdx.x] = x[blockIdx.x * n + threadIdx.x] * 2;
  __syncthreads();
  y[blockIdx.x * n + threadIdx.x] = keys[0] + values[0];
}

__global__ void permuted(const float* x, const int* order, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[order[i]] = x[i];
}

__global__ void boundaries(const int* keys, int* start, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  if (i == 0 || keys[i - 1] != key) start[key] = i;
}

__global__ void value_that_is_compared(const float* x, const int* group, const float* best, float* copy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int g = group[i];
  if (x[i] == best[g]) copy[g] = x[i];
}

__global__ void compacted(const float* x, float* y, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int place = atomicAdd(count, 1);
  y[place] = x[i];
}

__global__ void chosen_thread(const float* x, const int* winner, float* out) {
  const int i = threadIdx.x;
  if (i == winner[blockIdx.x]) out[blockIdx.x] = x[i];
}

struct Leader {
  __device__ static int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
};
__global__ void helper(const float* x, float* y) { y[Leader::index()] = x[Leader::index()]; }

void on_the_host(float* out, const float* x, int n) {
  for (int i = 0; i < n; ++i) out[0] = x[i];
}

__global__ void exchanged(float* last, int* lock, const float* x, float* own) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicExch(last, x[i]); // expect: kernel-race
  atomicExch(&own[i], x[i]);
  atomicExch(lock, 0);
  const float before = atomicExch(last + 1, x[i]); // the order shows in what it gives back: consumed-atomic
  own[i] += before;
}
