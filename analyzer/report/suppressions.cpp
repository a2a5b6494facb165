#include "analyzer/report/suppressions.h"

#include <algorithm>
#include <cctype>
#include <fnmatch.h>
#include <map>

namespace reprobe::report {
namespace {

constexpr std::string_view kPrefix = "reprobe-";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlank);
  return begin == text.npos ? std::string_view{}
                            : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<Directive::Scope> scope_of(std::string_view word) {
  if (word == "NOLINT")
    return Directive::Scope::line;
  if (word == "NOLINTNEXTLINE")
    return Directive::Scope::next_line;
  if (word == "NOLINTBEGIN")
    return Directive::Scope::begin;
  if (word == "NOLINTEND")
    return Directive::Scope::end;
  return std::nullopt;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = trimmed(list.substr(0, comma));
    if (!name.empty())
      names.emplace_back(name);
    list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
  }
  return names;
}

std::string reason_in(std::string_view rest) {
  rest = trimmed(rest);
  while (!rest.empty() && (rest.front() == ':' || rest.front() == '-'))
    rest.remove_prefix(1);
  return std::string(trimmed(rest));
}

bool matches(const std::string& glob, std::string_view rule) {
  const auto same = [&](const std::string& name) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; };
  return same(std::string(rule)) || same(std::string(kPrefix) + std::string(rule));
}

using Lines = std::multimap<std::uint32_t, std::size_t>; // line to indices of directives

struct Block {
  std::uint32_t first, last; // lines
  std::size_t begin, end;    // indices of directives
};

struct FileDirectives {
  Lines lines;
  std::vector<Block> blocks;
};

// Each end closes the innermost open begin; with another list it closes nothing.
std::map<std::string, FileDirectives> by_file(const std::vector<Directive>& directives,
                                              std::vector<DirectiveUse>& uses) {
  std::map<std::string, FileDirectives> files;
  std::map<std::string, std::vector<std::size_t>> open;
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& directive = directives[i];
    FileDirectives& file = files[directive.source.file];
    std::vector<std::size_t>& begins = open[directive.source.file];
    switch (directive.scope) {
    case Directive::Scope::line:
      file.lines.emplace(directive.source.line, i);
      break;
    case Directive::Scope::next_line:
      file.lines.emplace(directive.source.line + 1, i);
      break;
    case Directive::Scope::begin:
      uses[i].unmatched = true; // until its end comes
      begins.push_back(i);
      break;
    case Directive::Scope::end: {
      const auto same = [&](std::size_t b) {
        return directives[b].bare == directive.bare && directives[b].names == directive.names;
      };
      uses[i].unmatched = begins.empty() || !same(begins.back());
      if (uses[i].unmatched)
        break;
      uses[begins.back()].unmatched = false;
      file.blocks.push_back({directives[begins.back()].source.line, directive.source.line, begins.back(), i});
      begins.pop_back();
    }
    }
  }
  return files;
}

// The index of the directive that covers the finding, nearest first.
std::optional<std::size_t> covering(const std::vector<Directive>& directives, const FileDirectives& file,
                                    const Finding& finding) {
  const auto [first, last] = file.lines.equal_range(finding.source.line);
  for (auto line = first; line != last; ++line)
    if (directives[line->second].covers(finding.rule))
      return line->second;
  for (const Block& block : file.blocks) // inner blocks end, and so stand, before outer ones
    if (block.first <= finding.source.line && finding.source.line <= block.last &&
        directives[block.begin].covers(finding.rule))
      return block.begin;
  return std::nullopt;
}

} // namespace

std::string_view plain_rule_name(std::string_view item) {
  if (item.starts_with('-'))
    item.remove_prefix(1);
  if (item.starts_with(kPrefix))
    item.remove_prefix(kPrefix.size());
  return item;
}

bool Directive::covers(std::string_view rule) const {
  bool covered = bare;
  for (const std::string& name : names) // the last that matches decides
    if (matches(name.starts_with('-') ? name.substr(1) : name, rule))
      covered = !name.starts_with('-');
  return covered;
}

std::optional<Directive> parse_directive(std::string_view comment, SourceRange source) {
  std::size_t length = 0;
  while (length < comment.size() &&
         (std::isalnum(static_cast<unsigned char>(comment[length])) || comment[length] == '_'))
    ++length;
  const auto scope = scope_of(comment.substr(0, length));
  if (!scope)
    return std::nullopt;
  Directive directive{*scope, true, {}, {}, std::move(source)};
  std::string_view rest = comment.substr(length);
  const std::size_t close = rest.starts_with('(') ? rest.substr(0, rest.find('\n')).find(')') : rest.npos;
  if (close != rest.npos) {
    directive.bare = false;
    directive.names = split_names(rest.substr(1, close - 1));
    rest = rest.substr(close + 1);
  }
  directive.reason = reason_in(rest.substr(0, rest.find('\n')));
  return directive;
}

std::vector<DirectiveUse> apply(const std::vector<Directive>& directives, Findings& findings) {
  std::vector<DirectiveUse> uses;
  for (const Directive& directive : directives)
    uses.push_back({&directive, 0, false});
  const auto files = by_file(directives, uses);
  std::vector<Finding> kept;
  for (Finding& finding : findings.findings) {
    const auto file = files.find(finding.source.file);
    const auto by = file == files.end() ? std::nullopt : covering(directives, file->second, finding);
    if (!by) {
      kept.push_back(std::move(finding));
      continue;
    }
    ++uses[*by].suppressed;
    finding.suppression = Suppression{"in-source", directives[*by].reason, directives[*by].source};
    findings.suppressed.push_back(std::move(finding));
  }
  findings.findings = std::move(kept);
  for (const auto& [name, file] : files)
    for (const Block& block : file.blocks)
      uses[block.end].suppressed = uses[block.begin].suppressed;
  return uses;
}

} // namespace reprobe::report
