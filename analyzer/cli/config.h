// `.reprobe.yaml`: what a project says about how it wants to be scanned, and what it knows of its own code.
// One file here; how the files of a tree go together is in config_set.h. rules/schemas/config.schema.json
// says the same.
//
//   inherit: true                      the next file above counts as well; what is said here comes after it
//   stage: paper                       prototype, tuning, paper or deploy
//   paths: [src, tools]                only these are scanned; globs as in .gitignore, relative to this file
//   exclude: ["**/generated"]          these are not
//   baseline: reprobe-baseline.json    accepted findings
//   rules:
//     float-atomic: off                rule or glob: off, note, warning, error
//     "*-seed": {severity: error, stage: …, paths: […], exclude: […], options: {…}}
//   deterministic: ["mylib::*"]        functions, kernels and operators that are known to be deterministic
//   tables:                            rows as in rules/tables: the project's seed helpers, generators,
//   operators …
//     generators: [{role: seeds, generator: torch, symbols: ["mylib::seed_all"], argument: 0}]
#pragma once

#include "rules/registry.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::cli {

struct RuleSetting {
  std::string glob;                 // of rule ids
  std::string severity, stage;      // empty: not said
  std::vector<std::string> paths;   // where the rule looks; empty: everywhere
  std::vector<std::string> exclude; // where it does not
  nlohmann::json options = nlohmann::json::object();
};

struct Config {
  std::filesystem::path path; // empty: no file
  bool inherit = false;
  std::optional<std::string> stage;
  std::vector<std::string> paths, exclude;
  std::optional<std::filesystem::path> baseline; // absolute or relative to the current folder, as `path` is
  std::vector<RuleSetting> rules;                // in the order of the file: the last that matches counts
  std::vector<std::string> deterministic;
  std::map<std::string, nlohmann::json> tables; // name to rows
};

/// Throws reprobe::Error naming file, line, column and what to write instead, on anything it does not
/// understand.
Config parse_config(const std::string& text, const std::filesystem::path& path, const rules::Registry&);

/// The nearest `.reprobe.yaml` at or above `start`, if any.
std::optional<std::filesystem::path> find_config(const std::filesystem::path& start);

} // namespace reprobe::cli
