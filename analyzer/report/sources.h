// Lines of the scanned sources, for carets and fingerprints.
#pragma once

#include "analyzer/report/findings.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reprobe::report {

class Sources {
public:
  /// Relative files lie below `root`.
  explicit Sources(std::filesystem::path root) : root_(std::move(root)) {}
  /// Contents (staged, unsaved) that count instead of the disk's.
  void put(const std::filesystem::path& file, std::string text);
  /// Without its line break; empty when the file cannot be read or has no such line. Lines count from 1.
  std::string_view line(const std::string& file, std::uint32_t number);

private:
  struct File {
    std::string text;
    std::vector<std::size_t> starts; // of the lines
  };
  const File& load(const std::string& file);
  static File split(std::string text);

  std::filesystem::path root_;
  std::map<std::filesystem::path, File> files_;
};

/// Gives findings and notes, suppressed ones too, the text of their lines.
void add_lines(Findings&, Sources&);

/// Gives findings, suppressed ones too, their fingerprints: 32 hexadecimal digits made of rule, enclosing function,
/// the line's text without blanks, and a count where these are equal in one file. Moved code keeps its fingerprint,
/// in a renamed file too. Needs the lines' texts (`add_lines`); without one the message counts instead.
void add_fingerprints(Findings&);

/// 32 hexadecimal digits.
std::string hash_of(std::string_view text);

} // namespace reprobe::report
