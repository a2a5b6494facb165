#include "runtime/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace reprobe::compare;

template <class T>
Comparison compare(Type type, std::vector<T> reference, std::vector<T> result,
                   std::vector<std::uint32_t>* mask = nullptr) {
  if (mask)
    mask->resize(mask_words(reference.size()));
  return compare_cpu(reference.data(), result.data(), reference.size(), type, mask ? mask->data() : nullptr);
}

std::uint16_t bfloat16(float value) { // exact values only
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  EXPECT_EQ(bits & 0xffff, 0u);
  return static_cast<std::uint16_t>(bits >> 16);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Bins = std::vector<std::pair<int, std::uint64_t>>;
/// Bins of the ULP histogram that are not empty, with their counts.
Bins bins(const Comparison& found) {
  Bins filled;
  for (int bin = 0; bin < kUlpBins; ++bin)
    if (found.ulp_histogram[bin])
      filled.emplace_back(bin, found.ulp_histogram[bin]);
  return filled;
}

TEST(Compare, EqualArraysDifferNowhere) {
  const auto found = compare<float>(Type::float32, {1, -0.0f, kNan, kInfinity}, {1, -0.0f, kNan, kInfinity});
  EXPECT_EQ(found.differing, 0u);
  EXPECT_EQ(found.hash, Hash{});
  EXPECT_EQ(found.max_ulp, 0);
  EXPECT_EQ(found.max_absolute, 0);
  EXPECT_EQ(found.sum_absolute, 0);
  EXPECT_EQ(found.nan_mismatches, 0u);
  EXPECT_EQ(found.infinity_mismatches, 0u);
  EXPECT_EQ(bins(found), Bins{});
}

TEST(Compare, EmptyArraysAreEqual) {
  const Comparison found = compare_cpu(nullptr, nullptr, 0, Type::float32, nullptr);
  EXPECT_EQ(found.differing, 0u);
}

TEST(Compare, Float32NeighboursAreOneUlpApart) {
  std::vector<std::uint32_t> mask;
  const float next = std::nextafterf(1.0f, 2.0f);
  const auto found = compare<float>(Type::float32, {1, 1, 2}, {1, next, 2}, &mask);
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(found.first_differing, 1u);
  EXPECT_EQ(found.max_ulp, 1);
  EXPECT_EQ(bins(found), (Bins{{1, 1}}));
  EXPECT_EQ(found.max_absolute, std::ldexp(1.0, -23));
  EXPECT_EQ(found.max_relative, double(std::ldexp(1.0f, -23) / next));
  EXPECT_EQ(mask, std::vector<std::uint32_t>{0b010});
}

TEST(Compare, Float64) {
  const auto found =
      compare<double>(Type::float64, {1, 4}, {std::nextafter(std::nextafter(1.0, 2.0), 2.0), 4});
  EXPECT_EQ(found.max_ulp, 2);
  EXPECT_EQ(found.max_absolute, std::ldexp(1.0, -51));
  EXPECT_EQ(found.differing, 1u);
}

TEST(Compare, Float16) { // 0x3c00: 1.0, a step is 2^-10; 0x0001: the smallest denormal, 2^-24; 0x7bff: 65504
  const auto found =
      compare<std::uint16_t>(Type::float16, {0x3c00, 0x0001, 0x7bff}, {0x3c03, 0x0000, 0x7bff});
  EXPECT_EQ(found.differing, 2u);
  EXPECT_EQ(found.max_ulp, 3);
  EXPECT_EQ(bins(found), (Bins{{1, 1}, {2, 1}}));
  EXPECT_EQ(found.max_absolute, 3 * std::ldexp(1.0, -10));
  EXPECT_EQ(found.max_relative, 1); // 2^-24 against 0
  EXPECT_EQ(found.sum_absolute, 3 * std::ldexp(1.0, -10) + std::ldexp(1.0, -24));
  EXPECT_EQ(found.sum_variation, 3 * std::ldexp(1.0, -10) + 1);
  const auto infinite = compare<std::uint16_t>(Type::float16, {0x7bff}, {0x7c00});
  EXPECT_EQ(infinite.max_ulp, 1);
  EXPECT_TRUE(std::isinf(infinite.max_absolute));
  EXPECT_EQ(infinite.max_relative, 1);
  EXPECT_EQ(infinite.infinity_mismatches, 1u);
  EXPECT_EQ(compare<std::uint16_t>(Type::float16, {0x7e00}, {0x3c00}).nan_mismatches, 1u);
}

TEST(Compare, Bfloat16) {
  const auto found = compare<std::uint16_t>(Type::bfloat16, {bfloat16(1)}, {bfloat16(1.0078125f)});
  EXPECT_EQ(found.max_ulp, 1);
  EXPECT_EQ(found.max_absolute, 0.0078125);
  const auto denormal = compare<std::uint16_t>(Type::bfloat16, {0x0001}, {0x0003});
  EXPECT_EQ(denormal.max_ulp, 2);
  EXPECT_EQ(denormal.max_absolute, std::ldexp(1.0, -132)); // a step is 2^-133
}

TEST(Compare, Float8) {
  const auto pair = [](Type type, std::uint8_t a, std::uint8_t b) {
    return compare<std::uint8_t>(type, {a}, {b});
  };
  // e4m3fn: 0x38 is 1, 0x7e is 448, 0x7f is NaN, 0x01 is 2^-9.
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x38, 0x39).max_absolute, 0.125);
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x00, 0x7e).max_absolute, 448);
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x00, 0x7e).max_ulp, 0x7e);
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x7e, 0x7f).nan_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x7e, 0xff).nan_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e4m3fn, 0x01, 0x00).max_absolute, std::ldexp(1.0, -9));
  // e5m2: 0x3c is 1, 0x7b is 57344, 0x7c is infinity, 0x01 is 2^-16.
  EXPECT_EQ(pair(Type::float8_e5m2, 0x3c, 0x3d).max_absolute, 0.25);
  EXPECT_EQ(pair(Type::float8_e5m2, 0x00, 0x7b).max_absolute, 57344);
  EXPECT_EQ(pair(Type::float8_e5m2, 0x7b, 0x7c).infinity_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e5m2, 0x7c, 0x7d).nan_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e5m2, 0x01, 0x81).max_absolute, std::ldexp(1.0, -15));
  EXPECT_EQ(pair(Type::float8_e5m2, 0x01, 0x81).max_ulp, 2);
  // fnuz: a bias of one more, no infinity, and 0x80 is NaN. e4m3: 0x40 is 1, 0x7f is 240. e5m2: 0x40 is 1, 0x7f
  // is 57344.
  EXPECT_EQ(pair(Type::float8_e4m3fnuz, 0x40, 0x41).max_absolute, 0.125);
  EXPECT_EQ(pair(Type::float8_e4m3fnuz, 0x00, 0x7f).max_absolute, 240);
  EXPECT_EQ(pair(Type::float8_e4m3fnuz, 0x00, 0x80).nan_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e5m2fnuz, 0x40, 0x41).max_absolute, 0.25);
  EXPECT_EQ(pair(Type::float8_e5m2fnuz, 0x00, 0x7f).max_absolute, 57344);
  EXPECT_EQ(pair(Type::float8_e5m2fnuz, 0x00, 0x80).nan_mismatches, 1u);
  EXPECT_EQ(pair(Type::float8_e5m2fnuz, 0x00, 0x7f).infinity_mismatches, 0u);
}

