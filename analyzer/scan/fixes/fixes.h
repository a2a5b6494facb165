// Findings that have one right answer, mended: in place, as a diff to read, or as a file for
// clang-apply-replacements.
#pragma once

#include "analyzer/report/findings.h"

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::scan {

struct FixedFile {
  std::filesystem::path path; // absolute
  std::string name;           // as findings name it
  std::string before, after;
};

struct Fixes {
  std::vector<FixedFile> files;
  std::vector<std::size_t> mended;   // indices of the findings, ascending
  std::vector<std::string> refusals; // one sentence a finding that has replacements and was left alone
};

/// What mending would do; writes nothing. A finding is left alone when its file lies outside `root`, is no
/// longer as it was parsed, or when another finding's replacement overlaps.
Fixes plan_fixes(const report::Findings&, const std::filesystem::path& root);

/// Each file is replaced as a whole, so that a reader sees the old or the new text. Throws reprobe::Error.
void write_fixes(const Fixes&);

/// Unified, with three lines of context, as `patch -p1` and `git apply` take it.
std::string to_diff(const Fixes&);

/// All findings with replacements, for clang-apply-replacements.
std::string to_replacements_yaml(const report::Findings&, const std::filesystem::path& root);

} // namespace reprobe::scan
