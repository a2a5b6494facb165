// CUDA without a toolkit: the few declarations that launches and atomics need.
#include "snippet.h"

namespace reprobe::scan {
namespace {

using Kind = Event::Kind;

TranslationUnit parse_cuda(const std::string& code) {
  Snippet snippet;
  snippet.arguments = {
      "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80", "-std=c++17"};
  snippet.files["system/cuda_stub.h"] = R"(#pragma once
    #define __global__ __attribute__((global))
    #define __device__ __attribute__((device))
    #define __host__ __attribute__((host))
    #define __shared__ __attribute__((shared))
    struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
    typedef struct CUstream_st* cudaStream_t;
    extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, unsigned long = 0, void* = 0);
    extern "C" int cudaConfigureCall(dim3, dim3, unsigned long = 0, cudaStream_t = 0);
    extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, unsigned long, cudaStream_t);
    __device__ float atomicAdd(float*, float);
    __device__ int atomicAdd(int*, int);
    struct uint3 { unsigned x, y, z; };
    extern const __device__ uint3 threadIdx;)";
  return snippet.parse("#include <cuda_stub.h>\n" + code);
}

TEST(Cuda, KernelsAndDeviceFunctions) {
  const TranslationUnit unit = parse_cuda(
      "__global__ void k() {} __device__ void d() {} __host__ __device__ void both() {} void host() {}");
  EXPECT_EQ(unit.language, "cuda");
  EXPECT_TRUE(function(unit, "k").is_kernel);
  EXPECT_TRUE(function(unit, "d").is_device);
  EXPECT_TRUE(function(unit, "both").is_device);
  EXPECT_FALSE(function(unit, "host").is_device || function(unit, "host").is_kernel);
}

TEST(Cuda, AtomicsShowTheirOperandsTypeAndUse) {
  const TranslationUnit unit =
      parse_cuda("__global__ void k(float* s, int* n, const float* x) { atomicAdd(&s[0], x[threadIdx.x]); "
                 "int slot = atomicAdd(n, 1); s[slot] = 2.f; }");
  const auto atomics = events(function(unit, "k"), Kind::call, "atomicAdd");
  ASSERT_EQ(atomics.size(), 2u);
  EXPECT_EQ(atomics[0]->arguments.at(0).type, "float *");
  EXPECT_FALSE(atomics[0]->result_used);
  EXPECT_TRUE(atomics[0]->external);
  EXPECT_EQ(atomics[1]->arguments.at(0).type, "int *");
  EXPECT_TRUE(atomics[1]->result_used);
}

TEST(Cuda, AccessesReadOrWrite) {
  const TranslationUnit unit = parse_cuda(
      "__global__ void k(float* a, const float* b, int i) { a[i] = b[i + 1]; *a += 1; float* p = &a[2]; }");
  const auto accesses = events(function(unit, "k"), Kind::access);
  ASSERT_EQ(accesses.size(), 3u) << "an address is no access";
  int reads = 0, writes = 0;
  for (const Event* access : accesses) {
    if (access->text == "read") {
      ++reads;
      EXPECT_EQ(access->receiver->text, "k::b");
    }
    if (access->text == "write") {
      ++writes;
      EXPECT_EQ(access->receiver->text, "k::a");
    }
  }
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writes, 2);
}

TEST(Cuda, Launches) {
  const TranslationUnit unit = parse_cuda(
      "template <class T> __global__ void k(T* p, int n) { atomicAdd(p, T(1)); }\nvoid host(float* p) { dim3 "
      "grid(4, 2); k<<<grid, 128, 0, nullptr>>>(p, 3); k<float><<<1, 2>>>(p, 4); }");
  const auto launches = events(function(unit, "host"), Kind::call, "k");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_TRUE(launches[0]->launch);
  EXPECT_EQ(launches[0]->arguments.size(), 2u);
  ASSERT_EQ(launches[0]->configuration.size(), 4u);
  EXPECT_EQ(launches[0]->configuration[0].text, "host::grid");
  EXPECT_EQ(launches[0]->configuration[1].integer, 128);
  EXPECT_EQ(launches[1]->configuration.size(), 2u);
  EXPECT_EQ(launches[1]->configuration[0].integer, 1);
  EXPECT_EQ(launches[1]->template_arguments, std::vector<std::string>{"float"});
  EXPECT_EQ(events(function(unit, "host"), Kind::call).size(), 2u) << "the configuration is no call";
  EXPECT_EQ(call(function(unit, "k"), "atomicAdd").arguments.at(0).type, "float *");
  EXPECT_EQ(launches[0]->callee_usr, function(unit, "k").usr);
}

TEST(Cuda, SharedVariablesSayThatTheyAre) {
  const TranslationUnit unit = parse_cuda("__global__ void k() { __shared__ float tile[32]; static "
                                          "__shared__ int n; extern __shared__ int more[]; "
                                          "float own[4]; tile[0] = own[0] + n + more[0]; }");
  std::map<std::string, std::string> storage;
  for (const Event* declared : events(function(unit, "k"), Kind::declare))
    storage[declared->variable] = declared->text;
  EXPECT_EQ(storage.at("k::tile"), "shared");
  EXPECT_EQ(storage.at("k::n"), "shared");
  EXPECT_EQ(storage.at("more"), "shared");
  EXPECT_EQ(storage.at("k::own"), "");
}

TEST(Cuda, AssemblyIsACallThatAssigns) {
  const TranslationUnit unit =
      parse_cuda("__global__ void k(float* a, unsigned* out) { unsigned id; asm volatile(\"mov.u32 %0, "
                 "%%smid;\" : \"=r\"(id)); "
                 "asm(\"red.global.add.f32 [%0], %1;\" :: \"l\"(a), \"f\"(1.f)); out[0] = id; }");
  const auto assembly = events(function(unit, "k"), Kind::call, "asm");
  ASSERT_EQ(assembly.size(), 2u);
  EXPECT_NE(assembly[0]->arguments.at(0).text.find("smid"), std::string::npos);
  EXPECT_TRUE(assembly[0]->external && assembly[0]->resolved);
  ASSERT_EQ(assembly[1]->arguments.size(), 3u) << "the text and two inputs";
  EXPECT_EQ(assembly[1]->arguments[1].text, "k::a");
  const auto assigned = events(function(unit, "k"), Kind::assign);
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0]->receiver->text, "k::id");
  EXPECT_EQ(assigned[0]->arguments.at(0).event, assembly[0]->id);
}

// Dispatch over types begins with integers: rounding needs the others.
TEST(Cuda, OfManyInstantiationsThoseOverRealsStay) {
  std::string code =
      "template <class T, int N> __global__ void k(T* p) { atomicAdd(p, T(N)); } void launch(void* p) {";
  for (const char* type : {"int", "float"})
    for (int n = 0; n < 18; ++n)
      code += "k<" + std::string(type) + ", " + std::to_string(n) + "><<<1, 1>>>((" + type + "*)p);";
  const TranslationUnit unit = parse_cuda(code + "}");
  std::map<std::string, int> kept;
  for (const Function& each : unit.functions)
    if (each.name == "k")
      ++kept[each.parameters.at(0).type];
  EXPECT_EQ(kept["float *"], 16);
  EXPECT_EQ(kept["int *"], 0);
}

} // namespace
} // namespace reprobe::scan
