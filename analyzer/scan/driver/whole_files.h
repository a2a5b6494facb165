// Files of the cache: written whole or not at all, and known to be whole when read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace reprobe::scan {

/// Nothing when it is no regular file or cannot be read.
std::optional<std::string> read_whole(const std::filesystem::path& file);

/// Appears under its name only when complete; false when the disk is full or the folder read-only.
bool write_whole(const std::filesystem::path& file, std::string_view text);

/// With a first line that tells what it is, and a hash: a file that a crash or the disk has damaged reads as
/// nothing.
bool write_checked(const std::filesystem::path& file, std::string_view magic, std::string_view content);
std::optional<std::string> read_checked(const std::filesystem::path& file, std::string_view magic);

} // namespace reprobe::scan