TEST(Compare, ComplexNumbersDifferWhenAPartDoes) {
  std::vector<std::uint32_t> mask(1);
  const float next = std::nextafterf(1.0f, 2.0f);
  const std::vector<float> a = {1, 1, 1, 1, 1, 1, 1, 1}, b = {1, 1, 1, next, 1, 1, 2, 2};
  const Comparison found = compare_cpu(a.data(), b.data(), 4, Type::complex64, mask.data());
  EXPECT_EQ(found.differing, 2u);
  EXPECT_EQ(found.first_differing, 1u);
  EXPECT_EQ(mask[0], 0b1010u);
  EXPECT_EQ(bins(found), (Bins{{1, 1}, {24, 2}})); // of components
  EXPECT_EQ(found.max_absolute, 1);
  EXPECT_EQ(found.sum_absolute, 2 + std::ldexp(1.0, -23));
  const std::vector<double> c = {0, 0, 0, 0}, d = {0, 0, 0, -3};
  const Comparison wide = compare_cpu(c.data(), d.data(), 2, Type::complex128, mask.data());
  EXPECT_EQ(wide.differing, 1u);
  EXPECT_EQ(wide.first_differing, 1u);
  EXPECT_EQ(wide.max_absolute, 3);
  const std::vector<std::uint16_t> e(6, 0x3c00), f = {0x3c00, 0x3c00, 0x3c01, 0x3c02, 0x3c00, 0x3c00};
  const Comparison narrow = compare_cpu(e.data(), f.data(), 3, Type::complex32, nullptr);
  EXPECT_EQ(narrow.differing, 1u);
  EXPECT_EQ(narrow.first_differing, 1u);
  EXPECT_EQ(narrow.max_ulp, 2);
}

