// How fast results are compared, against what the machine can do: on the GPU against a copy on the device, on the
// CPU against memcmp, both in the same run. Prints a Markdown table.
//   compare_bench [--cpu]
// Rates are of bytes that go to or come from memory: both operands and the words of the mask (read and written)
// where something differs; of a copy, its source and its destination. Times are medians of whole calls, launches
// and waiting included, of the copy too.
#include "runtime/compare/compare.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#ifdef COMPARE_CUDA_LIBRARY
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#endif

namespace {

using namespace reprobe::compare;

constexpr std::size_t kPatternBytes = std::size_t(16) << 20; // operands repeat it
constexpr int kCalls = 15;

struct Case {
  const char* name;
  Type type;
};
constexpr Case kCases[] = {{"float32", Type::float32},
                           {"float16", Type::float16},
                           {"bfloat16", Type::bfloat16},
                           {"float64", Type::float64},
                           {"int64", Type::int64}};

struct Share {
  const char* name;
  unsigned per_hundred;
};
constexpr Share kShares[] = {{"none", 0}, {"1 %", 1}, {"all", 100}};

using Pattern = std::vector<unsigned char>;

/// Numbers of magnitude 1 to 2 in the floating types.
Pattern reference_pattern(Type type) {
  Pattern pattern(kPatternBytes);
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < pattern.size(); i += 8) {
    std::uint64_t bits = random();
    if (type == Type::float64)
      bits = (bits & 0x800fffffffffffff) | 0x3ff0000000000000;
    else if (type == Type::float32)
      bits = (bits & 0x807fffff807fffff) | 0x3f8000003f800000;
    else if (type == Type::float16)
      bits = (bits & 0x83ff83ff83ff83ff) | 0x3c003c003c003c00;
    else if (type == Type::bfloat16)
      bits = (bits & 0x807f807f807f807f) | 0x3f803f803f803f80;
    std::memcpy(&pattern[i], &bits, 8);
  }
  return pattern;
}

/// Scattered elements differ in one of their three lowest bits, so by 1 to 4 ULP.
Pattern result_pattern(Pattern pattern, Type type, unsigned per_hundred) {
  std::mt19937_64 random(8);
  for (std::size_t i = 0; i < pattern.size(); i += size_of(type))
    if (random() % 100 < per_hundred)
      pattern[i] ^= static_cast<unsigned char>(1u << random() % 3);
  return pattern;
}

/// Seconds of the median call, after one that does not count.
double seconds_of(const std::function<void()>& call) {
  call();
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kCalls / 2, times.end());
  return times[kCalls / 2];
}

void print_row(const Case& of, std::size_t bytes, const Share& share, double rate, double peer_rate) {
  std::printf("| %s | %zu MiB | %s | %.1f GB/s | %.1f GB/s | %.2f |\n", of.name, bytes >> 20, share.name,
              rate / 1e9, peer_rate / 1e9, rate / peer_rate);
  std::fflush(stdout);
}

void require(bool right, const char* what) {
  if (right)
    return;
  std::fprintf(stderr, "compare_bench: %s\n", what);
  std::exit(3);
}

double bytes_moved(std::size_t bytes, Type type, const Share& share) {
  const double mask = share.per_hundred ? 8.0 * double(mask_words(bytes / size_of(type))) : 0;
  return 2.0 * double(bytes) + mask;
}

