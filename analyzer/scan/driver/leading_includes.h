// What a source includes before it says anything else: those headers can be precompiled without changing its meaning.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace reprobe::scan {

struct LeadingIncludes {
  std::vector<std::string> names; // as written, of headers that are not the user's
  std::set<std::string> macros;   // defined on the way
};

/// `text_of` gives the text of one of the user's own headers, or nothing for others: (includer, name, quoted).
using UserHeader =
    std::function<std::filesystem::path(const std::filesystem::path& includer, const std::string& name, bool quoted)>;
using TextOf = std::function<std::string(const std::filesystem::path&)>;

LeadingIncludes leading_includes(const std::filesystem::path& source, const UserHeader&, const TextOf&);

} // namespace reprobe::scan
