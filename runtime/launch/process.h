// Processes that Reprobe starts: the folder through which it speaks with them, their environment, their end.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reprobe::launch {

/// The private folder through which the observer and the launcher speak; removed at the end.
class RunDirectory {
public:
  RunDirectory();
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

void write_lines(const std::filesystem::path&, const std::vector<std::string>& lines);

using Settings = std::vector<std::pair<std::string, std::string>>; // REPROBE_*

/// What the observer reads: <run directory>/settings, a NAME=value a line, and its lists. Where it is to look up how
/// CUDA results are compared is added.
void write_settings(const std::filesystem::path& run_directory, const Settings&,
                    const std::vector<std::string>& selection = {}, const std::vector<std::string>& windows = {});

std::filesystem::path shim();     // libreprobe-preload.so
std::filesystem::path observer(); // libreprobe-op.so

/// This process's environment without our own variables.
std::vector<std::string> plain_environment();
/// With the shim preloaded, and where it finds its run directory and the observer.
std::vector<std::string> observed_environment(const std::filesystem::path& run_directory, const Settings& more);

/// A signal to us that is not passed on: it flips `flag`.
struct KeptSignal {
  int number = 0;
  std::atomic<std::uint32_t>* flag = nullptr;
};

/// Runs a program to its end; the status as of waitpid. With `streams`, its standard output and error go into that
/// file and it reads nothing. Throws reprobe::Error (exit code 3) when it does not start.
int run(const std::filesystem::path& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& variables,
        const std::optional<std::filesystem::path>& streams = std::nullopt, const KeptSignal& kept = {});

} // namespace reprobe::launch
