// All the `.reprobe.yaml` files that a scan meets, and what they say together: the nearest file at or above a
// source counts for it, with the files above that as far as `inherit` reaches.
#pragma once

#include "analyzer/cli/config.h"

#include <map>
#include <string>

namespace reprobe::cli {

/// What counts for the sources of one folder: the outermost file first, the nearest last.
struct EffectiveConfig {
  std::vector<const Config*> files;

  std::string stage(const std::string& otherwise) const;
  /// "off", "note", "warning" or "error" of the rule's findings in a file; `forced_stage` overrides the
  /// files'.
  std::string severity(const rules::Rule&, const std::filesystem::path& file, const std::string& stage,
                       bool stage_is_forced) const;
  bool is_excluded(const std::filesystem::path& file) const;
  std::optional<std::filesystem::path> baseline() const;
};

class ConfigSet {
public:
  /// With `only`, that file counts for every source, and no other.
  explicit ConfigSet(const rules::Registry& registry, std::optional<std::filesystem::path> only = {})
      : registry_(registry), only_(std::move(only)) {}

  /// `file` is absolute and need not exist. Throws reprobe::Error for files that cannot be understood.
  const EffectiveConfig& for_file(const std::filesystem::path& file);
  /// The same for the sources directly in a folder.
  const EffectiveConfig& for_folder(const std::filesystem::path& folder);

  /// Files met so far that are not part of `top` and hold what only counts there: tables, options, names of
  /// deterministic functions.
  std::vector<const Config*> beyond(const EffectiveConfig& top) const;

private:
  const Config& load(const std::filesystem::path&);

  const rules::Registry& registry_;
  std::optional<std::filesystem::path> only_;
  std::map<std::filesystem::path, Config> files_;
  std::map<std::filesystem::path, EffectiveConfig> folders_;
};

/// The registry with what the project says: its rows come first, its options replace the rules'.
rules::Registry customized(const rules::Registry&, const EffectiveConfig&);

/// As a `.reprobe.yaml` that says the same by itself.
std::string dump(const EffectiveConfig&, const std::filesystem::path& file, const rules::Registry&,
                 const std::string& stage, bool stage_is_forced);

} // namespace reprobe::cli
