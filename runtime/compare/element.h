// One element's comparison and one chunk's hash, the same on the host and on the device.
#pragma once

#include "runtime/compare/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#ifdef __CUDACC__
#define REPROBE_HOST_DEVICE __host__ __device__ __forceinline__
#define REPROBE_RARE __host__ __device__ __noinline__
#else
#define REPROBE_HOST_DEVICE inline
#define REPROBE_RARE __attribute__((noinline))
#endif

namespace reprobe::compare::element {

REPROBE_HOST_DEVICE std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

/// 16 bytes of an operand, as two little-endian words; past the array's end they are 0.
struct Chunk {
  std::uint64_t low = 0, high = 0;
};

REPROBE_HOST_DEVICE void add_product(std::uint64_t a, std::uint64_t b, bool subtract, Hash& hash) {
#ifdef __CUDA_ARCH__
  const std::uint64_t low = a * b, high = __umul64hi(a, b);
#else
  const auto product = static_cast<unsigned __int128>(a) * b;
  const auto low = static_cast<std::uint64_t>(product), high = static_cast<std::uint64_t>(product >> 64);
#endif
  hash.low += subtract ? 0 - low : low;
  hash.high += subtract ? 0 - high : high;
}

/// Keys of a chunk's place. A chunk's hash is the product of its keyed words, as in NH (UMAC): a difference in
/// either word moves the product by a multiple of the other one.
struct Place {
  std::uint64_t low, high;
  REPROBE_HOST_DEVICE explicit Place(std::uint64_t index)
      : low(mix(index + 0x9e3779b97f4a7c15ull)), high((low >> 32 | low << 32) ^ 0xa0761d6478bd642full) {}
  REPROBE_HOST_DEVICE void add(Chunk chunk, Hash& hash) const {
    add_product(chunk.low ^ low, chunk.high ^ high, false, hash);
  }
  REPROBE_HOST_DEVICE void remove(Chunk chunk, Hash& hash) const {
    add_product(chunk.low ^ low, chunk.high ^ high, true, hash);
  }
};

template <class To, class From>
REPROBE_HOST_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "same width");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
REPROBE_HOST_DEVICE T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
REPROBE_HOST_DEVICE T magnitude(T a) {
  return std::fabs(a); // of -0 too, which divides
}

/// Bits that a number needs.
REPROBE_HOST_DEVICE int bit_width(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(value));
#else
  return value ? 32 - __builtin_clz(value) : 0;
#endif
}
REPROBE_HOST_DEVICE int bit_width(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return 64 - __clzll(static_cast<long long>(value));
#else
  return value ? 64 - __builtin_clzll(value) : 0;
#endif
}

/// `distance`: |a - b| where a and b differ. Infinite operands have no quotient: they count as 1 apart from
/// any finite value and 2 apart from each other.
REPROBE_HOST_DEVICE double relative(double a, double b, double distance) {
  const double scale = larger(magnitude(a), magnitude(b));
  if (scale == 0)
    return 0;
  const double limit = std::numeric_limits<double>::max();
  if (scale > limit)
    return magnitude(a) > limit && magnitude(b) > limit ? 2 : 1;
  // a - b may overflow although both are finite.
  return distance > limit ? magnitude(a / scale - b / scale) : distance / scale;
}

/// A distance outside the common case: an operand is 0, NaN or infinite, or something overflows.
struct Exception {
  double absolute = 0, relative = 0, variation = 0;
  bool nan_mismatch = false, infinity_mismatch = false;
};

/// ieee: the largest exponent holds infinities and NaNs. finite: only all ones are NaN ("fn").
/// one_zero: what would be -0 is the one NaN ("fnuz"). The last two have no infinities.
enum class Specials { ieee, finite, one_zero };

/// Binary floating point of `Exponent` and `Fraction` bits, kept in Bits.
template <class Bits, int Exponent, int Fraction, int Bias, Specials kSpecials = Specials::ieee>
struct Floating {
  using Word = Bits;
  using Steps = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
  using Real = std::conditional_t<sizeof(Bits) == 8, double, float>; // of distances
  static constexpr int components = 1;
  static constexpr int bins = 8 * int(sizeof(Bits)) + 1;
  static constexpr bool floating = true, index = false;

