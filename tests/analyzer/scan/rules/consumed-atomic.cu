#include <cuda_runtime.h>

__global__ void compact(const float* x, int* kept, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.f) {
    const int place = atomicAdd(count, 1); // expect: consumed-atomic
    kept[place] = i;
  }
}

__global__ void directly(const float* x, float* kept, unsigned* count) {
  kept[atomicAdd(count, 1u)] = x[threadIdx.x]; // expect: consumed-atomic
}

__global__ void in_bins(const int* bin, int* next, int* list) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int slot = atomicAdd(&next[bin[i]], 1); // expect: consumed-atomic
  list[slot] = i;
}

__global__ void rank_in_bin(const int* bin, int* count, int* rank) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  rank[i] = atomicAdd(&count[bin[i]], 1); // expect: consumed-atomic
}

__global__ void linked_list(const int* bin, int* head, int* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(&head[bin[i]], i); // expect: consumed-atomic
}

__global__ void one_a_warp(const float* x, float* kept, int* count) {
  const unsigned active = __ballot_sync(0xffffffff, x[threadIdx.x] > 0.f);
  int first = 0;
  if (threadIdx.x % 32 == 0) first = atomicAdd(count, __popc(active)); // expect: consumed-atomic
  first = __shfl_sync(0xffffffff, first, 0);
  kept[first + __popc(active & ((1u << threadIdx.x % 32) - 1))] = x[threadIdx.x];
}

__global__ void through_shared_memory(const float* x, float* kept, int* count) {
  __shared__ int start;
  if (threadIdx.x == 0) start = atomicAdd(count, 32); // expect: consumed-atomic
  __syncthreads();
  kept[start + threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
}

// Right: counts, work queues, the last block, counters of one thread each.
__global__ void counts(const int* bin, int* histogram) { atomicAdd(&histogram[bin[threadIdx.x]], 1); }

__global__ void work_queue(const float* x, float* y, int* next, int n) {
  for (int item = atomicAdd(next, 1); item < n; item = atomicAdd(next, 1)) y[item] = 2 * x[item];
}

__global__ void block_work_queue(const float* x, float* y, int* next, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    if (item >= n) return;
    y[item * 32 + threadIdx.x] = 2 * x[item * 32 + threadIdx.x];
    __syncthreads();
  }
}

__global__ void last_block(const float* partial, float* total, unsigned* done) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicInc(done, gridDim.x);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    *total = sum;
  }
}

__global__ void own_counter(const float* x, float* y, int* counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int place = atomicAdd(&counters[i], 1);
  y[place * 1024 + i] = x[i];
}

__global__ void lock(int* mutex, float* total) {
  while (atomicExch(mutex, 1) != 0) {
  }
  total[0] += 1;
  atomicExch(mutex, 0);
}

__global__ void scanned(const float* x, const int* place, float* kept) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 0.f) kept[place[i]] = x[i];
}