void on_cpu() {
  std::printf("\n| type | operand | differing | compare_cpu | memcmp of equal operands | ratio |\n"
              "|---|---|---|---|---|---|\n");
  const std::size_t bytes = 4 * kPatternBytes;
  for (const Case& of : kCases) {
    const Pattern pattern = reference_pattern(of.type);
    std::vector<unsigned char> reference(bytes), result(bytes);
    std::vector<std::uint32_t> mask(mask_words(bytes / size_of(of.type)));
    for (const Share& share : kShares) {
      const Pattern other = result_pattern(pattern, of.type, share.per_hundred);
      for (std::size_t at = 0; at < bytes; at += kPatternBytes) {
        std::memcpy(&reference[at], pattern.data(), kPatternBytes);
        std::memcpy(&result[at], pattern.data(), kPatternBytes);
      }
      volatile int order = 0;
      const double peer = seconds_of([&] { order = std::memcmp(reference.data(), result.data(), bytes); });
      for (std::size_t at = 0; at < bytes; at += kPatternBytes)
        std::memcpy(&result[at], other.data(), kPatternBytes);
      std::uint64_t differing = 0;
      const double time = seconds_of([&] {
        differing =
            compare_cpu(reference.data(), result.data(), bytes / size_of(of.type), of.type, mask.data())
                .differing;
      });
      require((differing > 0) == (share.per_hundred > 0), "compare_cpu gave a wrong count");
      print_row(of, bytes, share, bytes_moved(bytes, of.type, share) / time, 2.0 * double(bytes) / peer);
    }
  }
}

#ifdef COMPARE_CUDA_LIBRARY
void require_success(cudaError_t error) {
  require(error == cudaSuccess, cudaGetErrorString(error));
}

void fill(unsigned char* operand, std::size_t bytes, const Pattern& pattern) {
  for (std::size_t at = 0; at < bytes; at += kPatternBytes)
    require_success(cudaMemcpy(operand + at, pattern.data(), kPatternBytes, cudaMemcpyHostToDevice));
}

/// False when there is no GPU.
bool on_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return false;
  cudaDeviceProp device;
  require_success(cudaGetDeviceProperties(&device, 0));
  void* library = ::dlopen(COMPARE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  require(library, "libreprobe-compare-cuda.so cannot be loaded");
  const auto compare = reinterpret_cast<CompareCuda>(::dlsym(library, kCompareCudaSymbol));
  require(compare, "libreprobe-compare-cuda.so is another version");
  std::printf("\n%s\n\n| type | operand | differing | comparison | copy on the device | ratio |\n"
              "|---|---|---|---|---|---|\n",
              device.name);
  const std::size_t largest = std::size_t(1) << 30;
  unsigned char *reference = nullptr, *result = nullptr, *mask = nullptr, *workspace = nullptr;
  require_success(cudaMalloc(reinterpret_cast<void**>(&reference), largest));
  require_success(cudaMalloc(reinterpret_cast<void**>(&result), largest));
  require_success(cudaMalloc(reinterpret_cast<void**>(&mask), largest / 8));
  require_success(cudaMalloc(reinterpret_cast<void**>(&workspace), workspace_bytes(largest)));
  for (const Case& of : kCases) {
    const Pattern pattern = reference_pattern(of.type);
    for (const Share& share : kShares) {
      const Pattern other = result_pattern(pattern, of.type, share.per_hundred);
      for (const std::size_t bytes : {largest / 4, largest}) {
        fill(reference, bytes, pattern);
        const double copy = seconds_of([&] {
          require_success(cudaMemcpyAsync(result, reference, bytes, cudaMemcpyDeviceToDevice, nullptr));
          require_success(cudaStreamSynchronize(nullptr));
        });
        fill(result, bytes, other);
        Comparison found;
        const double time = seconds_of([&] {
          require_success(static_cast<cudaError_t>(compare(
              reference, result, bytes / size_of(of.type), static_cast<int>(of.type),
              reinterpret_cast<std::uint32_t*>(mask), workspace, nullptr, &found)));
        });
        require((found.differing > 0) == (share.per_hundred > 0), "the comparison gave a wrong count");
        print_row(of, bytes, share, bytes_moved(bytes, of.type, share) / time, 2.0 * double(bytes) / copy);
      }
    }
  }
  return true;
}
#endif

} // namespace

int main(int count, char** arguments) {
  const bool cpu_only = count > 1 && std::strcmp(arguments[1], "--cpu") == 0;
#ifdef COMPARE_CUDA_LIBRARY
  if (!cpu_only && !on_gpu())
    std::printf("no GPU here\n");
#else
  if (!cpu_only)
    std::printf("built without CUDA\n");
#endif
  on_cpu();
}
