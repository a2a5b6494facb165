#include <cuda_runtime.h>

__global__ void scale(float* x) { x[threadIdx.x] *= 2; }
__global__ void sum(const float* x, float* out) { out[threadIdx.x] = x[31 - threadIdx.x]; }
void use(const float*);

float too_early(const float* device, cudaStream_t stream, int n) {
  float* host;
  cudaMallocHost((void**)&host, 128);
  cudaMemcpyAsync(host, device, 128, cudaMemcpyDeviceToHost, stream);
  float total = 0;
  for (int i = 0; i < n; ++i) total += host[i]; // expect: stream-race
  cudaStreamSynchronize(stream);
  return total;
}

void handed_on(const float* device, cudaStream_t stream) {
  float* host;
  cudaHostAlloc((void**)&host, 128, 0);
  cudaMemcpyAsync(host, device, 128, cudaMemcpyDeviceToHost, stream);
  use(host); // expect: stream-race
}

void two_streams(float* x, float* out) {
  cudaStream_t first, second;
  cudaStreamCreate(&first), cudaStreamCreate(&second);
  scale<<<1, 32, 0, first>>>(x);
  sum<<<1, 32, 0, second>>>(x, out); // expect: stream-race
}

// Right: waiting, pageable memory, one stream, different memory.
void wait_for(cudaStream_t stream) { cudaStreamSynchronize(stream); }

float in_time(const float* device, cudaStream_t stream, bool directly) {
  float* host;
  cudaMallocHost((void**)&host, 128);
  cudaMemcpyAsync(host, device, 128, cudaMemcpyDeviceToHost, stream);
  if (directly) cudaDeviceSynchronize();
  else wait_for(stream);
  const float first = host[0];
  float pageable[32];
  cudaMemcpyAsync(pageable, device, 128, cudaMemcpyDeviceToHost, stream);
  return first + pageable[0];
}

void ordered(float* x, float* y, float* out) {
  cudaStream_t first, second;
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaStreamCreate(&first), cudaStreamCreate(&second);
  scale<<<1, 32, 0, first>>>(x);
  sum<<<1, 32, 0, first>>>(x, out);
  scale<<<1, 32, 0, second>>>(y);
  cudaEventRecord(done, first);
  cudaStreamWaitEvent(second, done, 0);
  sum<<<1, 32, 0, second>>>(x, out);
}

void only_read(const float* x, float* a, float* b) {
  cudaStream_t first, second;
  cudaStreamCreate(&first), cudaStreamCreate(&second);
  sum<<<1, 32, 0, first>>>(x, a);
  sum<<<1, 32, 0, second>>>(x, b);
}
