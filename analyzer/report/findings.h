// Findings: what `scan` hands to `report`, as "reprobe-findings/1" JSON (rules/schemas/findings.schema.json).
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::report {

struct SourceRange {
  std::string file; // relative to the scan's root, '/' separated
  std::uint32_t line = 0, column = 0, end_line = 0, end_column = 0; // count from 1; 0: not known
};

struct Note {
  SourceRange source;
  std::string message;
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
  std::vector<Note> notes;            // other places that matter: where the flag is set, where the seed is used …
};

struct ExaminedFile {
  std::string file;
  std::string status; // "full", "partial", "failed"
  std::string reason;
  std::vector<std::string> missing_headers;
};

struct Findings {
  bool complete = true; // false: a file failed, or a rule could not be judged
  std::string stage = "paper";
  std::vector<Finding> findings;
  std::vector<ExaminedFile> examined;
  std::vector<std::string> remarks; // what was inferred or dropped, one line each
};

std::string to_json(const Findings&);
Findings findings_from_json(const std::string& text, const std::string& origin); // throws reprobe::Error
void print_text(const Findings&, std::FILE* out, bool color);                    // clang's diagnostic form
/// Writes to a temporary file beside `path` and renames; "-" is standard output. Throws reprobe::Error.
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path); // throws reprobe::Error
/// For terminals: control characters and bidirectional overrides become \xNN.
std::string printable(const std::string& text);
/// `choice` is "auto", "always" or "never"; "auto" heeds NO_COLOR and whether the stream is a terminal.
bool use_color(const std::string& choice, std::FILE* stream);

} // namespace reprobe::report