  static constexpr Bits sign = Bits(Bits(1) << (Exponent + Fraction));
  static constexpr Bits infinity = Bits(((Bits(1) << Exponent) - 1) << Fraction); // ieee

  REPROBE_HOST_DEVICE static Bits unsigned_of(Bits bits) { return Bits(bits & Bits(~sign)); }
  REPROBE_HOST_DEVICE static bool is_nan(Bits bits) {
    if constexpr (kSpecials == Specials::ieee)
      return unsigned_of(bits) > infinity;
    else if constexpr (kSpecials == Specials::finite)
      return unsigned_of(bits) == Bits(sign - 1);
    else
      return bits == sign;
  }
  REPROBE_HOST_DEVICE static bool is_infinite(Bits bits) {
    return kSpecials == Specials::ieee && unsigned_of(bits) == infinity;
  }
  REPROBE_HOST_DEVICE static bool is_special(Bits bits) {
    return kSpecials == Specials::ieee ? unsigned_of(bits) >= infinity : is_nan(bits);
  }

  /// Exact for finite values: every value of the narrow types is a float32, denormal ones by the product.
  REPROBE_HOST_DEVICE static Real real(Bits bits) {
    if constexpr (Fraction == 52 || Fraction == 23) {
      return bits_as<Real>(bits);
    } else {
      const std::uint32_t moved = std::uint32_t(unsigned_of(bits)) << (23 - Fraction) |
                                  std::uint32_t(bits & sign) << (31 - Exponent - Fraction);
      constexpr float scale = power_of_two(127 - Bias);
      return bits_as<float>(moved) * scale;
    }
  }

  /// Steps from a to b, counting through zero.
  REPROBE_HOST_DEVICE static Steps steps(Bits a, Bits b) {
    const Steps x = unsigned_of(a), y = unsigned_of(b);
    const Steps apart = x - y, backwards = x < y ? ~Steps(0) : 0; // no branch: which is larger is a coin's toss
    return (a ^ b) & sign ? x + y : (apart ^ backwards) - backwards;
  }

  REPROBE_HOST_DEVICE static Real distance(Bits a, Bits b) { return magnitude(real(a) - real(b)); }

  REPROBE_RARE static Exception exception(Bits a, Bits b) {
    Exception found;
    const bool a_nan = is_nan(a), b_nan = is_nan(b);
    if (a_nan || b_nan) {
      found.nan_mismatch = a_nan != b_nan;
      return found;
    }
    found.infinity_mismatch = is_infinite(a) || is_infinite(b); // the bits differ
    const double x = wide(a), y = wide(b);
    found.absolute = x == y ? 0 : magnitude(x - y);
    found.relative = relative(x, y, found.absolute);
    if (found.infinity_mismatch)
      return found;
    found.variation = x == 0 ? found.relative
                      : found.absolute > std::numeric_limits<double>::max()
                          ? magnitude(1 - y / x)
                          : found.absolute / magnitude(x);
    return found;
  }

private:
  static constexpr float power_of_two(int exponent) {
    float power = 1;
    for (int i = 0; i < exponent; ++i)
      power *= 2;
    return power;
  }
  REPROBE_HOST_DEVICE static double wide(Bits bits) {
    if (is_infinite(bits))
      return bits & sign ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return double(real(bits));
  }
};

template <class Integer>
struct Whole {
  using Word = Integer;
  using Steps = std::uint32_t; // none
  using Real = double;
  static constexpr int components = 1;
  static constexpr int bins = 1;
  static constexpr bool floating = false, index = sizeof(Integer) >= 4;

  REPROBE_HOST_DEVICE static bool is_special(Integer) { return false; }
  REPROBE_HOST_DEVICE static double real(Integer value) { return double(value); }
  REPROBE_HOST_DEVICE static double distance(Integer a, Integer b) {
    const Integer low = a < b ? a : b, high = a < b ? b : a;
    return double(std::uint64_t(high) - std::uint64_t(low)); // cannot overflow as unsigned
  }
  REPROBE_RARE static Exception exception(Integer a, Integer b) {
    Exception found;
    found.absolute = distance(a, b);
    found.relative = found.variation = relative(double(a), double(b), found.absolute);
    return found;
  }
};

template <class Component>
struct Complex : Component {
  static constexpr int components = 2;
};

