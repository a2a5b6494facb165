// Makes a precompiled header of one of the large headers (torch/torch.h …), so that the files that begin with it are
// parsed in a fraction of a second. Bodies of its functions are left out, as facts never need them.
#pragma once

#include "analyzer/scan/facts/observations.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace reprobe::scan {

struct PrecompileRequest {
  std::filesystem::path directory;
  std::vector<std::string> command; // clang's, without a source file
  std::string header;               // as in #include <…>
  std::map<std::string, std::string> virtual_files;
  std::filesystem::path output; // the file to write
  std::filesystem::path cache;
};

struct Precompiled {
  std::string problem;                    // empty: made
  Observations seen;
  std::set<std::string> include_names;    // all that it includes or asks for with __has_include, as written
  std::vector<std::uint64_t> identifiers; // hashes, sorted, of all that the preprocessor came across
};

Precompiled precompile(const PrecompileRequest&);

/// The file that a precompiled header was made of; Clang wants to find it again.
inline constexpr const char* kPrefixFile = "/reprobe-generated/prefix.cpp";
std::string prefix_text(const std::string& header);

/// As in `identifiers`.
std::uint64_t identifier_hash(std::string_view identifier);

} // namespace reprobe::scan
