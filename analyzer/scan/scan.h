// The scan half: paths in, findings out. Parses with Clang (facts), reasons over them (flow), applies rules (judge).
#pragma once

#include "analyzer/report/findings.h"
#include "rules/registry.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Options {
  std::vector<std::filesystem::path> paths;      // files or folders; empty: the current folder
  std::filesystem::path database;                // compile_commands.json or the folder that holds it; empty: look for one
  std::vector<std::string> extra_arguments;      // appended to each compile command
  std::vector<std::string> extra_arguments_before; // put before its other arguments
  std::function<bool(const std::filesystem::path& file)> excluded; // absolute; true: not scanned. Empty: nothing is
  std::vector<std::string> rules;                // globs, "-glob" takes out, the last that matches decides; empty: all
  std::string stage = "paper";                   // prototype, tuning, paper, deploy
  std::filesystem::path torch_root, cuda_root;   // empty: look for them
  unsigned jobs = 0;                             // 0: one a core
  /// Of a rule's findings in a file (absolute): "off", "note", "warning", "error". Empty: the stage's.
  std::function<std::string(const rules::Rule&, const std::filesystem::path& file)> severity;
  std::vector<std::string> deterministic;        // globs of functions, kernels and operators that no rule speaks of
  std::map<std::string, std::chrono::nanoseconds>* rule_times = nullptr; // filled with the time each rule took
  bool cache = false;                            // keep facts and precompiled headers between scans
  std::filesystem::path cache_folder;            // empty: the user's cache folder
  bool verbose = false;
  bool facts_only = false;                       // for tests and other tools: print facts as JSON lines, no judging
};

/// Whether `Options::rules` takes the rule in.
bool is_selected(const rules::Rule&, const std::vector<std::string>& globs);

/// Never throws for what a source file contains; throws reprobe::Error for unusable options and paths.
report::Findings scan(const Options&, const rules::Registry&);

} // namespace reprobe::scan
