// Questions about paths that never throw, and which folders are not the project's own sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace reprobe::scan {

bool is_regular(const std::filesystem::path&);
bool is_folder(const std::filesystem::path&);
/// Also a link that leads nowhere.
bool is_there(const std::filesystem::path&);
/// Absolute, without links as far as it exists.
std::filesystem::path real_path(const std::filesystem::path&);
/// By their names alone; a path lies below itself.
bool lies_below(const std::filesystem::path&, const std::filesystem::path& folder);

constexpr std::uintmax_t kLargestSource = 16u << 20; // bytes; larger ones are generated

/// A folder of this name holds other people's code.
bool is_third_party(const std::string& name);
bool is_build_folder(const std::filesystem::path&);

} // namespace reprobe::scan
