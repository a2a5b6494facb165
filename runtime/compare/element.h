// One element's comparison and one word's hash, the same on the host and on the device.
#pragma once

#include "runtime/compare/compare.h"

#ifdef __CUDACC__
#define REPROBE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#include <cstring>
#define REPROBE_HOST_DEVICE inline
#endif

namespace reprobe::compare::element {

REPROBE_HOST_DEVICE std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

/// Adds one little-endian 8-byte word of the array, with its place, to both halves of the hash.
REPROBE_HOST_DEVICE void add_word(std::uint64_t word, std::uint64_t index, std::uint64_t& low,
                                  std::uint64_t& high) {
  const std::uint64_t place = mix(index + 0x9e3779b97f4a7c15ull);
  low += mix(word ^ place);
  high += mix((word + 0xa0761d6478bd642full) * 0xe7037ed1a0b428dbull ^ (place >> 17 | place << 47));
}

struct Distance {
  double ulp = 0, absolute = 0, relative = 0;
  bool nan_mismatch = false;
};

template <class To, class From>
REPROBE_HOST_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "same width");
  To to;
#ifdef __CUDACC__
  for (unsigned i = 0; i < sizeof(To); ++i)
    reinterpret_cast<unsigned char*>(&to)[i] = reinterpret_cast<const unsigned char*>(&from)[i];
#else
  std::memcpy(&to, &from, sizeof to);
#endif
  return to;
}

REPROBE_HOST_DEVICE double larger(double a, double b) {
  return a > b ? a : b;
}
REPROBE_HOST_DEVICE double magnitude(double a) {
  return a < 0 ? -a : a;
}

/// `distance`: |a - b| where a and b differ. Infinite operands have no quotient: they count as 1 apart from
/// any finite value and 2 apart from each other.
REPROBE_HOST_DEVICE double relative(double a, double b, double distance) {
  const double scale = larger(magnitude(a), magnitude(b));
  if (scale == 0)
    return 0;
  const double limit = 1.7976931348623157e308;
  if (scale > limit)
    return magnitude(a) > limit && magnitude(b) > limit ? 2 : 1;
  // a - b may overflow although both are finite.
  return distance > limit ? magnitude(a / scale - b / scale) : distance / scale;
}

/// Binary floating point of `Exponent` and `Fraction` bits, kept in Bits.
template <class Bits, int Exponent, int Fraction>
struct Floating {
  using Word = Bits;
  static constexpr Bits sign = Bits(Bits(1) << (Exponent + Fraction));
  static constexpr Bits infinity = Bits(((Bits(1) << Exponent) - 1) << Fraction);

  REPROBE_HOST_DEVICE static bool is_nan(Bits bits) { return Bits(bits & Bits(~sign)) > infinity; }

  REPROBE_HOST_DEVICE static double value(Bits bits) {
    if constexpr (sizeof(Bits) == 8) {
      return bits_as<double>(std::uint64_t(bits));
    } else {
      const std::uint64_t negative = bits & sign ? 1ull << 63 : 0;
      const std::uint64_t exponent = Bits(bits & infinity) >> Fraction;
      const std::uint64_t fraction = bits & Bits((Bits(1) << Fraction) - 1);
      constexpr std::uint64_t largest = (1ull << Exponent) - 1;
      constexpr int bias = (1 << (Exponent - 1)) - 1;
      if (exponent == largest)
        return bits_as<double>(negative | 0x7ffull << 52 | fraction << (52 - Fraction));
      if (exponent == 0) { // denormal: fraction * 2^(1 - bias - Fraction), exact in double
        const double unit = bits_as<double>(std::uint64_t(1023 + 1 - bias - Fraction) << 52);
        const double scaled = double(fraction) * unit;
        return negative ? -scaled : scaled;
      }
      return bits_as<double>(negative | (exponent + 1023 - bias) << 52 | fraction << (52 - Fraction));
    }
  }

  REPROBE_HOST_DEVICE static Distance distance(Bits a, Bits b) {
    Distance d;
    const bool a_nan = is_nan(a), b_nan = is_nan(b);
    if (a_nan || b_nan) {
      d.nan_mismatch = a_nan != b_nan;
      return d;
    }
    const Bits a_steps = Bits(a & Bits(~sign)), b_steps = Bits(b & Bits(~sign)); // from zero
    const bool opposite = ((a ^ b) & sign) != 0;
    d.ulp = opposite ? double(a_steps) + double(b_steps)
                     : double(a_steps > b_steps ? a_steps - b_steps : b_steps - a_steps);
    const double x = value(a), y = value(b);
    d.absolute = x == y ? 0 : magnitude(x - y);
    d.relative = d.absolute == 0 ? 0 : relative(x, y, d.absolute);
    return d;
  }
};

template <class Integer>
struct Whole {
  using Word = Integer;
  REPROBE_HOST_DEVICE static Distance distance(Integer a, Integer b) {
    Distance d;
    const Integer low = a < b ? a : b, high = a < b ? b : a;
    d.absolute = double(std::uint64_t(high) - std::uint64_t(low)); // cannot overflow as unsigned
    d.relative = relative(double(a), double(b), d.absolute);
    return d;
  }
};

/// Calls f(element type) for the Type.
template <class F>
REPROBE_HOST_DEVICE void with_type(Type type, F&& f) {
  switch (type) {
  case Type::float64:
    return f(Floating<std::uint64_t, 11, 52>{});
  case Type::float32:
    return f(Floating<std::uint32_t, 8, 23>{});
  case Type::float16:
    return f(Floating<std::uint16_t, 5, 10>{});
  case Type::bfloat16:
    return f(Floating<std::uint16_t, 8, 7>{});
  case Type::int64:
    return f(Whole<std::int64_t>{});
  case Type::int32:
    return f(Whole<std::int32_t>{});
  case Type::int16:
    return f(Whole<std::int16_t>{});
  case Type::int8:
    return f(Whole<std::int8_t>{});
  case Type::uint64:
    return f(Whole<std::uint64_t>{});
  case Type::uint32:
    return f(Whole<std::uint32_t>{});
  case Type::uint16:
    return f(Whole<std::uint16_t>{});
  case Type::uint8:
    return f(Whole<std::uint8_t>{});
  }
}

} // namespace reprobe::compare::element
