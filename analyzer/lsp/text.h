// A document's text, and places in it as the protocol counts them.
#pragma once

#include "analyzer/lsp/messages.h"

#include <string>
#include <vector>

namespace reprobe::lsp {

class Text {
public:
  explicit Text(std::string text = {});
  const std::string& bytes() const { return text_; }

  /// `line` and `column` count from 1, the column in bytes. Columns beyond the line stand for its end.
  Json position(std::size_t line, std::size_t column, bool utf8) const;
  /// Of the byte `offset`.
  Json position(std::size_t offset, bool utf8) const;

private:
  std::string_view line(std::size_t index) const;
  std::string text_;
  std::vector<std::size_t> starts_; // of lines
};

} // namespace reprobe::lsp