/// What is gathered from components that differ, but for the sums, whose order matters.
template <class Element>
struct Gathered {
  using Word = typename Element::Word;
  using Real = typename Element::Real;
  std::uint64_t nan_mismatches = 0, infinity_mismatches = 0, values = 0;
  typename Element::Steps max_ulp = 0;
  Real max_absolute = 0, max_relative = 0;
  double rare_absolute = 0, rare_relative = 0; // maxima of what Real may not hold

  /// a != b. `count` is called with the bin of the ULP histogram.
  template <class Count>
  REPROBE_HOST_DEVICE void add(Word a, Word b, double& sum_absolute, double& sum_variation, Count&& count) {
    if constexpr (Element::index)
      values += mix(std::uint64_t(b) + 0x9e3779b97f4a7c15ull) - mix(std::uint64_t(a) + 0x9e3779b97f4a7c15ull);
    const bool special = Element::is_special(a) || Element::is_special(b);
    if constexpr (Element::floating) {
      if (!special || !(Element::is_nan(a) || Element::is_nan(b))) {
        const auto steps = Element::steps(a, b);
        max_ulp = larger(max_ulp, steps);
        count(bit_width(steps));
      }
    }
    const Real absolute = Element::distance(a, b), x = magnitude(Element::real(a)),
               variation = absolute / x;
    // Not when a is 0, nor when the difference or the quotient overflows.
    if (!special && variation <= std::numeric_limits<Real>::max()) {
      max_absolute = larger(max_absolute, absolute);
      if (variation > max_relative) { // seldom: only then does the larger operand matter
        const Real y = magnitude(Element::real(b));
        max_relative = larger(max_relative, y > x ? absolute / y : variation);
      }
      sum_absolute += double(absolute);
      sum_variation += double(variation);
      return;
    }
    const Exception rare = Element::exception(a, b);
    nan_mismatches += rare.nan_mismatch;
    infinity_mismatches += rare.infinity_mismatch;
    rare_absolute = larger(rare_absolute, rare.absolute);
    rare_relative = larger(rare_relative, rare.relative);
    if (!rare.infinity_mismatch) {
      sum_absolute += rare.absolute;
      sum_variation += rare.variation;
    }
  }
};

/// Calls f(element type) for the Type.
template <class F>
inline void with_type(Type type, F&& f) {
  using Float32 = Floating<std::uint32_t, 8, 23, 127>;
  using Float64 = Floating<std::uint64_t, 11, 52, 1023>;
  using Float16 = Floating<std::uint16_t, 5, 10, 15>;
  switch (type) {
  case Type::float64:
    return f(Float64{});
  case Type::float32:
    return f(Float32{});
  case Type::float16:
    return f(Float16{});
  case Type::bfloat16:
    return f(Floating<std::uint16_t, 8, 7, 127>{});
  case Type::float8_e4m3fn:
    return f(Floating<std::uint8_t, 4, 3, 7, Specials::finite>{});
  case Type::float8_e5m2:
    return f(Floating<std::uint8_t, 5, 2, 15>{});
  case Type::float8_e4m3fnuz:
    return f(Floating<std::uint8_t, 4, 3, 8, Specials::one_zero>{});
  case Type::float8_e5m2fnuz:
    return f(Floating<std::uint8_t, 5, 2, 16, Specials::one_zero>{});
  case Type::complex128:
    return f(Complex<Float64>{});
  case Type::complex64:
    return f(Complex<Float32>{});
  case Type::complex32:
    return f(Complex<Float16>{});
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

/// The chunk's word k.
template <class Word>
REPROBE_HOST_DEVICE Word word_of(Chunk chunk, int k) {
  constexpr int per_half = 8 / int(sizeof(Word));
  const std::uint64_t half = k < per_half ? chunk.low : chunk.high;
  const std::make_unsigned_t<Word> bits =
      static_cast<std::make_unsigned_t<Word>>(half >> (8 * sizeof(Word) * std::size_t(k % per_half)));
  return static_cast<Word>(bits);
}

/// Bits of elements from bits of components: an element differs when one of its components does.
template <class Element>
REPROBE_HOST_DEVICE std::uint32_t element_bits(std::uint32_t components) {
  if constexpr (Element::components == 1)
    return components;
  std::uint32_t elements = 0;
  for (int i = 0; i < 8; ++i)
    elements |= std::uint32_t((components >> (2 * i) & 3) != 0) << i;
  return elements;
}

} // namespace reprobe::compare::element
