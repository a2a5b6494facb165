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
                   std::vector<std::uint8_t>* mask = nullptr) {
  if (mask)
    mask->resize(reference.size());
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

TEST(Compare, EqualArraysDifferNowhere) {
  const auto found = compare<float>(Type::float32, {1, -0.0f, kNan, kInfinity}, {1, -0.0f, kNan, kInfinity});
  EXPECT_EQ(found.differing, 0u);
  EXPECT_EQ(found.max_ulp, 0);
  EXPECT_EQ(found.max_absolute, 0);
  EXPECT_EQ(found.nan_mismatches, 0u);
}

TEST(Compare, EmptyArraysAreEqual) {
  const Comparison found = compare_cpu(nullptr, nullptr, 0, Type::float32, nullptr);
  EXPECT_EQ(found.differing, 0u);
}

TEST(Compare, Float32NeighboursAreOneUlpApart) {
  std::vector<std::uint8_t> mask;
  const float next = std::nextafterf(1.0f, 2.0f);
  const auto found = compare<float>(Type::float32, {1, 1, 2}, {1, next, 2}, &mask);
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(found.max_ulp, 1);
  EXPECT_EQ(found.max_absolute, std::ldexp(1.0, -23));
  EXPECT_EQ(found.max_relative, std::ldexp(1.0, -23) / next);
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{0, 1, 0}));
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
  EXPECT_EQ(found.max_absolute, 3 * std::ldexp(1.0, -10));
  EXPECT_EQ(found.max_relative, 1); // 2^-24 against 0
  const auto infinite = compare<std::uint16_t>(Type::float16, {0x7bff}, {0x7c00});
  EXPECT_EQ(infinite.max_ulp, 1);
  EXPECT_TRUE(std::isinf(infinite.max_absolute));
  EXPECT_EQ(infinite.max_relative, 1);
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

TEST(Compare, DenormalsAndZeros) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  const auto across = compare<float>(Type::float32, {-smallest}, {smallest});
  EXPECT_EQ(across.max_ulp, 2);
  EXPECT_EQ(across.max_absolute, 2 * double(smallest));
  EXPECT_EQ(across.max_relative, 2);
  const auto zeros = compare<float>(Type::float32, {0.0f}, {-0.0f});
  EXPECT_EQ(zeros.differing, 1u); // other bits
  EXPECT_EQ(zeros.max_ulp, 0);
  EXPECT_EQ(zeros.max_absolute, 0);
  EXPECT_EQ(zeros.max_relative, 0);
}

TEST(Compare, NanAgainstNumberIsCountedAndHasNoDistance) {
  const auto found = compare<float>(Type::float32, {kNan, 1, 5}, {1, kNan, 5});
  EXPECT_EQ(found.differing, 2u);
  EXPECT_EQ(found.nan_mismatches, 2u);
  EXPECT_EQ(found.max_ulp, 0);
  EXPECT_EQ(found.max_absolute, 0);
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
  const auto opposite = compare<float>(Type::float32, {kInfinity}, {-kInfinity});
  EXPECT_TRUE(std::isinf(opposite.max_absolute));
  EXPECT_EQ(opposite.max_relative, 2);
  EXPECT_EQ(opposite.max_ulp, 2.0 * 0x7f800000);
}

TEST(Compare, DifferenceThatOverflowsDouble) {
  const double most = std::numeric_limits<double>::max();
  const auto found = compare<double>(Type::float64, {most}, {-most});
  EXPECT_TRUE(std::isinf(found.max_absolute));
  EXPECT_EQ(found.max_relative, 2);
}

TEST(Compare, IntegersHaveNoUlp) {
  const auto large = compare<std::int64_t>(Type::int64, {std::numeric_limits<std::int64_t>::min(), 3},
                                           {std::numeric_limits<std::int64_t>::max(), 3});
  EXPECT_EQ(large.differing, 1u);
  EXPECT_EQ(large.max_ulp, 0);
  EXPECT_EQ(large.max_absolute, std::ldexp(1.0, 64)); // 2^64 - 1, rounded
  EXPECT_EQ(compare<std::int32_t>(Type::int32, {-5}, {4}).max_absolute, 9);
  EXPECT_EQ(compare<std::int16_t>(Type::int16, {-5}, {4}).max_absolute, 9);
  EXPECT_EQ(compare<std::int8_t>(Type::int8, {-128}, {127}).max_absolute, 255);
  EXPECT_EQ(compare<std::uint64_t>(Type::uint64, {0}, {7}).max_absolute, 7);
  EXPECT_EQ(compare<std::uint32_t>(Type::uint32, {0}, {0xffffffffu}).max_absolute, 4294967295.0);
  EXPECT_EQ(compare<std::uint16_t>(Type::uint16, {0}, {65535}).max_absolute, 65535);
  EXPECT_EQ(compare<std::uint8_t>(Type::uint8, {0, 1}, {0, 0}).max_absolute, 1);
}

TEST(Compare, MaskGathersOverRounds) {
  std::vector<std::uint8_t> mask(4);
  const std::vector<float> reference = {1, 2, 3, 4}, first = {1, 9, 3, 4}, second = {1, 2, 9, 4};
  compare_cpu(reference.data(), first.data(), 4, Type::float32, mask.data());
  compare_cpu(reference.data(), second.data(), 4, Type::float32, mask.data());
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(count_marked(mask.data(), 4), 2u);
}

TEST(Compare, HashTellsPlacesValuesAndLengthsApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t arrays = 0;
  const auto add = [&](const std::vector<std::uint8_t>& bytes) {
    const Comparison found = compare_cpu(bytes.data(), bytes.data(), bytes.size(), Type::uint8, nullptr);
    seen.insert({found.hash[0], found.hash[1]});
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

TEST(Compare, HashDependsOnTheResultAlone) {
  const std::vector<double> result = {1, 2, 3}, one = {1, 2, 3}, other = {4, 5, 6};
  const Comparison a = compare_cpu(one.data(), result.data(), 3, Type::float64, nullptr);
  const Comparison b = compare_cpu(other.data(), result.data(), 3, Type::float64, nullptr);
  EXPECT_EQ(a.hash[0], b.hash[0]);
  EXPECT_EQ(a.hash[1], b.hash[1]);
}

} // namespace
