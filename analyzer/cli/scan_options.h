// The command line of `reprobe scan`: what each topic's options fill. One function a topic adds its options.
#pragma once

#include "analyzer/cli/finding_filters.h"
#include "analyzer/scan/scan.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::cli {

struct OutputOptions {
  std::string format = "text", color = "auto";
  bool format_given = false;
  std::vector<std::string> files;  // "FILE" or "FORMAT:FILE"
  std::string category;            // SARIF's automationDetails
  std::string fail_on = "warning"; // the severity from which findings make the exit code 1; "never"
  bool quiet = false, profile = false;
};

struct ConfigOptions {
  std::filesystem::path file; // empty: the nearest .reprobe.yaml
  bool verify = false, dump = false;
};

struct BaselineOptions {
  std::filesystem::path file;  // empty: the configuration's, if any
  std::filesystem::path write; // all findings go there
  bool update = false, prune = false;
};

struct ScanArguments {
  scan::Options options;
  OutputOptions output;
  ConfigOptions config;
  BaselineOptions baseline;
  FindingFilters filters;
  std::filesystem::path stdin_filename; // the file whose text is on standard input
  std::string fix;                      // "apply", "diff" or empty
  std::filesystem::path export_fixes;
  std::filesystem::path depfile;
  bool require_complete = false, list_rules = false, stage_given = false;
};

void add_input_options(CLI::App&, ScanArguments&);
void add_selection_options(CLI::App&, ScanArguments&);
void add_fix_options(CLI::App&, ScanArguments&);
void add_rule_options(CLI::App&, ScanArguments&);
void add_filter_options(CLI::App&, ScanArguments&);
void add_baseline_options(CLI::App&, ScanArguments&);
void add_output_options(CLI::App&, ScanArguments&);

/// Writes the fixes asked for. Findings that were mended in place are taken out.
void handle_fixes(const ScanArguments&, report::Findings&);
/// Takes the text of `stdin_filename` from standard input.
void read_unsaved_text(ScanArguments&);

} // namespace reprobe::cli