TEST(Compare, DenormalsAndZeros) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  const auto across = compare<float>(Type::float32, {-smallest}, {smallest});
  EXPECT_EQ(across.max_ulp, 2);
  EXPECT_EQ(across.max_absolute, 2 * double(smallest));
  EXPECT_EQ(across.max_relative, 2);
  EXPECT_EQ(across.sum_variation, 2);
  const auto zeros = compare<float>(Type::float32, {0.0f}, {-0.0f});
  EXPECT_EQ(zeros.differing, 1u); // other bits
  EXPECT_EQ(zeros.max_ulp, 0);
  EXPECT_EQ(bins(zeros), (Bins{{0, 1}}));
  EXPECT_EQ(zeros.max_absolute, 0);
  EXPECT_EQ(zeros.max_relative, 0);
  EXPECT_EQ(zeros.sum_variation, 0);
  EXPECT_EQ(compare<float>(Type::float32, {-0.0f}, {2}).sum_variation, 1);
  EXPECT_EQ(compare<double>(Type::float64, {-0.0}, {-2}).sum_variation, 1);
  EXPECT_EQ(compare<std::uint16_t>(Type::float16, {0x8000}, {0x3c00}).sum_variation, 1);
}

TEST(Compare, DenormalsCountInAProgramThatFlushesThem) {
  const float smallest = std::numeric_limits<float>::denorm_min(), larger = 3 * smallest;
#ifdef __SSE2__
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040); // flush to zero, denormals are zero
#endif
  const auto found = compare<float>(Type::float32, {smallest}, {larger});
#ifdef __SSE2__
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(after & 0x8040, 0x8040u);
#endif
  EXPECT_EQ(found.max_absolute, std::ldexp(1.0, -148));
  EXPECT_EQ(found.sum_variation, 2);
}

TEST(Compare, RelativeDistanceIsOfTheLargerAndVariationOfTheReference) {
  const auto found = compare<float>(Type::float32, {1, 4, 0, 8}, {4, 1, 5, 8});
  EXPECT_EQ(found.max_relative, 1); // against 0
  EXPECT_EQ(found.sum_variation, 3 + 0.75 + 1);
  EXPECT_EQ(found.sum_absolute, 3 + 3 + 5);
  EXPECT_EQ(compare<float>(Type::float32, {1}, {4}).max_relative, 0.75);
  EXPECT_EQ(compare<float>(Type::float32, {4}, {1}).max_relative, 0.75);
  EXPECT_EQ(compare<float>(Type::float32, {4}, {-1}).max_relative, 1.25);
}

TEST(Compare, NanAgainstNumberIsCountedAndHasNoDistance) {
  const auto found = compare<float>(Type::float32, {kNan, 1, 5}, {1, kNan, 5});
  EXPECT_EQ(found.differing, 2u);
  EXPECT_EQ(found.nan_mismatches, 2u);
  EXPECT_EQ(found.max_ulp, 0);
  EXPECT_EQ(bins(found), Bins{});
  EXPECT_EQ(found.max_absolute, 0);
  EXPECT_EQ(found.sum_absolute, 0);
  const auto infinite = compare<float>(Type::float32, {kNan}, {kInfinity});
  EXPECT_EQ(infinite.nan_mismatches, 1u);
  EXPECT_EQ(infinite.infinity_mismatches, 0u);
}

TEST(Compare, NansOfOtherPayloadDifferWithoutMismatch) {
  const auto found = compare<std::uint32_t>(Type::float32, {0x7fc00000}, {0x7fc00001});
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(found.nan_mismatches, 0u);
}

TEST(Compare, Infinities) {
  const auto finite = compare<float>(Type::float32, {kInfinity}, {std::numeric_limits<float>::max()});
  EXPECT_EQ(finite.max_ulp, 1);
  EXPECT_TRUE(std::isinf(finite.max_absolute));
  EXPECT_EQ(finite.max_relative, 1);
  EXPECT_EQ(finite.infinity_mismatches, 1u);
  EXPECT_EQ(finite.sum_absolute, 0); // it would say nothing of the others
  EXPECT_EQ(finite.sum_variation, 0);
  const auto opposite = compare<float>(Type::float32, {kInfinity}, {-kInfinity});
  EXPECT_TRUE(std::isinf(opposite.max_absolute));
  EXPECT_EQ(opposite.max_relative, 2);
  EXPECT_EQ(opposite.max_ulp, 2.0 * 0x7f800000);
  EXPECT_EQ(bins(opposite), (Bins{{32, 1}}));
  EXPECT_EQ(opposite.infinity_mismatches, 1u);
}

