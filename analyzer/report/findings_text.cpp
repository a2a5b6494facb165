// Findings as Clang prints diagnostics: place, message, rule, and the source line with a caret.
#include "analyzer/report/palette.h"
#include "analyzer/report/renderer.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::report {
namespace {

constexpr std::size_t kWidest = 160,
                      kBefore = 60; // bytes of a source line that are shown, and of those before the caret
constexpr std::size_t kTab = 4;

// As shown: tabs widened, what could deceive made visible.
std::string shown(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t tab = std::min(text.find('\t', at), text.size());
    result += printable(text.substr(at, tab - at));
    if (tab < text.size())
      result.append(kTab - characters_before(result, result.size()) % kTab, ' ');
    at = tab + 1;
  }
  return result;
}

std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
    --at;
  return std::min(at, text.size());
}

std::string snippet(const SourceRange& at, const Palette& palette) {
  if (at.text.empty() || at.column == 0 || at.column > at.text.size() + 1)
    return {};
  std::string_view line = at.text;
  std::size_t caret = at.column - 1;
  std::string left, right;
  if (line.size() > kWidest) {
    const std::size_t from = caret > kBefore ? character_start(line, caret - kBefore) : 0;
    const std::size_t to = character_start(line, from + kWidest);
    left = from > 0 ? "..." : "", right = to < line.size() ? "..." : "";
    line = line.substr(from, to - from), caret -= from;
  }
  const bool one_line = at.end_line == at.line && at.end_column > at.column;
  const std::size_t marked = one_line ? at.end_column - at.column : 1;
  const std::string before = left + shown(line.substr(0, caret));
  const std::size_t indent = characters_before(before, before.size());
  // Widened after the whole prefix, so that tabs keep their stops.
  const std::string until = left + shown(line.substr(0, std::min(line.size(), caret + marked)));
  const std::size_t length = std::max<std::size_t>(characters_before(until, until.size()) - indent, 1);
  return fmt::format("{:5} | {}\n      | {}{}\n", at.line, left + shown(line) + right,
                     std::string(indent, ' '), palette.caret("^" + std::string(length - 1, '~')));
}

std::string diagnostic(const SourceRange& at, const std::string& kind, const std::string& message,
                       const Palette& palette) {
  return palette.bold(fmt::format("{}:{}:{}:", printable(at.file), at.line, std::max(at.column, 1u))) + " " +
         palette.severity(kind) + ": " + message + "\n" + snippet(at, palette);
}

} // namespace

std::string render_findings_text(const RenderInput& input) {
  const Palette palette(input.color);
  std::string text;
  for (const Finding& finding : input.findings.findings) {
    const std::string doubt = finding.confidence == "high" ? "" : " (" + finding.confidence + " confidence)";
    text += diagnostic(finding.source, finding.severity,
                       palette.bold(printable(finding.message)) + doubt + " [" + finding.rule + "]", palette);
    for (const Note& note : finding.notes)
      text += diagnostic(note.source, "note", printable(note.message), palette);
    if (!finding.fix.empty())
      text += "    fix: " + printable(finding.fix) + "\n";
  }
  return text;
}

} // namespace reprobe::report
