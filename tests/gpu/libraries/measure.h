// Runs one library call again and again on identical inputs, beside changing load, and counts distinct
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace libraries {

inline void check(int status, const char* what, const char* file, int line) {
  if (status == 0)
    return;
  std::fprintf(stderr, "%s:%d: %s returned %d\n", file, line, what, status);
  std::exit(1);
}
#define CHECK(call) ::libraries::check(static_cast<int>(call), #call, __FILE__, __LINE__)

/// Device memory of `count` elements of T.
template <class T>
class Buffer {
public:
  explicit Buffer(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), bytes() ? bytes() : 1));
    CHECK(cudaMemset(data_, 0, bytes()));
  }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Values over a wide range of exponents, of both signs: sums of them depend on the order.
std::vector<float> wide(std::size_t count, std::uint64_t seed);
/// Integers in [0, limit).
std::vector<int> indices(std::size_t count, int limit, std::uint64_t seed);

struct Result {
  const void* data;
  std::size_t bytes;
};

/// Prints one row: catalogue id, what, rounds, distinct results. `run` computes into memory that `results`
/// names, which is zeroed before each round; a status other than 0 means that this combination is not
/// supported.
void measure(const std::string& catalog, const std::string& what, const std::vector<Result>& results,
             const std::function<int()>& run);

} // namespace libraries