TEST(Compare, DifferenceThatOverflowsItsType) {
  const float most32 = std::numeric_limits<float>::max();
  const auto narrow = compare<float>(Type::float32, {most32}, {-most32});
  EXPECT_EQ(narrow.max_absolute, 2 * double(most32));
  EXPECT_EQ(narrow.max_relative, 2);
  EXPECT_EQ(narrow.sum_absolute, 2 * double(most32));
  EXPECT_EQ(narrow.sum_variation, 2);
  const double most = std::numeric_limits<double>::max();
  const auto found = compare<double>(Type::float64, {most}, {-most});
  EXPECT_TRUE(std::isinf(found.max_absolute));
  EXPECT_EQ(found.max_relative, 2);
  EXPECT_EQ(found.sum_variation, 2);
  EXPECT_EQ(found.infinity_mismatches, 0u);
}

TEST(Compare, QuotientThatOverflowsItsType) {
  const auto found = compare<float>(Type::float32, {std::ldexp(1.0f, -149)}, {1});
  EXPECT_EQ(found.sum_variation, std::ldexp(1.0, 149) - 1);
  EXPECT_EQ(found.max_relative, 1 - std::ldexp(1.0, -149));
}

TEST(Compare, IntegersHaveNoUlp) {
  const auto large = compare<std::int64_t>(Type::int64, {std::numeric_limits<std::int64_t>::min(), 3},
                                           {std::numeric_limits<std::int64_t>::max(), 3});
  EXPECT_EQ(large.differing, 1u);
  EXPECT_EQ(large.max_ulp, 0);
  EXPECT_EQ(bins(large), Bins{});
  EXPECT_EQ(large.max_absolute, std::ldexp(1.0, 64)); // 2^64 - 1, rounded
  EXPECT_EQ(compare<std::int32_t>(Type::int32, {-5}, {4}).max_absolute, 9);
  EXPECT_EQ(compare<std::int32_t>(Type::int32, {-5}, {4}).sum_variation, 1.8);
  EXPECT_EQ(compare<std::int16_t>(Type::int16, {-5}, {4}).max_absolute, 9);
  EXPECT_EQ(compare<std::int8_t>(Type::int8, {-128}, {127}).max_absolute, 255);
  EXPECT_EQ(compare<std::uint64_t>(Type::uint64, {0}, {7}).max_absolute, 7);
  EXPECT_EQ(compare<std::uint32_t>(Type::uint32, {0}, {0xffffffffu}).max_absolute, 4294967295.0);
  EXPECT_EQ(compare<std::uint16_t>(Type::uint16, {0}, {65535}).max_absolute, 65535);
  EXPECT_EQ(compare<std::uint8_t>(Type::uint8, {0, 1}, {0, 0}).max_absolute, 1);
  EXPECT_EQ(compare<std::uint8_t>(Type::uint8, {0}, {1}).sum_variation, 1);
}

TEST(Compare, IndicesInAnotherOrderHoldTheSameValues) {
  const std::vector<std::int64_t> reference = {7, 3, 3, 0, -1, 9};
  const auto values = [&](std::vector<std::int64_t> result) {
    return compare<std::int64_t>(Type::int64, reference, std::move(result)).values;
  };
  EXPECT_EQ(values({7, 3, 3, 0, -1, 9}), 0u);
  EXPECT_EQ(values({9, -1, 0, 3, 3, 7}), 0u);
  EXPECT_EQ(values({3, 7, 3, 0, -1, 9}), 0u);
  EXPECT_NE(values({7, 7, 3, 0, -1, 9}), 0u); // the same set, but not as often
  EXPECT_NE(values({7, 3, 3, 0, -1, 8}), 0u);
  EXPECT_NE(values({8, 2, 3, 0, -1, 9}), 0u); // the same sum
  EXPECT_EQ(compare<std::int32_t>(Type::int32, {1, 2}, {2, 1}).values, 0u);
  EXPECT_NE(compare<std::int32_t>(Type::int32, {1, 2}, {2, 2}).values, 0u);
}

TEST(Compare, MaskGathersOverRounds) {
  std::vector<std::uint32_t> mask(2);
  std::vector<float> reference(40, 1), first = reference, second = reference;
  first[1] = first[39] = second[2] = second[39] = 9;
  EXPECT_EQ(compare_cpu(reference.data(), first.data(), 40, Type::float32, mask.data()).first_differing, 1u);
  EXPECT_EQ(compare_cpu(reference.data(), second.data(), 40, Type::float32, mask.data()).first_differing, 2u);
  EXPECT_EQ(mask, (std::vector<std::uint32_t>{0b110, 1u << 7}));
  EXPECT_EQ(count_marked(mask.data(), mask.size()), 3u);
}

