#include <cuda_runtime.h>

__global__ void no_barrier(const float* x, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += tile[k]; // expect: shared-memory-race
  out[threadIdx.x] = sum;
}

__global__ void on_one_path(const float* x, float* out, bool wait) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (wait) __syncthreads();
  out[threadIdx.x] = tile[0]; // expect: shared-memory-race
}

__global__ void set_by_one(const int* x, int* out) {
  __shared__ int start[1];
  if (threadIdx.x == 0) start[0] = x[blockIdx.x];
  out[threadIdx.x] = start[0] + threadIdx.x; // expect: shared-memory-race
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    left[ty][tx] = a[ty * n + t * 16 + tx];
    right[ty][tx] = b[(t * 16 + ty) * n + tx];
    for (int k = 0; k < 16; ++k) sum += left[ty][k] * right[k][tx]; // expect: shared-memory-race
    __syncthreads();
  }
  c[ty * n + tx] = sum;
}

// Right.
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    left[ty][tx] = a[ty * n + t * 16 + tx];
    right[ty][tx] = b[(t * 16 + ty) * n + tx];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  c[ty * n + tx] = sum;
}

__global__ void tree(const float* x, float* out) {
  __shared__ float partial[256];
  const int tid = threadIdx.x;
  partial[tid] = x[blockIdx.x * blockDim.x + tid];
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half) partial[tid] += partial[tid + half];
  }
  if (tid == 0) out[blockIdx.x] = partial[0];
}

__device__ void wait_for_all() { __syncthreads(); }

__global__ void barrier_in_a_function(const float* x, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  wait_for_all();
  out[threadIdx.x] = tile[0];
}

__global__ void own_element(const float* x, float* out) {
  __shared__ float tile[256];
  const int tid = threadIdx.x;
  tile[tid] = x[tid];
  out[tid] = tile[threadIdx.x] * 2;
}

__global__ void own_slice(const float* x, float* out) {
  __shared__ float slices[32 * 4];
  const int tid = threadIdx.x;
  for (int k = 0; k < 4; ++k) slices[tid * 4 + k] = x[tid * 4 + k];
  float sum = 0;
  for (int j = 0; j < 4; ++j) sum += slices[tid * 4 + j];
  out[tid] = sum;
}

__global__ void by_one(const float* x, float* out) {
  __shared__ float sums[8];
  if (threadIdx.x == 0) {
    for (int k = 0; k < 8; ++k) sums[k] = x[k];
    out[blockIdx.x] = sums[0] + sums[7];
  }
}

__global__ void reversed(float* out, const float* x) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[t];
  out[t] = s[255 - t]; // expect: shared-memory-race
}

__global__ void neighbour(float* out, const float* x) {
  __shared__ float s[257];
  s[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = s[threadIdx.x + 1]; // expect: shared-memory-race
}

__global__ void tree_without_barriers(float* out, const float* x) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1)
    if (t < d)
      s[t] += s[t + d]; // expect: shared-memory-race
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void transposed(float* out, const float* x) {
  __shared__ float s[16][17];
  s[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x];
  out[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y]; // expect: shared-memory-race
}

// Right: barriers between; several elements of its own.
__global__ void in_time(float* out, const float* x) {
  __shared__ float s[256], tile[16][17];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  tile[threadIdx.y][threadIdx.x] = s[0];
  __syncthreads();
  out[t] = tile[threadIdx.x][threadIdx.y];
}

__global__ void own_elements(float* out, const float* x) {
  __shared__ float s[1024], pair[512];
  const int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) s[t * 4 + i] = x[t * 4 + i];
  float total = 0;
  for (int j = 0; j < 4; ++j) total += s[t * 4 + j];
  pair[2 * t] = total;
  pair[2 * t + 1] = -total;
  out[t] = pair[2 * t] * pair[2 * t + 1];
}
