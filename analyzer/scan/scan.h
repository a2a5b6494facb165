// The scan half: paths in, findings out. Parses with Clang (facts), reasons over them (flow), applies rules (judge).
#pragma once

#include "analyzer/report/findings.h"
#include "rules/registry.h"

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Options {
  std::vector<std::filesystem::path> paths;      // files or folders; empty: the current folder
  std::filesystem::path database;                // compile_commands.json or the folder that holds it; empty: look for one
  std::vector<std::string> extra_arguments;      // appended to each compile command
  std::vector<std::string> rules;                // globs; empty: all
  std::string stage = "paper";                   // prototype, tuning, paper, deploy
  std::filesystem::path torch_root, cuda_root;   // empty: look for them
  unsigned jobs = 0;                             // 0: one a core
  bool cache = false;                            // keep facts and precompiled headers between scans
  std::filesystem::path cache_folder;            // empty: the user's cache folder
  bool verbose = false;
  bool facts_only = false;                       // for tests and other tools: print facts as JSON lines, no judging
};

/// Never throws for what a source file contains; throws reprobe::Error for unusable options and paths.
report::Findings scan(const Options&, const rules::Registry&);

} // namespace reprobe::scan
