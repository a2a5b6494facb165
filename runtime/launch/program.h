// What can be known of a program before it starts.
#pragma once

#include <filesystem>
#include <string>

namespace reprobe::launch {

/// The file that execvp would run. Throws reprobe::Error (exit code 3): not found, not executable, a folder.
std::filesystem::path find_program(const std::string& name);

/// Why the program cannot be observed; empty when nothing speaks against it (scripts and launchers included).
/// `harmful`: preloading would keep it from starting.
struct Obstacle {
  std::string reason;
  bool harmful = false;
};
Obstacle obstacle_to_observing(const std::filesystem::path& program);

} // namespace reprobe::launch
