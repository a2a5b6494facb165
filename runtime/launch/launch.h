// `reprobe run`: starts a program under the observers, passes its own end on, and writes what was measured.
#pragma once

#include "analyzer/report/measurements.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::launch {

struct LaunchOptions {
  std::vector<std::string> program; // name or path, arguments
  std::filesystem::path executable;                      // what to start; empty: found by the program's name
  std::string output = "reprobe-measurements.json";      // with %r, %p, %h: see output_name.h
  int rounds = 20;                               // re-executions of a call; at least 2
  int per_signature = 1;                         // calls of one signature that are examined
  int every = 1;                                 // of a signature's calls, each how manyeth may be examined
  std::uint64_t skip = 0, steps = 0;             // steps left out at first; steps looked at then, 0: all
  std::vector<std::string> windows;              // globs of range names: only calls inside; empty: all
  std::string signal;                            // "USR1": sent to us, it switches examining on and off
  bool trace_children = true;                    // also processes that the program starts
  std::vector<std::string> operators;            // globs; empty: all
  std::optional<std::filesystem::path> findings; // only calls at these findings' lines, and operators they name
  double budget_seconds = 120;                   // for all re-executions together
  std::optional<std::uint64_t> memory_bytes; // for copies; unset: 2 GiB, at most a quarter of what is free
  std::optional<int> error_exit_code;        // when something varied and the program succeeded
  std::optional<std::filesystem::path> case_directory; // for a case of each examined call
  std::uint64_t case_bytes = std::uint64_t(256) << 20; // of one case, at most
  /// After the program, on the cases, in fresh processes; 0 processes: only for --amp and --strict.
  int processes = 0;
  bool amp = false, strict = false;
  bool verbose = false;
};

struct LaunchOutcome {
  int exit_code = 0; // for `reprobe run` to end with
  std::map<std::filesystem::path, report::Measurements> measurements; // by the file that they are in
};

/// Throws reprobe::Error: exit code 2 for options that make no sense, 3 when the program does not start or
/// the output cannot be written.
LaunchOutcome launch(const LaunchOptions&);

/// For a program that observes itself (reprobe/observe.h): writes into an empty folder what the observer reads.
void prepare(const LaunchOptions&, const std::filesystem::path& run_directory);
/// Writes the measurements of a run whose launcher is gone, and removes its folder. Exit code as of `launch`.
int collect_run(LaunchOptions, const std::filesystem::path& run_directory);

/// "512M", "2GiB", "4096": bytes. Units are powers of 1024. Throws reprobe::Error.
std::uint64_t parse_bytes(const std::string& text);

/// Before hours are spent: can the result be written where it is to go? Throws reprobe::Error.
void check_output(const std::filesystem::path&);
/// For copies, when the user names no amount: 2 GiB, at most a quarter of what is free.
std::uint64_t default_memory();

/// Finds libreprobe-preload.so and its kin: $REPROBE_LIBRARY_DIR, or ../lib beside this executable.
std::filesystem::path library_directory();

} // namespace reprobe::launch
