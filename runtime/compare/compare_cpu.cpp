#include "runtime/compare/element.h"

#include <algorithm>
#include <cfenv>

namespace reprobe::compare {
namespace {

using element::Chunk;
using element::Gathered;
using element::Place;

/// Programs may flush denormals or round otherwise; distances are taken as IEEE has them, and leave no flags.
class DefaultFloatingPoint {
public:
  DefaultFloatingPoint() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&before_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

private:
  std::fenv_t before_;
};

Chunk load(const unsigned char* bytes, std::uint64_t available) {
  Chunk chunk;
  if (available >= sizeof chunk)
    std::memcpy(&chunk, bytes, sizeof chunk);
  else
    std::memcpy(&chunk, bytes, available);
  return chunk;
}

/// Adds the upper half to the lower one until one is left: the order in which the device adds.
double add_by_halving(double* values, int count) {
  for (int half = count / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      values[i] += values[i + half];
  return values[0];
}

double add_lanes(double* lanes) {
  double sum = 0;
  for (int group = 0; group < kLanes; group += 32)
    sum += add_by_halving(lanes + group, 32);
  return sum;
}

template <class Element>
void compare_as(const unsigned char* reference, const unsigned char* result, std::uint64_t bytes,
                std::uint32_t* ever_differs, Comparison& comparison) {
  using Word = typename Element::Word;
  constexpr int per_chunk = 16 / int(sizeof(Word));
  constexpr std::uint64_t elements_per_chunk = per_chunk / Element::components;
  constexpr std::uint64_t kBlock = 256; // bytes that are first looked at together
  Gathered<Element> gathered;
  double final_absolute[kFinalLanes] = {}, final_variation[kFinalLanes] = {};
  const auto count = [&](int bin) { ++comparison.ulp_histogram[bin]; };
  for (std::uint64_t tile = 0; tile < tiles_of(bytes); ++tile) {
    const std::uint64_t begin = tile * kTileBytes, end = std::min(bytes, begin + kTileBytes);
    if (std::memcmp(reference + begin, result + begin, end - begin) == 0)
      continue;
    double absolute[kLanes] = {}, variation[kLanes] = {};
    for (std::uint64_t block = begin; block < end; block += kBlock) {
      const std::uint64_t block_end = std::min(end, block + kBlock);
      if (std::memcmp(reference + block, result + block, block_end - block) == 0)
        continue;
      for (std::uint64_t at = block; at < block_end; at += sizeof(Chunk)) {
        const Chunk a = load(reference + at, bytes - at), b = load(result + at, bytes - at);
        if (a.low == b.low && a.high == b.high)
          continue;
        const std::uint64_t index = at / sizeof(Chunk);
        const Place place(index);
        place.add(b, comparison.hash);
        place.remove(a, comparison.hash);
        const std::uint64_t lane = index % kLanes;
        std::uint32_t differing = 0;
        for (int k = 0; k < per_chunk; ++k) {
          const Word x = element::word_of<Word>(a, k), y = element::word_of<Word>(b, k);
          if (x == y)
            continue;
          differing |= 1u << k;
          gathered.add(x, y, absolute[lane], variation[lane], count);
        }
        differing = element::element_bits<Element>(differing);
        const std::uint64_t element = index * elements_per_chunk;
        if (comparison.differing == 0)
          comparison.first_differing = element + static_cast<std::uint64_t>(__builtin_ctz(differing));
        comparison.differing += static_cast<std::uint64_t>(__builtin_popcount(differing));
        if (ever_differs)
          ever_differs[element / 32] |= differing << element % 32;
      }
    }
    final_absolute[tile % kFinalLanes] += add_lanes(absolute);
    final_variation[tile % kFinalLanes] += add_lanes(variation);
  }
  comparison.sum_absolute = add_by_halving(final_absolute, kFinalLanes);
  comparison.sum_variation = add_by_halving(final_variation, kFinalLanes);
  comparison.values = gathered.values;
  comparison.nan_mismatches = gathered.nan_mismatches;
  comparison.infinity_mismatches = gathered.infinity_mismatches;
  comparison.max_ulp = double(gathered.max_ulp);
  comparison.max_absolute = std::max(double(gathered.max_absolute), gathered.rare_absolute);
  comparison.max_relative = std::max(double(gathered.max_relative), gathered.rare_relative);
}

} // namespace

Comparison compare_cpu(const void* reference, const void* result, std::uint64_t elements, Type type,
                       std::uint32_t* ever_differs) {
  Comparison comparison;
  const DefaultFloatingPoint ieee;
  element::with_type(type, [&](auto element) {
    compare_as<decltype(element)>(static_cast<const unsigned char*>(reference),
                                  static_cast<const unsigned char*>(result), elements * size_of(type),
                                  ever_differs, comparison);
  });
  return comparison;
}

Hash hash_cpu(const void* data, std::uint64_t bytes) {
  Hash hash{bytes, 0};
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Chunk))
    Place(at / sizeof(Chunk)).add(load(static_cast<const unsigned char*>(data) + at, bytes - at), hash);
  return hash;
}

std::uint64_t count_marked(const std::uint32_t* mask, std::uint64_t words) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < words; ++i)
    count += static_cast<std::uint64_t>(__builtin_popcount(mask[i]));
  return count;
}

} // namespace reprobe::compare
