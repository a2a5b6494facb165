#include <cuda_runtime.h>

#include <cstring>

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

void next_batch(float* device, const float* data, cudaStream_t stream, int batches) {
  float* host;
  cudaMallocHost((void**)&host, 128);
  for (int b = 0; b < batches; ++b) {
    for (int i = 0; i < 32; ++i) host[i] = data[b * 32 + i]; // expect: stream-race
    cudaMemcpyAsync(device, host, 128, cudaMemcpyHostToDevice, stream);
    scale<<<1, 32, 0, stream>>>(device);
  }
}

void next_batch_copied(float* device, const float* data, cudaStream_t stream) {
  float* host;
  cudaHostAlloc((void**)&host, 128, 0);
  cudaMemcpyAsync(device, host, 128, cudaMemcpyHostToDevice, stream);
  memcpy(host, data, 128); // expect: stream-race
}

float managed_too_early() {
  float* x;
  cudaMallocManaged((void**)&x, 128);
  scale<<<1, 32>>>(x);
  return x[0]; // expect: stream-race
}

void managed_written(float* out) {
  float* x;
  cudaMallocManaged((void**)&x, 128);
  sum<<<1, 32>>>(x, out);
  x[0] = 1; // expect: stream-race
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

float managed_in_time(float* out) {
  float *x, *y;
  cudaMallocManaged((void**)&x, 128), cudaMallocManaged((void**)&y, 128);
  for (int i = 0; i < 32; ++i) x[i] = i, y[i] = 0;
  sum<<<1, 32>>>(x, out);
  float total = x[0]; // read by both
  scale<<<1, 32>>>(x);
  y[0] = 2; // no kernel uses it
  cudaDeviceSynchronize();
  total += x[0];
  x[1] = 3;
  scale<<<1, 32>>>(&x[4]);
  cudaDeviceSynchronize();
  return total;
}

void next_batch_waits(float* device, const float* data, cudaStream_t stream, int batches) {
  float* host;
  cudaMallocHost((void**)&host, 128);
  for (int b = 0; b < batches; ++b) {
    for (int i = 0; i < 32; ++i) host[i] = data[b * 32 + i];
    cudaMemcpyAsync(device, host, 128, cudaMemcpyHostToDevice, stream);
    scale<<<1, 32, 0, stream>>>(device);
    cudaStreamSynchronize(stream);
  }
  float pageable[32] = {};
  cudaMemcpyAsync(device, pageable, 128, cudaMemcpyHostToDevice, stream);
  pageable[0] = 1;
}

void copied_on_another_stream(float* x, float* host) {
  cudaStream_t first, second;
  cudaStreamCreate(&first), cudaStreamCreate(&second);
  scale<<<1, 32, 0, first>>>(x);
  cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, second); // expect: stream-race
}

void default_stream_does_not_wait(float* x, float* host) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  scale<<<1, 32, 0, stream>>>(x);
  cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost); // expect: stream-race
}

void default_stream_waits(float* x, float* y, float* host) {
  cudaStream_t stream, other;
  cudaStreamCreate(&stream), cudaStreamCreate(&other);
  scale<<<1, 32, 0, stream>>>(x);
  cudaMemcpyAsync(host, y, 128, cudaMemcpyDeviceToHost, other);
  cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, stream);
  cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost);
  sum<<<1, 32, 0, stream>>>(x, y);
  cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, other); // read by both
}
