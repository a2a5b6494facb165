// The one error type that crosses Reprobe's interfaces: what failed, where, why, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace reprobe {

struct Error : std::runtime_error {
  Error(std::string what_failed, std::string where, std::string why, std::string remedy = {}, int exit_code = 2)
      : std::runtime_error(text(what_failed, where, why, remedy)), exit_code(exit_code) {}
  int exit_code; // 2: usage or configuration, 3: the tool could not do its job

private:
  static std::string text(const std::string& what_failed, const std::string& where, const std::string& why,
                          const std::string& remedy) {
    std::string message = where.empty() ? what_failed : where + ": " + what_failed;
    if (!why.empty()) message += ": " + why;
    if (!remedy.empty()) message += " (" + remedy + ")";
    return message;
  }
};

} // namespace reprobe
