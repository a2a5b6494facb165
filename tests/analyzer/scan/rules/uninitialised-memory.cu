#include <cuda_runtime.h>

__global__ void add(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }
__global__ void accumulate(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void fill(float* y, float value) { y[threadIdx.x] = value; }
__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

void never_set(const float* x) {
  float *sum, *gradient, *input, *output;
  cudaMalloc(&sum, sizeof(float)); // expect: uninitialised-memory
  cudaMalloc((void**)&gradient, 128); // expect: uninitialised-memory
  cudaMalloc(&input, 128); // expect: uninitialised-memory
  cudaMalloc(&output, 128);
  add<<<1, 32>>>(x, sum);
  accumulate<<<1, 32>>>(x, gradient);
  copy<<<1, 32>>>(input, output);
  cudaFree(sum), cudaFree(gradient), cudaFree(input);
}

void launch_add(const float* x, float* sum) { add<<<1, 32>>>(x, sum); }

struct Layer {
  float *weight_gradient, *bias_gradient;
  Layer() {
    cudaMalloc(&weight_gradient, 128); // expect: uninitialised-memory
    cudaMalloc(&bias_gradient, 128);
  }
  void backward(const float* x) {
    cudaMemset(bias_gradient, 0, 128);
    launch_add(x, weight_gradient);
    launch_add(x, bias_gradient);
  }
};

void run(const float* x) { Layer().backward(x); }

__global__ void histogram(const int* bin, float* out) {
  __shared__ int counts[32];
  atomicAdd(&counts[bin[threadIdx.x]], 1); // expect: uninitialised-memory
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// Right: set by a call, a kernel, a copy, the host; handed to code that is not seen.
void library(float*);
float* keep;

void set(const float* x, const float* host) {
  float *a, *b, *c, *d, *e, *f;
  cudaMalloc(&a, 128), cudaMalloc(&b, 128), cudaMalloc(&c, 128), cudaMallocManaged(&d, 128), cudaMalloc(&e, 128), cudaMalloc(&f, 128);
  cudaMemsetAsync(a, 0, 128);
  fill<<<1, 32>>>(b, 0.f);
  cudaMemcpy(c, host, 128, cudaMemcpyHostToDevice);
  d[0] = 0;
  library(e);
  keep = f;
  add<<<1, 32>>>(x, a);
  add<<<1, 32>>>(x, b);
  add<<<1, 32>>>(x, c);
  add<<<1, 32>>>(x, d);
  add<<<1, 32>>>(x, e);
  add<<<1, 32>>>(x, f);
}

void given(float*& sum, const float* x) {
  cudaMalloc(&sum, 4);
  add<<<1, 32>>>(x, sum);
}

struct Pair {
  float first, second;
};

__global__ void shared_and_set(const int* bin, float* out) {
  __shared__ int counts[32];
  __shared__ float scale;
  __shared__ Pair pair;
  extern __shared__ float tile[];
  counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) scale = 2, pair.first = 1, pair.second = 3;
  float* alias = tile;
  alias[threadIdx.x] = 1;
  __syncthreads();
  atomicAdd(&counts[bin[threadIdx.x]], 1);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x] * scale + tile[31 - threadIdx.x] + pair.first + pair.second;
}

__device__ void set_one(int* place) { place[threadIdx.x] = 0; }

__global__ void set_elsewhere(float* out) {
  __shared__ int counts[32];
  set_one(counts);
  __syncthreads();
  out[threadIdx.x] = counts[31 - threadIdx.x];
}
