// Colours of the text formats, as Clang has them.
#pragma once

#include <fmt/format.h>

#include <string>

namespace reprobe::report {

class Palette {
public:
  explicit Palette(bool color) : color_(color) {}
  std::string bold(const std::string& text) const { return paint("1", text); }
  std::string faint(const std::string& text) const { return paint("2", text); }
  std::string caret(const std::string& text) const { return paint("1;32", text); }
  std::string severity(const std::string& name) const {
    return paint(name == "error" ? "1;31" : name == "warning" ? "1;35" : "1;36", name);
  }
  /// `code` as in ECMA-48's "select graphic rendition".
  std::string paint(const char* code, const std::string& text) const {
    return color_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }

private:
  bool color_;
};

} // namespace reprobe::report
