// Findings: what `scan` hands to `report`, as "reprobe-findings/1" JSON (rules/schemas/findings.schema.json).
#pragma once

#include "analyzer/report/escape.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace reprobe::report {

struct SourceRange {
  std::string file; // relative to the scan's root, '/' separated
  std::uint32_t line = 0, column = 0, end_line = 0, end_column = 0; // count from 1, columns in bytes; 0: not known
  std::string text{}; // the line as the source has it; empty: not known
};

struct Note {
  SourceRange source;
  std::string message;
};

/// Bytes of a source file that one right answer takes the place of.
struct Replacement {
  SourceRange source;
  std::uint32_t offset = 0, length = 0; // in bytes, from 0
  std::string before, after;
  std::string digest; // of the file as it was parsed: xxHash3, 16 hexadecimal digits
};

/// Why a finding is not reported: a NOLINT comment ("in-source") or the baseline ("baseline").
struct Suppression {
  std::string kind;
  std::string reason; // as the comment gives it; often empty
  SourceRange source; // of the comment
};

struct Finding {
  std::string rule;
  std::string severity;   // "note", "warning", "error": of the rule at the scan's stage
  std::string confidence; // "high", "medium", "low"
  std::string message;    // one sentence: what is there and why it matters
  std::string fix;        // what to write instead
  SourceRange source;
  std::string function;               // qualified name of the enclosing function
  std::vector<std::string> operators; // dispatcher names without overload, forward and backward: joins measurements
  std::string direction;              // "forward", "backward", "both" or empty
  std::vector<std::string> devices;   // "cuda", "cpu": where it varies; empty: anywhere. Elsewhere, measuring says nothing
  std::vector<std::string> kernels;   // for findings inside kernels
  std::vector<std::string> tags;      // catalogue ids
  std::vector<Replacement> replacements; // together they mend it; empty where that takes a choice
  std::vector<Note> notes;            // other places that matter: where the flag is set, where the seed is used …
  std::string fingerprint;            // of rule, function and source text, not of the line's number; empty: not made
  std::optional<Suppression> suppression; // of those in Findings::suppressed
};

struct ExaminedFile {
  std::string file;
  std::string status; // "full", "partial", "failed"
  std::string reason;
  std::vector<std::string> missing_headers;
};

struct NotJudged {
  std::string rule, reason;
};

struct Findings {
  bool complete = true; // false: a file failed, or a rule could not be judged
  std::string stage = "paper";
  std::vector<Finding> findings;
  std::vector<Finding> suppressed; // found, but accepted by a NOLINT comment or a baseline
  std::vector<ExaminedFile> examined;
  std::vector<NotJudged> not_judged; // rules that the stage asks for
  std::vector<std::string> remarks; // what was inferred or dropped, one line each
  std::filesystem::path root;       // absolute; what relative files are relative to. Not in the JSON
  std::set<std::string> user_files; // the user's own files that were read, headers too. Not in the JSON
};

std::string to_json(const Findings&);
Findings findings_from_json(const std::string& text, const std::string& origin); // throws reprobe::Error
Findings findings_from_document(const nlohmann::ordered_json&, const std::string& origin);
/// Writes to a temporary file beside `path` and renames; "-" is standard output. Throws reprobe::Error.
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path); // throws reprobe::Error
/// `choice` is "auto", "always" or "never"; "auto" heeds NO_COLOR and whether the stream is a terminal.
bool use_color(const std::string& choice, std::FILE* stream);

} // namespace reprobe::report
