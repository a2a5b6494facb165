// Compiler options that build files spell out: what is known of a build that left no compilation database.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::scan {

/// Options in the text of one build file, without those in comments. `path` becomes BuildFlag::file.
std::vector<BuildFlag> build_flags_in(const std::string& text, const std::string& path);

/// Macros that the text defines, as "NAME" or "NAME=value": -D options, CMake's compile definitions,
/// define_macros of setup.py.
std::vector<std::string> definitions_in(const std::string& text);

/// Options in the build files (CMake, Make, setup.py, Bazel, Meson) of the folders that hold the sources, and
/// of those above them up to `root`. Files are named relative to `root`.
std::vector<BuildFlag> read_build_flags(const std::vector<std::filesystem::path>& sources,
                                        const std::filesystem::path& root);
/// What they define, as in `definitions_in`.
std::vector<std::string> read_definitions(const std::vector<std::filesystem::path>& sources,
                                          const std::filesystem::path& root);

} // namespace reprobe::scan
