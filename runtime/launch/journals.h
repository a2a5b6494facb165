// The run directory after the program's end: what each process wrote, merged into measurements.
#pragma once

#include "analyzer/report/measurements.h"

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::launch {

struct Collected {
  std::vector<report::Measurement> entries;
  nlohmann::json environment = nlohmann::json::object();
  std::size_t observed_processes = 0, unfinished_processes = 0;
  std::string replaying;             // the operator whose re-execution was cut off, if one was
  std::vector<std::string> remarks;  // one line each
  std::vector<std::string> unused_cases; // of calls that were the same as another in another process or signature
  std::vector<std::string> refusals; // why processes were not observed, without repetition
};

/// A "measured" or "replayed" line of a journal.
void read_measurement(const nlohmann::json& line, report::Measurement&);

Collected collect(const std::filesystem::path& run_directory);

} // namespace reprobe::launch
