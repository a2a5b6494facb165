// The file system as it is now, each file and folder looked at once a scan. Contents that were hashed by an
// earlier scan are not read again while size, times and inode stay: the time of change of an inode cannot be
// set by archives and package managers, as the time of modification can.
#pragma once

#include "analyzer/scan/facts/observations.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace reprobe::scan {

class FileStates {
public:
  /// `table` keeps the hashes between scans; empty: nothing is kept.
  explicit FileStates(std::filesystem::path table) : table_(std::move(table)) {}

  /// What stands in place of the disk's content: unsaved, or staged.
  void give(const std::string& file, const std::string& text);
  std::optional<Digest> content(const std::string& file);
  bool is_absent(const std::string& folder, const std::string& name);
  /// Whether a parse would see the same.
  bool hold(const Observations&);
  /// Best effort: a table that cannot be written costs the next scan some reading.
  void save();

private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified = 0, changed = 0; // nanoseconds
    bool operator==(const Stamp&) const = default;
  };
  struct Row {
    Stamp stamp;
    Digest digest;
  };
  struct State {
    enum Kind { missing, file, folder, other } kind = missing;
    Stamp stamp;
    std::optional<std::optional<Digest>> content;
  };
  using Rows = std::unordered_map<std::string, Row>;

  State& state(const std::string& path);
  const std::set<std::string>* names(const std::string& folder);
  std::optional<Digest> read(const std::string& file, const Stamp&);
  static Rows load(const std::filesystem::path& table);

  std::filesystem::path table_;
  std::unordered_map<std::string, State> states_;
  std::unordered_map<std::string, std::optional<std::set<std::string>>> names_;
  std::optional<Rows> known_;
  Rows learned_;
};

} // namespace reprobe::scan
