// The scan half: paths in, findings out. Parses with Clang (facts), reasons over them (flow), applies rules
// (judge).
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
  bool cache = false;                            // keep facts and precompiled headers between scans
  std::filesystem::path cache_folder;            // empty: the user's cache folder
  /// Of a rule's findings in a file (absolute): "off", "note", "warning", "error". Empty: the stage's.
  std::function<std::string(const rules::Rule&, const std::filesystem::path& file)> severity;
  std::vector<std::string> deterministic;        // globs of functions, kernels and operators that no rule speaks of
  std::map<std::string, std::chrono::nanoseconds>* rule_times = nullptr; // filled with the time each rule took
  bool verbose = false;
  bool facts_only = false;                       // for other tools: make facts, judge nothing
  std::vector<std::filesystem::path> from_facts; // files of facts to judge; then nothing is parsed

  // Which part of a project is parsed. Rules that need the whole project are then not judged.
  std::string changed_since;    // revision: only files that differ from it
  bool staged = false;          // only what the next commit changes, as it is staged
  bool whole_files = false;     // findings on all lines of changed files, not on changed lines only
  bool part_of_project = false; // the named paths are a part
  std::map<std::string, std::string> contents; // absolute path to text that replaces what is on disk
  bool selects() const { return staged || !changed_since.empty(); }
  bool is_partial() const { return selects() || part_of_project; }
};

/// Whether `Options::rules` takes the rule in.
bool is_selected(const rules::Rule&, const std::vector<std::string>& globs);

/// Never throws for what a source file contains; throws reprobe::Error for unusable options and paths.
report::Findings scan(const Options&, const rules::Registry&);

/// The first step alone, to be judged elsewhere.
struct Facts {
  std::string lines;                 // JSON, one translation unit a line
  std::vector<std::string> problems; // sources that could not be examined
  std::vector<std::filesystem::path> reads; // the user's own files that were read, absolute, sorted
};
Facts facts(const Options&);

} // namespace reprobe::scan
