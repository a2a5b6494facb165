#include "runtime/compare/element.h"

namespace reprobe::compare {
namespace {

void hash_bytes(const unsigned char* bytes, std::uint64_t count, std::uint64_t hash[2]) {
  std::uint64_t low = count, high = 0;
  const std::uint64_t words = count / 8;
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t word;
    std::memcpy(&word, bytes + 8 * i, 8);
    element::add_word(word, i, low, high);
  }
  if (count % 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + 8 * words, count % 8);
    element::add_word(word, words, low, high);
  }
  hash[0] = low;
  hash[1] = high;
}

template <class Element>
void measure_distances(const void* reference, const void* result, std::uint64_t elements,
                       std::uint8_t* ever_differs, Comparison& comparison) {
  using Word = typename Element::Word;
  for (std::uint64_t i = 0; i < elements; ++i) {
    Word a, b;
    std::memcpy(&a, static_cast<const unsigned char*>(reference) + i * sizeof(Word), sizeof(Word));
    std::memcpy(&b, static_cast<const unsigned char*>(result) + i * sizeof(Word), sizeof(Word));
    if (a == b)
      continue;
    ++comparison.differing;
    if (ever_differs)
      ever_differs[i] = 1;
    const element::Distance d = Element::distance(a, b);
    comparison.nan_mismatches += d.nan_mismatch;
    comparison.max_ulp = element::larger(comparison.max_ulp, d.ulp);
    comparison.max_absolute = element::larger(comparison.max_absolute, d.absolute);
    comparison.max_relative = element::larger(comparison.max_relative, d.relative);
  }
}

} // namespace

Comparison compare_cpu(const void* reference, const void* result, std::uint64_t elements, Type type,
                       std::uint8_t* ever_differs) {
  Comparison comparison;
  const std::uint64_t bytes = elements * size_of(type);
  hash_bytes(static_cast<const unsigned char*>(result), bytes, comparison.hash);
  if (bytes == 0 || std::memcmp(reference, result, bytes) == 0)
    return comparison;
  element::with_type(type, [&](auto element_type) {
    measure_distances<decltype(element_type)>(reference, result, elements, ever_differs, comparison);
  });
  return comparison;
}

std::uint64_t count_marked(const std::uint8_t* mask, std::uint64_t elements) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < elements; ++i)
    count += mask[i] != 0;
  return count;
}

} // namespace reprobe::compare
