// Processes that Reprobe starts: the folder through which it speaks with them, their environment, their end.
#pragma once

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
  void write(const char* name, const std::vector<std::string>& lines) const;

private:
  std::filesystem::path path_;
};

using Settings = std::vector<std::pair<std::string, std::string>>; // REPROBE_* variables

/// This process's environment without our own variables.
std::vector<std::string> plain_environment();
/// With the shim preloaded, and where it finds its run directory and libraries.
std::vector<std::string> observed_environment(const std::filesystem::path& run_directory, const Settings&);

/// Runs a program to its end; the status as of waitpid. With `streams`, its standard output and error go into that
/// file and it reads nothing. Throws reprobe::Error (exit code 3) when it does not start.
int run(const std::filesystem::path& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& variables,
        const std::optional<std::filesystem::path>& streams = std::nullopt);

/// Lines of <run directory>/not-replayed: glob, tab, reason.
std::vector<std::string> operators_not_replayed();

} // namespace reprobe::launch
