// The run directory after the program's end: what each process wrote, merged into measurements.
#pragma once

#include "analyzer/report/measurements.h"
#include "runtime/launch/output_name.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reprobe::launch {

struct Collected {
  std::vector<report::Measurement> entries;
  nlohmann::json flags = nlohmann::json::array(); // changes, as the measurements list them
  std::uint64_t outside = 0;                      // calls outside of the steps and windows asked for
  nlohmann::json environment = nlohmann::json::object();
  std::size_t observed_processes = 0, unfinished_processes = 0;
  std::string replaying;             // the operator whose re-execution was cut off, if one was
  std::vector<std::string> remarks;  // one line each
  std::vector<std::string> unused_cases; // of calls that were the same as another in another process or signature
  std::vector<std::string> refusals; // why processes were not observed, without repetition
};

/// A "measured" or "replayed" line of a journal.
void read_measurement(const nlohmann::json& line, report::Measurement&);

/// Everything of a run, or by the file that each process's measurements go to.
Collected collect(const std::filesystem::path& run_directory);
std::map<std::filesystem::path, Collected>
collect_by(const std::filesystem::path& run_directory,
           const std::function<std::filesystem::path(const Identity&)>& output_of);

} // namespace reprobe::launch
