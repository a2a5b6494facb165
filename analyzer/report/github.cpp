// GitHub workflow commands, one line a finding. Without escapes a message could end its command and start
// another.
#include "analyzer/report/renderer.h"

#include <fmt/format.h>

namespace reprobe::report {
namespace {

std::string data(const std::string& text) {
  std::string result;
  for (const char c : printable_lines(text)) {
    switch (c) {
    case '%':
      result += "%25";
      break;
    case '\n':
      result += "%0A";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string property(const std::string& text) {
  std::string result;
  for (const char c : data(printable(text))) {
    switch (c) {
    case ':':
      result += "%3A";
      break;
    case ',':
      result += "%2C";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string position(const SourceRange& at) {
  std::string text = fmt::format("file={}", property(at.file));
  if (at.line)
    text += fmt::format(",line={}", at.line);
  if (at.end_line)
    text += fmt::format(",endLine={}", at.end_line);
  // GitHub wants columns within one line.
  if (at.column && (at.end_line == 0 || at.end_line == at.line))
    text += fmt::format(",col={}", at.column);
  if (at.end_column && at.end_line == at.line)
    text += fmt::format(",endColumn={}", at.end_column);
  return text;
}

} // namespace

std::string render_github(const RenderInput& input) {
  std::string text;
  for (const Finding& finding : input.findings.findings) {
    const std::string message =
        printable(finding.message) + (finding.fix.empty() ? "" : "\nfix: " + printable(finding.fix));
    text += fmt::format("::{} {},title={}::{}\n", finding.severity == "note" ? "notice" : finding.severity,
                        position(finding.source), property(finding.rule), data(message));
  }
  for (const ExaminedFile& file : input.findings.examined)
    if (file.status == "failed")
      text +=
          fmt::format("::warning file={},title=not examined::{}\n", property(file.file), data(file.reason));
  return text;
}

} // namespace reprobe::report
