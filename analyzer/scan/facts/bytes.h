// Numbers and texts as bytes, and back. The reader trusts nothing: what does not fit throws BadBytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace reprobe::scan {

struct BadBytes {};

class Bytes {
public:
  /// Seven bits a byte, lowest first.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// Small numbers of either sign stay short.
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string take() { return std::move(bytes_); }

private:
  std::string bytes_;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty())
        throw BadBytes{};
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    throw BadBytes{};
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::uint64_t number_up_to(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value > most)
      throw BadBytes{};
    return value;
  }
  /// How many things of at least `size` bytes follow.
  std::uint64_t count(std::size_t size) {
    const std::uint64_t value = number(); // before what is left is asked for
    if (value > rest_.size() / size)
      throw BadBytes{};
    return value;
  }
  std::string_view text() {
    const std::uint64_t size = count(1);
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  void raw(void* data, std::size_t size) {
    if (rest_.size() < size)
      throw BadBytes{};
    std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

} // namespace reprobe::scan
