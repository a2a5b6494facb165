#include "analyzer/scan/facts/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace reprobe::scan {

std::string Digest::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      out += kDigits[(half >> shift) & 15];
  return out;
}

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Digester& Digester::add(std::string_view text) {
  add(text.size());
  text_ += text;
  return *this;
}

Digester& Digester::add(const Digest& digest) {
  return add(digest.low).add(digest.high);
}

Digester& Digester::add(std::uint64_t number) {
  text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  return *this;
}

} // namespace reprobe::scan
