#include "analyzer/scan/selection/selection.h"

#include <algorithm>

namespace reprobe::scan {

const ChangedFile* Selection::find(const std::filesystem::path& file) const {
  const auto found = std::lower_bound(files.begin(), files.end(), file,
                                      [](const ChangedFile& a, const auto& b) { return a.path < b; });
  return found != files.end() && found->path == file ? &*found : nullptr;
}

bool Selection::changes(const std::filesystem::path& file, std::uint32_t first, std::uint32_t last) const {
  const ChangedFile* changed = find(file);
  if (!changed)
    return false;
  return changed->whole ||
         std::any_of(changed->lines.begin(), changed->lines.end(), [&](const LineRange& range) {
           return range.first <= std::max(first, last) && first <= range.last;
         });
}

} // namespace reprobe::scan
