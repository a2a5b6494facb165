#include "analyzer/lsp/text.h"

#include <algorithm>

namespace reprobe::lsp {
namespace {

// What the protocol counts unless client and server agree on bytes. A broken sequence counts a unit a byte.
std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    units += length == 4 ? 2 : 1;
    i += length;
  }
  return units;
}

} // namespace

Text::Text(std::string text) : text_(std::move(text)), starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n')
      starts_.push_back(i + 1);
}

std::string_view Text::line(std::size_t index) const {
  if (index >= starts_.size())
    return {};
  const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : text_.size();
  return std::string_view(text_).substr(starts_[index], end - starts_[index]);
}

Json Text::position(std::size_t number, std::size_t column, bool utf8) const {
  const std::size_t index = number ? number - 1 : 0;
  const std::string_view before = line(index).substr(0, column ? column - 1 : 0);
  return {{"line", index}, {"character", utf8 ? before.size() : utf16_length(before)}};
}

Json Text::position(std::size_t offset, bool utf8) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), std::min(offset, text_.size()));
  const std::size_t index = static_cast<std::size_t>(after - starts_.begin()) - 1;
  return position(index + 1, std::min(offset, text_.size()) - starts_[index] + 1, utf8);
}

} // namespace reprobe::lsp