TEST(Compare, SumsAndFirstIndexOverManyTiles) { // 2^-20 apart everywhere from element 70,001 on
  const std::size_t elements = 1 << 20, from = 70001;
  std::vector<float> reference(elements, 1), result = reference;
  std::fill(result.begin() + from, result.end(), 1 + std::ldexp(1.0f, -20));
  std::vector<std::uint32_t> mask(mask_words(elements));
  const Comparison found =
      compare_cpu(reference.data(), result.data(), elements, Type::float32, mask.data());
  EXPECT_EQ(found.first_differing, from);
  EXPECT_EQ(found.differing, elements - from);
  EXPECT_EQ(count_marked(mask.data(), mask.size()), elements - from);
  EXPECT_EQ(found.sum_absolute, double(elements - from) * std::ldexp(1.0, -20));
  EXPECT_EQ(found.sum_variation, found.sum_absolute);
  EXPECT_EQ(bins(found), (Bins{{4, elements - from}})); // 8 ULP
}

TEST(Compare, SumsAreAsCloseAsPromised) {
  std::mt19937_64 random(5);
  const std::size_t elements = 300'000;
  std::vector<double> reference(elements), result(elements);
  long double absolute = 0, variation = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    reference[i] = std::ldexp(1 + double(random() % 1000), int(random() % 60) - 30);
    result[i] = reference[i] + std::ldexp(double(1 + random() % 100), int(random() % 60) - 50);
    const double distance = std::abs(reference[i] - result[i]);
    absolute += distance;
    variation += distance / reference[i];
  }
  const Comparison found =
      compare_cpu(reference.data(), result.data(), elements, Type::float64, nullptr);
  const long double bound = 281 * std::ldexp(1.0L, -53);
  EXPECT_LE(std::abs(found.sum_absolute - absolute), bound * absolute);
  EXPECT_LE(std::abs(found.sum_variation - variation), bound * variation);
}

TEST(Compare, HashTellsPlacesValuesAndLengthsApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t arrays = 0;
  const auto add = [&](const std::vector<std::uint8_t>& bytes) {
    const Hash hash = hash_cpu(bytes.data(), bytes.size());
    seen.insert({hash.low, hash.high});
    ++arrays;
  };
  for (std::size_t length = 0; length < 40; ++length)
    add(std::vector<std::uint8_t>(length)); // zeros
  for (std::size_t place = 0; place < 40; ++place)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::uint8_t> bytes(40);
      bytes[place] = static_cast<std::uint8_t>(1 << bit);
      add(bytes);
    }
  std::vector<std::uint8_t> swapped(64);
  for (std::size_t i = 0; i < 64; ++i)
    swapped[i] = static_cast<std::uint8_t>(i + 1);
  add(swapped);
  for (std::size_t i = 0; i + 8 < 64; i += 8) { // words that change places
    auto other = swapped;
    std::swap_ranges(other.begin() + static_cast<std::ptrdiff_t>(i),
                     other.begin() + static_cast<std::ptrdiff_t>(i) + 8,
                     other.begin() + static_cast<std::ptrdiff_t>(i) + 8);
    add(other);
  }
  EXPECT_EQ(seen.size(), arrays);
}

TEST(Compare, HashTellsPermutedIndicesApart) { // as an unstable sort leaves them
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<std::int64_t> reference(512);
  for (std::size_t i = 0; i < reference.size(); ++i)
    reference[i] = static_cast<std::int64_t>(i / 4);
  std::size_t arrays = 0;
  for (std::size_t from = 0; from < reference.size(); from += 3)
    for (std::size_t to = from + 4; to < reference.size(); to += 4, ++arrays) {
      auto result = reference;
      std::swap(result[from], result[to]);
      const Hash hash = compare<std::int64_t>(Type::int64, reference, result).hash;
      seen.insert({hash.low, hash.high});
    }
  EXPECT_EQ(seen.size(), arrays);
}

TEST(Compare, HashIsTheResultsLessTheReferences) {
  std::mt19937_64 random(3);
  std::vector<std::uint8_t> reference(100'003), result;
  for (auto& byte : reference)
    byte = static_cast<std::uint8_t>(random());
  result = reference;
  for (std::size_t i = 7; i < result.size(); i += 1000)
    ++result[i];
  result.back() ^= 1;
  const Hash before = hash_cpu(reference.data(), reference.size()),
             after = hash_cpu(result.data(), result.size()),
             found = compare_cpu(reference.data(), result.data(), result.size(), Type::uint8, nullptr).hash;
  EXPECT_EQ((Hash{before.low + found.low, before.high + found.high}), after);
}

} // namespace
