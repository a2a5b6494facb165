// Compile commands: from a database (g++, clang, nvcc) or inferred, to what Clang's library takes.
//
// A database is input, not code to run: only options that facts depend on are passed on (include paths,
// macros, language), everything else is left out; what would have run a program or written a file is named.
#pragma once

#include "analyzer/scan/driver/toolchain.h"

#include <filesystem>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace reprobe::scan {

struct DatabaseEntry {
  std::filesystem::path directory, file; // absolute
  std::vector<std::string> arguments;
};

struct Database {
  std::filesystem::path path;
  std::vector<DatabaseEntry> entries;
  std::unordered_map<std::string, std::vector<std::size_t>> by_file; // indices of entries
  /// All commands of the file, in the database's order.
  std::vector<const DatabaseEntry*> find(const std::filesystem::path& file) const;
};

/// Throws reprobe::Error (exit code 2) when it cannot be read or is not a compilation database.
Database read_database(const std::filesystem::path& file);

struct Translation {
  std::vector<std::string> arguments;  // -I, -D, -std … in their order
  std::string language;                // "c", "c++", "cuda"
  std::vector<std::string> fact_flags; // options that change floating-point results, as written
  std::set<std::string> dropped;       // options that run programs, load code or write files
  std::filesystem::path cuda;          // root of the nvcc that the command starts
  std::set<std::string> unreadable;    // response files
};

Translation translate(const DatabaseEntry&);

/// Shell words of a database's "command".
std::vector<std::string> split_command(const std::string&);

/// "c", "c++", "cuda" or empty: by the file's extension.
std::string language_of(const std::filesystem::path& file);
bool is_header(const std::filesystem::path& file);

/// Command line for Clang's library. `includes` are the project's own folders when there is no database
/// entry.
std::vector<std::string> clang_command(const std::filesystem::path& file, const Translation&,
                                       const Toolchain&, const std::vector<std::string>& extra_arguments);

} // namespace reprobe::scan
