// Files that hold tensors: saved cases ("reprobe-case/1") and results ("reprobe-results/1"). No LibTorch here: the
// launcher reads their headers.
//
//   line 1    "reprobe-file/1 L… H…\n", 64 bytes: the header's length (15 digits) and the hash of header and data
//             (Hash128, 32 digits), in hexadecimal
//   header    JSON; "schema" says what the file holds, "data_bytes" how much follows, and each
//             {"at": N, "bytes": N} in it is a stretch of the data
//   zeros     up to a multiple of 64 bytes
//   data      raw bytes, little-endian, each stretch at a multiple of 64 bytes
//
// Nothing in such a file is executed or trusted: every length is checked before it is used.
#pragma once

#include "runtime/op/hash.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace reprobe::op {

inline constexpr const char* kCaseSchema = "reprobe-case/1";
inline constexpr const char* kResultsSchema = "reprobe-results/1";

/// Why a file cannot be read or written.
struct FileProblem {
  std::string reason;
};

/// Lays out stretches of data before they are written.
class DataLayout {
public:
  nlohmann::json place(std::uint64_t bytes) {
    const std::uint64_t at = end_;
    end_ = (end_ + bytes + 63) / 64 * 64;
    return {{"at", at}, {"bytes", bytes}};
  }
  std::uint64_t bytes() const { return end_; }

private:
  std::uint64_t end_ = 0;
};

/// Writes beside the final name and renames at the end; what was not finished is removed. Throws FileProblem.
class CaseWriter {
public:
  /// `header` gets "data_bytes" from the layout.
  CaseWriter(std::string path, nlohmann::json header, const DataLayout&);
  ~CaseWriter();
  CaseWriter(const CaseWriter&) = delete;
  CaseWriter& operator=(const CaseWriter&) = delete;

  /// The next stretch of the layout, whole.
  void append(const void* bytes, std::size_t size);
  void finish();

private:
  void write(const void* bytes, std::size_t size);

  std::string path_, temporary_;
  int file_ = -1;
  std::uint64_t promised_ = 0, header_bytes_ = 0, written_ = 0;
  Hash128 hash_;
};

struct CaseFile {
  nlohmann::json header;
  std::vector<char> data; // empty when only the header was read

  /// A stretch of the data, as named by an {"at", "bytes"} object; checked against the data. Throws FileProblem.
  std::pair<const char*, std::size_t> stretch(const nlohmann::json&) const;
};

/// Reads and checks the whole file, or the header alone (without its hash). Throws FileProblem.
CaseFile read_case_file(const std::string& path, const std::string& schema, std::uint64_t most_bytes);
nlohmann::json read_case_header(const std::string& path, const std::string& schema);

/// Exchanges the header of a finished file for another, by a copy that is renamed. Throws FileProblem.
void rewrite_case_header(const std::string& path, const nlohmann::json& header);

} // namespace reprobe::op
