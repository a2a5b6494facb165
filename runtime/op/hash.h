// Hashes that tell signatures, call sites and results apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace reprobe::op {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 33);
}

/// 128 bits over a sequence of pieces; how long each piece was counts too. Part of the case format: the same
/// bytes give the same hash in every version that reads reprobe-case/1.
class Hash128 {
public:
  void add(const void* bytes, std::size_t size) {
    add_words(bytes, size);
    add(size);
  }
  /// Of a piece whose length is counted elsewhere; its end is filled up with zeros.
  void add_words(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    for (std::size_t done = 0; done < size; done += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + done, size - done < 8 ? size - done : 8);
      add(word);
    }
  }
  void add(std::uint64_t word) {
    first_ = mix(first_, word);
    second_ = mix(second_, ~word);
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::string hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {first_, second_})
      for (int shift = 60; shift >= 0; shift -= 4)
        text += kDigits[half >> shift & 15];
    return text;
  }

private:
  std::uint64_t first_ = 1, second_ = 2;
};

} // namespace reprobe::op
