// Saved cases re-executed in fresh processes: by the helper reprobe-replay where LibTorch has the operator, by the
// program itself, started again with the replayer in place of its main, where the program registers it.
#pragma once

#include "analyzer/report/measurements.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::launch {

struct ReplayOptions {
  int rounds = 20;   // executions in one process
  int processes = 1; // fresh ones, for each mode
  bool as_recorded = true; // under the flags that the program had
  bool amp = false;        // fp32, tf32, autocast-float16, autocast-bfloat16
  bool strict = false;     // deterministic-off, warn-only, deterministic-on
  double seconds_per_case = 60;
  std::uint64_t memory_bytes = std::uint64_t(2) << 30;
  /// Starts operators that the program registers. `trust_program`: the one that the case names.
  std::vector<std::string> program;
  bool trust_program = false;
};

struct ReplayOutcome {
  std::vector<std::string> remarks;
  nlohmann::json environment = nlohmann::json::object();
};

/// Measures each entry's case (its `case_file`, not empty) and adds to the entry what came out: its own verdict and
/// numbers where it has none yet, `processes` and `modes`.
ReplayOutcome replay_into(std::vector<report::Measurement>& entries, const ReplayOptions&);

/// What a case is of, not examined yet. A file that is no case becomes an entry that says so.
report::Measurement entry_of_case(const std::filesystem::path&);

/// After a run: writes the source of each entry into its case, and makes `case_file` a path.
void complete_cases(std::vector<report::Measurement>& entries, const std::filesystem::path& directory,
                    std::vector<std::string>& remarks);

struct ReplayCommand {
  std::vector<std::filesystem::path> cases; // files, or folders of them
  std::filesystem::path output = "reprobe-measurements.json";
  ReplayOptions options;
};
/// `reprobe replay`: 0, 1 when something varies, 3 when nothing could be examined. Throws reprobe::Error.
int replay(const ReplayCommand&);

/// Lines for people: what still varies under deterministic algorithms first, then the rest of --strict, then --amp.
std::vector<std::string> modes_text(const std::vector<report::Measurement>&);

} // namespace reprobe::launch
