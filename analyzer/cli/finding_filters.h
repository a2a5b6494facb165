// Which findings the command line wants to see: by line, header and confidence, as clang-tidy's options of
// these names.
#pragma once

#include "analyzer/report/findings.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reprobe::cli {

struct FileLines {
  std::string name;                                           // the end of a path
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lines; // first and last; empty: all
};

struct FindingFilters {
  std::vector<FileLines> lines; // empty: everywhere
  std::string headers,
      excluded_headers;            // POSIX extended regular expressions over absolute paths; empty: none
  std::string confidence = "low";  // at least
  std::vector<std::string> errors; // globs of rules whose findings become errors
};

/// clang-tidy's form: [{"name": "file.cpp", "lines": [[1, 3], [5, 7]]}, {"name": "file.h"}]. Throws
/// reprobe::Error.
std::vector<FileLines> parse_line_filter(const std::string& json);

struct Filtered {
  std::size_t by_lines = 0, by_headers = 0, by_confidence = 0;
};

/// Drops what the filters leave out, suppressed findings too; counts the others only. Throws reprobe::Error
/// for malformed expressions.
Filtered apply(const FindingFilters&, report::Findings&);

/// Whether a clang-tidy style list takes the rule in: the last glob that matches decides, "-glob" takes out.
bool is_listed(const std::vector<std::string>& globs, const std::string& rule);

} // namespace reprobe::cli
