// 128-bit content hashes (xxHash): what cached facts and headers are known by.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprobe::scan {

struct Digest {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Digest&) const = default;
  std::string hex() const;
};

Digest digest_of(std::string_view bytes);

/// Of a sequence of texts, each told apart from the next.
class Digester {
public:
  Digester& add(std::string_view text);
  Digester& add(const Digest& digest);
  Digester& add(std::uint64_t number);
  Digest finish() const { return digest_of(text_); }

private:
  std::string text_;
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

} // namespace reprobe::scan
