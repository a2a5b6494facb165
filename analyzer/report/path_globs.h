// Paths by glob, as .gitignore writes them: `*` and `?` stay within a folder, `**` crosses folders, a pattern
// without
// "/" matches a file or folder of that name anywhere, one that names a folder matches everything below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reprobe::report {

/// `path` is relative to the folder that the glob speaks of, with "/" between its parts.
bool matches_path(std::string_view glob, std::string_view path);
bool matches_any(const std::vector<std::string>& globs, std::string_view path);

} // namespace reprobe::report
