// `.reprobe.yaml`: what a project says about how it wants to be scanned. The nearest one at or above the scanned path
// counts. Keys: `stage` (prototype, tuning, paper, deploy) and `rules` (rule id or glob to off, note, warning, error).
#pragma once

#include "analyzer/report/findings.h"
#include "rules/registry.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reprobe::cli {

struct Config {
  std::filesystem::path path;
  std::optional<std::string> stage;
  std::vector<std::pair<std::string, std::string>> severities; // glob to severity; the last that matches counts
};

/// Throws reprobe::Error naming file, line and what to write instead, on anything it does not understand.
Config parse_config(const std::string& text, const std::filesystem::path& path, const rules::Registry&);
/// The nearest `.reprobe.yaml` at or above `start`, if any.
std::optional<std::filesystem::path> find_config(const std::filesystem::path& start);
/// Drops findings of rules that are off and sets the severities that the config names.
void apply_config(const Config&, report::Findings&);

} // namespace reprobe::cli
