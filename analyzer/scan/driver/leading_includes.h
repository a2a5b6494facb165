// Headers that a source includes before it says anything else can be precompiled without changing its
// meaning. Those that it includes on every path, but after code of its own, seldom need that code:
// precompiled they come first.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace reprobe::scan {

struct LeadingIncludes {
  std::vector<std::string> names;     // as written, of headers that are not the user's, before any code
  std::vector<std::string> later;     // after code, under no condition
  std::set<std::string> macros;       // defined or undefined before the last of `names`
  std::set<std::string> later_macros; // anywhere in the source and the user's headers
};

/// `text_of` gives the text of one of the user's own headers, or nothing for others: (includer, name,
/// quoted).
using UserHeader = std::function<std::filesystem::path(const std::filesystem::path& includer,
                                                       const std::string& name, bool quoted)>;
using TextOf = std::function<std::string(const std::filesystem::path&)>;

LeadingIncludes leading_includes(const std::filesystem::path& source, const UserHeader&, const TextOf&);

} // namespace reprobe::scan
