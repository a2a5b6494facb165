#include "analyzer/report/escape.h"

#include <cstdint>

namespace reprobe::report {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i]));
  };
  switch (character.size()) {
  case 1:
    return byte(0);
  case 2:
    return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  case 3:
    return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  default:
    return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  }
}

// Control characters could rewrite the terminal, others make a path read as another; XML knows none of them.
bool is_deceptive(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
  const bool direction = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
  const bool line_break = c == 0x2028 || c == 0x2029;
  const bool no_character = (c & 0xfffe) == 0xfffe || c == 0xfeff || (c >= 0xfdd0 && c <= 0xfdef);
  return control || direction || line_break || no_character;
}

std::string made_printable(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const std::string_view character = text.substr(at, length ? length : 1);
    const bool kept = keep_lines && (character == "\n" || character == "\t");
    if (length && (kept || !is_deceptive(code_point(character)))) {
      result += character;
    } else {
      for (const char c : character) {
        const auto byte = static_cast<unsigned char>(c);
        result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      }
    }
    at += character.size();
  }
  return result;
}

} // namespace

std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80)
    return 1;
  const std::size_t length = first >= 0xf0 && first <= 0xf4  ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (std::size_t i = at + 1; i < at + length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const std::uint32_t c = code_point(text.substr(at, length));
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  const bool surrogate = c >= 0xd800 && c <= 0xdfff;
  return overlong || surrogate || c > 0x10ffff ? 0 : length;
}

std::size_t characters_before(std::string_view text, std::size_t offset) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size() && at < offset; ++count) {
    const std::size_t length = character_length(text, at);
    at += length ? length : 1;
  }
  return count;
}

std::string printable(std::string_view text) {
  return made_printable(text, false);
}
std::string printable_lines(std::string_view text) {
  return made_printable(text, true);
}

std::string escape_markup(std::string_view text) {
  std::string result;
  for (const char character : printable_lines(text)) {
    switch (character) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += character;
    }
  }
  return result;
}

std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != kPlain.npos)
      uri += c;
    else
      uri += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  return uri;
}

} // namespace reprobe::report
