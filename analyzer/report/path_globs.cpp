#include "analyzer/report/path_globs.h"

#include <algorithm>
#include <fnmatch.h>

namespace reprobe::report {
namespace {

constexpr std::size_t kMostParts = 2048; // of a pattern or a path: as many as the longest path can have

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty() && parts.size() < kMostParts) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0 && path.substr(0, slash) != ".")
      parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

// Whether the pattern matches the path or a folder above it. Row i of the table: pattern parts up to i.
bool matches_parts(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  std::vector<bool> reached(path.size() + 1,
                            false); // the pattern so far can end before this part of the path
  reached[0] = true;
  for (const std::string& part : pattern) {
    std::vector<bool> next(path.size() + 1, false);
    for (std::size_t at = 0; at <= path.size(); ++at) {
      if (part == "**")
        next[at] = reached[at] || (at > 0 && next[at - 1]);
      else if (at > 0)
        next[at] = reached[at - 1] && ::fnmatch(part.c_str(), path[at - 1].c_str(), 0) == 0;
    }
    reached = std::move(next);
  }
  return std::find(reached.begin() + 1, reached.end(), true) != reached.end();
}

} // namespace

bool matches_path(std::string_view glob, std::string_view path) {
  std::vector<std::string> pattern = parts_of(glob);
  if (pattern.empty())
    return glob == "." || glob == "/"; // the folder itself: everything
  if (pattern.size() == kMostParts)
    return false; // what is left of it would match more than it says
  const std::size_t slash = glob.find('/');
  if (slash == glob.npos || slash == glob.size() - 1)
    pattern.insert(pattern.begin(), "**");
  return matches_parts(pattern, parts_of(path));
}

bool matches_any(const std::vector<std::string>& globs, std::string_view path) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_path(glob, path); });
}

} // namespace reprobe::report
