// The command line of `reprobe scan`: what each topic's options fill. One function a topic adds its options.
#pragma once

#include "analyzer/scan/scan.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::cli {

struct OutputOptions {
  std::string format = "text", color = "auto";
  bool format_given = false;
  std::vector<std::string> files; // "FILE" or "FORMAT:FILE"
  bool quiet = false;
};

struct ScanArguments {
  scan::Options options;
  OutputOptions output;
  std::filesystem::path config;
  bool require_complete = false, list_rules = false, stage_given = false;
};

void add_input_options(CLI::App&, ScanArguments&);
void add_rule_options(CLI::App&, ScanArguments&);
void add_output_options(CLI::App&, ScanArguments&);

} // namespace reprobe::cli
