#include "runtime/launch/output_name.h"

#include "rules/error.h"

namespace reprobe::launch {

bool names_processes(const std::string& pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i)
    if (pattern[i] == '%') {
      if (pattern[i + 1] != '%')
        return true;
      ++i;
    }
  return false;
}

std::filesystem::path expand_output(const std::string& pattern, const Identity& identity) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    switch (++i < pattern.size() ? pattern[i] : '\0') {
    case 'r':
      name += identity.rank.empty() ? "0" : identity.rank;
      break;
    case 'p':
      name += std::to_string(identity.process);
      break;
    case 'h':
      name += identity.host;
      break;
    case '%':
      name += '%';
      break;
    default:
      throw Error("the output's name has an unknown placeholder", pattern,
                  "%r (rank), %p (process), %h (host) and %% are known", "write %% for a percent sign", 2);
    }
  }
  std::filesystem::path path = name;
  if (identity.of_many && !names_processes(pattern))
    path.replace_filename(path.stem().string() + ".rank" + identity.rank + path.extension().string());
  return path;
}

} // namespace reprobe::launch
