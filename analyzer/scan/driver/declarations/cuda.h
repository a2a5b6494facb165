// CUDA's most used names, for machines without a toolkit.
#pragma once
#define REPROBE_CUDA_DECLARATIONS 1

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef __CUDA__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...)
#else
#define __device__
#define __host__
#endif
#define __forceinline__ inline

struct dim3 { unsigned x, y, z; __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
struct uint3 { unsigned x, y, z; };
struct int2 { int x, y; }; struct int3 { int x, y, z; }; struct int4 { int x, y, z, w; };
struct float2 { float x, y; }; struct float3 { float x, y, z; }; struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
__host__ __device__ int2 make_int2(int, int); __host__ __device__ float2 make_float2(float, float);
__host__ __device__ float3 make_float3(float, float, float); __host__ __device__ float4 make_float4(float, float, float, float);
struct __half { __host__ __device__ __half(); __host__ __device__ __half(float); __host__ __device__ operator float() const; };
struct __nv_bfloat16 { __host__ __device__ __nv_bfloat16(); __host__ __device__ __nv_bfloat16(float); __host__ __device__ operator float() const; };
using half = __half;

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
enum cudaError { cudaSuccess = 0, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
struct cudaDeviceProp { char name[256]; std::size_t totalGlobalMem; int multiProcessorCount, major, minor, maxThreadsPerBlock, warpSize; };

extern "C" {
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t = 0, void* = nullptr);
int cudaConfigureCall(dim3, dim3, std::size_t = 0, cudaStream_t = nullptr);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t cudaGetLastError(); cudaError_t cudaPeekAtLastError(); const char* cudaGetErrorString(cudaError_t); const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaDeviceSynchronize(); cudaError_t cudaStreamSynchronize(cudaStream_t); cudaError_t cudaSetDevice(int); cudaError_t cudaGetDevice(int*);
cudaError_t cudaGetDeviceCount(int*); cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int); cudaError_t cudaDeviceReset();
cudaError_t cudaFree(void*); cudaError_t cudaFreeHost(void*); cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*);
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind); cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemset(void*, int, std::size_t); cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = nullptr);
cudaError_t cudaStreamCreate(cudaStream_t*); cudaError_t cudaStreamDestroy(cudaStream_t); cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaEventCreate(cudaEvent_t*); cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr); cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t); cudaError_t cudaEventDestroy(cudaEvent_t); cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
}
template <class T> cudaError_t cudaMalloc(T**, std::size_t);
template <class T> cudaError_t cudaMallocManaged(T**, std::size_t, unsigned = 0);
template <class T> cudaError_t cudaMallocHost(T**, std::size_t, unsigned = 0);
template <class T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, std::size_t);

#ifdef __CUDA__
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
__device__ void __syncthreads(); __device__ void __syncwarp(unsigned = ~0u); __device__ void __threadfence(); __device__ void __threadfence_block();
#define REPROBE_ATOMIC(NAME) \
  __device__ int NAME(int*, int); __device__ unsigned NAME(unsigned*, unsigned); __device__ unsigned long long NAME(unsigned long long*, unsigned long long); \
  __device__ float NAME(float*, float); __device__ double NAME(double*, double); __device__ __half NAME(__half*, __half); __device__ __nv_bfloat16 NAME(__nv_bfloat16*, __nv_bfloat16);
REPROBE_ATOMIC(atomicAdd) REPROBE_ATOMIC(atomicAdd_block) REPROBE_ATOMIC(atomicAdd_system) REPROBE_ATOMIC(atomicSub) REPROBE_ATOMIC(atomicMax)
REPROBE_ATOMIC(atomicMin) REPROBE_ATOMIC(atomicExch) REPROBE_ATOMIC(atomicAnd) REPROBE_ATOMIC(atomicOr) REPROBE_ATOMIC(atomicXor)
REPROBE_ATOMIC(atomicInc) REPROBE_ATOMIC(atomicDec)
template <class T> __device__ T atomicCAS(T*, T, T);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
__device__ unsigned __ballot_sync(unsigned, int); __device__ int __any_sync(unsigned, int); __device__ unsigned __activemask();
__device__ float __expf(float); __device__ float __logf(float); __device__ float __fdividef(float, float); __device__ float rsqrtf(float);
__device__ float __int_as_float(int); __device__ int __float_as_int(float); __device__ long long __double_as_longlong(double);
__device__ double __longlong_as_double(long long); template <class T> __device__ T __ldg(const T*); __device__ long long clock64(); __device__ long clock();
__device__ float2 operator+(float2, float2);
#endif
