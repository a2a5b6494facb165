// NOLINT comments as clang-tidy has them: NOLINT, NOLINTNEXTLINE, NOLINTBEGIN … NOLINTEND, bare or with a
// list of names, globs and "-name" exceptions. `missing-seed` and `reprobe-missing-seed` both name the rule;
// names of other tools' checks are left alone. What stands after the list, behind ":", "--" or a space, is
// the reason.
#pragma once

#include "analyzer/report/findings.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprobe::report {

struct Directive {
  enum class Scope { line, next_line, begin, end } scope = Scope::line;
  bool bare = true;               // no list: every rule
  std::vector<std::string> names; // as written, without blanks; "-name" takes out
  std::string reason;
  SourceRange source; // of the comment

  bool covers(std::string_view rule) const;
};

/// From a comment's text that starts with "NOLINT"; nothing when that is only the start of another word.
std::optional<Directive> parse_directive(std::string_view comment, SourceRange source);

struct DirectiveUse {
  const Directive* directive = nullptr;
  std::size_t suppressed = 0; // findings
  bool unmatched = false;     // a begin without its end, or an end without its begin
};

/// Moves the findings that a directive covers to `Findings::suppressed`. A begin and its end must have the
/// same list. One entry a directive, in the given order; that of an end speaks of the whole pair.
std::vector<DirectiveUse> apply(const std::vector<Directive>&, Findings&);

/// The name of a rule of ours that `item` ("reprobe-missing-seed", "-warn-only") is written for, without
/// prefixes.
std::string_view plain_rule_name(std::string_view item);

} // namespace reprobe::report
