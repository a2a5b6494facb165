// Comparison of a re-executed result with its reference: bitwise, and how far apart.
//
// Both operands are contiguous arrays of `elements` values of one type. The CPU and the CUDA half give the
// same Comparison for the same bytes, to the last bit: hashes and sums are of integers, so their order does
// not matter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprobe::compare {

/// Element types. Complex tensors are compared as pairs of floats (twice the elements); FP8, quantised and
/// other types only bit by bit, as unsigned integers of their width.
enum class Type : std::int32_t {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8
};

constexpr std::size_t size_of(Type type) {
  switch (type) {
  case Type::float64:
  case Type::int64:
  case Type::uint64:
    return 8;
  case Type::float32:
  case Type::int32:
  case Type::uint32:
    return 4;
  case Type::float16:
  case Type::bfloat16:
  case Type::int16:
  case Type::uint16:
    return 2;
  default:
    return 1;
  }
}

/// What one comparison found. An element differs when its bits differ, so -0 differs from +0 (at a distance
/// of 0), and a NaN equals only a NaN with the same payload.
struct Comparison {
  std::uint64_t hash[2] = {0, 0};   ///< of the result's bytes and their positions
  std::uint64_t differing = 0;      ///< elements whose bits differ
  std::uint64_t nan_mismatches = 0; ///< of these, where exactly one side is NaN; no distance is taken there
  double max_ulp =
      0; ///< steps between neighbouring values of the type; -0 and +0 are one value; 0 for integers
  double max_absolute = 0; ///< |a - b|; infinity when exactly one side is, or both with unlike signs
  double max_relative =
      0; ///< |a - b| / max(|a|, |b|), 0 to 2; 0 when both are 0; 1 (or 2) when one is infinite
};

/// `ever_differs`, when given, holds one byte an element; those of differing elements are set to 1, others
/// kept.
Comparison compare_cpu(const void* reference, const void* result, std::uint64_t elements, Type,
                       std::uint8_t* ever_differs);

/// Bytes of `mask` that are not 0.
std::uint64_t count_marked(const std::uint8_t* mask, std::uint64_t elements);

/// Entry points of libreprobe-compare-cuda.so. All pointers but `out` are on the current device; `stream` is
/// a cudaStream_t. They wait for the stream and return 0, or a cudaError_t. Arrays start on 16-byte
/// boundaries when
/// `*_aligned` speed is wanted; any alignment of the type is right.
using CompareCuda = int (*)(const void* reference, const void* result, std::uint64_t elements, int type,
                            std::uint8_t* ever_differs, void* stream, Comparison* out);
using EqualCuda = int (*)(const void* reference, const void* result, std::uint64_t bytes, void* stream,
                          int* equal);
inline constexpr const char* kCompareCudaSymbol = "reprobe_compare_cuda";
inline constexpr const char* kEqualCudaSymbol = "reprobe_equal_cuda";

} // namespace reprobe::compare
