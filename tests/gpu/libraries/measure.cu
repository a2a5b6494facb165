#include "measure.h"

#include <cmath>
#include <random>
#include <set>

namespace libraries {
namespace {

constexpr int kRounds = 20;

// Memory traffic of changing length beside the measured call: moves blocks about, as another stream would.
__global__ void load(float* data, int count, int passes) {
  for (int pass = 0; pass < passes; ++pass)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
      data[i] = data[i] * 0.5f + 1.0f;
}

} // namespace

std::vector<float> wide(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1), exponent(-8, 8);
  std::vector<float> values(count);
  for (float& value : values)
    value = mantissa(engine) * std::exp2(exponent(engine));
  return values;
}

std::vector<int> indices(std::size_t count, int limit, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<int> any(0, limit - 1);
  std::vector<int> values(count);
  for (int& value : values)
    value = any(engine);
  return values;
}

void measure(const std::string& catalog, const std::string& what, const std::vector<Result>& results,
             const std::function<int()>& run) {
  static cudaStream_t beside = nullptr;
  static Buffer<float>* scratch = new Buffer<float>(std::size_t(1) << 24);
  if (!beside)
    CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  std::set<std::string> distinct;
  for (int round = 0; round < kRounds; ++round) {
    for (const Result& result : results)
      CHECK(cudaMemset(const_cast<void*>(result.data), 0, result.bytes));
    CHECK(cudaDeviceSynchronize());
    if (round % 4)
      load<<<8 * round, 256, 0, beside>>>(scratch->get(), 1 << 24, round % 3 + 1);
    if (const int status = run()) {
      cudaDeviceSynchronize();
      cudaGetLastError();
      std::printf("| %s | %s | - | not supported (status %d) |\n", catalog.c_str(), what.c_str(), status);
      std::fflush(stdout);
      return;
    }
    CHECK(cudaDeviceSynchronize());
    std::string bytes;
    for (const Result& result : results) {
      std::string part(result.bytes, '\0');
      CHECK(cudaMemcpy(part.data(), result.data, result.bytes, cudaMemcpyDeviceToHost));
      bytes += part;
    }
    distinct.insert(std::move(bytes));
  }
  std::printf("| %s | %s | %d | %zu |\n", catalog.c_str(), what.c_str(), kRounds, distinct.size());
  std::fflush(stdout);
}

} // namespace libraries
