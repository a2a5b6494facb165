// Comparison of a re-executed result with its reference: bitwise, and how far apart.
//
// One pass over two arrays of the same type and length. The CPU and the CUDA half give the same Comparison for
// the same bytes, to the last bit. Hashes and counts are of integers, so their order does not matter. Distances
// are taken by single IEEE operations, and their sums are added in double precision in one order that both
// halves keep (kTileBytes), whatever the number of threads. As no term is negative and a term goes through at
// most 280 + bytes / 2^26 additions, a sum is off by less than that many times 2^-53 of itself; a term of the
// types up to 32 bits by 2^-23 of itself, one of the others by 2^-52.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprobe::compare {

/// Element types. What is not listed (bool, quantised and packed types) is compared as unsigned integers of its
/// width. Elements of the complex types are pairs, compared component by component.
enum class Type : std::int32_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  complex128, // two float64
  complex64,
  complex32,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8
};
inline constexpr int kTypes = 19;

/// Bytes of one element.
constexpr std::size_t size_of(Type type) {
  switch (type) {
  case Type::complex128:
    return 16;
  case Type::float64:
  case Type::complex64:
  case Type::int64:
  case Type::uint64:
    return 8;
  case Type::float32:
  case Type::complex32:
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

constexpr std::uint64_t components_of(Type type) {
  return type == Type::complex128 || type == Type::complex64 || type == Type::complex32 ? 2 : 1;
}

/// Index types, of which it is asked whether they hold the same values in another order.
constexpr bool is_index(Type type) {
  return type == Type::int64 || type == Type::int32 || type == Type::uint64 || type == Type::uint32;
}

/// Of an array: a sum over its 16-byte chunks, each hashed with its place. Two different arrays have equal
/// hashes with a probability below 2^-60.
struct Hash {
  std::uint64_t low = 0, high = 0;
};
inline bool operator==(const Hash& a, const Hash& b) {
  return a.low == b.low && a.high == b.high;
}
inline bool operator!=(const Hash& a, const Hash& b) {
  return !(a == b);
}

inline constexpr int kUlpBins = 65;

/// What one comparison found. An element differs when its bits differ, so -0 differs from +0 (at a distance
/// of 0), and a NaN equals only a NaN with the same payload. Where one side is NaN there is no distance; where
/// one is infinite there is one, but it counts in no sum.
struct Comparison {
  Hash hash;                             ///< the result's, less the reference's; 0 when they are equal
  std::uint64_t values = 0;              ///< index types: 0 when both hold the same values, in any order
  std::uint64_t differing = 0;           ///< elements; over all elements it is V_c of arXiv 2408.05148
  std::uint64_t first_differing = 0;     ///< index of the first of them
  std::uint64_t nan_mismatches = 0;      ///< components where exactly one side is NaN
  std::uint64_t infinity_mismatches = 0; ///< one side infinite, the other finite or infinite of unlike sign
  /// Floating types: differing components by ULP distance. [0]: 0 (-0 and +0), [k]: 2^(k-1) to 2^k - 1.
  std::uint64_t ulp_histogram[kUlpBins] = {};
  double max_ulp = 0; ///< steps between neighbouring values; -0 and +0 are one value; 0 for integers
  /// |a - b|, rounded to double, of types of 32 bits and fewer to float32; infinity where one side is.
  double max_absolute = 0;
  double max_relative =
      0; ///< |a - b| / max(|a|, |b|), 0 to 2; 0 when both are 0; 1 (or 2) when one is infinite
  double sum_absolute = 0; ///< of |a - b|; over all components it is the mean
  /// Of |a - b| / |a|; over all components it is V_ermv of arXiv 2408.05148. Where the reference is 0, which
  /// the paper leaves open, the term is the relative distance: 1.
  double sum_variation = 0;
};

/// `ever_differs`, when given, holds one bit an element (bit i % 32 of word i / 32); those of differing
/// elements are set, others kept.
Comparison compare_cpu(const void* reference, const void* result, std::uint64_t elements, Type,
                       std::uint32_t* ever_differs);
Hash hash_cpu(const void* data, std::uint64_t bytes);

constexpr std::uint64_t mask_words(std::uint64_t elements) {
  return (elements + 31) / 32;
}
/// Bits that are set.
std::uint64_t count_marked(const std::uint32_t* mask, std::uint64_t words);

/// Sums are taken by tiles: in each, lane l of kLanes adds the terms of chunks l, l + kLanes, ... in order; lanes
/// are added by halving in groups of 32, the groups in order. Tile t goes to sum t % kFinalLanes, and these are
/// added by halving.
inline constexpr std::uint64_t kTileBytes = 1 << 16;
inline constexpr int kLanes = 256, kFinalLanes = 1024;
constexpr std::uint64_t tiles_of(std::uint64_t bytes) {
  return (bytes + kTileBytes - 1) / kTileBytes;
}

/// Device memory that a call of CompareCuda or HashCuda needs, on a 16-byte boundary, for operands of so many
/// bytes.
constexpr std::uint64_t workspace_bytes(std::uint64_t bytes) {
  return 1024 + tiles_of(bytes) * 16;
}

/// Entry points of libreprobe-compare-cuda.so. All pointers but `out` are on the current device; `stream` is
/// a cudaStream_t. They wait for the stream and return 0, or a cudaError_t. Operands on 16-byte boundaries are
/// read fastest; any alignment of the type's components is right.
using CompareCuda = int (*)(const void* reference, const void* result, std::uint64_t elements, int type,
                            std::uint32_t* ever_differs, void* workspace, void* stream, Comparison* out);
using HashCuda = int (*)(const void* data, std::uint64_t bytes, void* workspace, void* stream, Hash* out);
inline constexpr const char* kCompareCudaSymbol = "reprobe_compare_cuda";
inline constexpr const char* kHashCudaSymbol = "reprobe_hash_cuda";

} // namespace reprobe::compare
