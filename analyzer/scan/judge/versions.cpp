#include "analyzer/scan/judge/versions.h"

#include <sstream>
#include <vector>

namespace reprobe::scan {
namespace {

std::vector<int> parts_of(const std::string& version) {
  std::vector<int> parts;
  std::istringstream text(version);
  for (std::string part; std::getline(text, part, '.');) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos || part.size() > 6)
      break;
    parts.push_back(std::stoi(part));
  }
  return parts;
}

// As far as both say: 2.9.1 is neither before nor after 2.9.
int compare(const std::vector<int>& a, const std::vector<int>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

} // namespace

Applies version_applies(const TranslationUnit& unit, const std::string& since, const std::string& until) {
  if (since.empty() && until.empty())
    return Applies::yes;
  const std::vector<int> version = parts_of(unit.libtorch_version);
  if (version.empty())
    return Applies::unsure;
  const bool within = (since.empty() || compare(version, parts_of(since)) >= 0) &&
                      (until.empty() || compare(version, parts_of(until)) <= 0);
  if (within)
    return Applies::yes;
  return unit.inferred_flags ? Applies::unsure : Applies::no;
}

} // namespace reprobe::scan
