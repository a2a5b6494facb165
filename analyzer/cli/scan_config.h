// The configuration's part of `reprobe scan`: which files count, and what they make of the scan's options.
#pragma once

#include "analyzer/cli/config_set.h"
#include "analyzer/cli/scan_options.h"

namespace reprobe::cli {

/// Lives as long as the scan: the options refer to it.
class ScanConfig {
public:
  /// Reads the configuration of the first path, and fills what it decides in the options. Throws
  /// reprobe::Error.
  explicit ScanConfig(ScanArguments&);
  ScanConfig(const ScanConfig&) = delete;
  ScanConfig& operator=(const ScanConfig&) = delete;

  const rules::Registry& registry() const { return registry_; }
  std::optional<std::filesystem::path> baseline() const { return top_.baseline(); }
  /// `file` is absolute.
  std::string severity(const rules::Rule&, const std::filesystem::path& file);
  /// What of the files met on the way counted for nothing, one line each.
  std::vector<std::string> remarks() const;

private:
  ScanArguments& arguments_;
  ConfigSet files_;
  const EffectiveConfig& top_;
  rules::Registry registry_;
};

/// --verify-config and --dump-config; returns the exit code.
int show_config(const ScanArguments&);

} // namespace reprobe::cli
