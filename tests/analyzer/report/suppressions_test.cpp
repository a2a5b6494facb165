#include "analyzer/report/suppressions.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

using Scope = Directive::Scope;

Directive directive(const std::string& comment, std::uint32_t line = 1, const std::string& file = "a.cpp") {
  auto parsed = parse_directive(comment, {file, line, 1, line, 2});
  EXPECT_TRUE(parsed) << comment;
  return parsed.value_or(Directive{});
}

Finding finding(const std::string& rule, std::uint32_t line, const std::string& file = "a.cpp") {
  Finding out;
  out.rule = rule;
  out.source = {file, line, 3, 0, 0};
  return out;
}

TEST(ParseDirective, Scopes) {
  EXPECT_EQ(directive("NOLINT").scope, Scope::line);
  EXPECT_EQ(directive("NOLINTNEXTLINE(x)").scope, Scope::next_line);
  EXPECT_EQ(directive("NOLINTBEGIN(x)").scope, Scope::begin);
  EXPECT_EQ(directive("NOLINTEND").scope, Scope::end);
}

TEST(ParseDirective, OtherWordsAreNone) {
  for (const char* comment : {"NOLINTED", "NOLINTNEXTLINES", "NOLINT_", "NOLINT2", "NOLIN", ""})
    EXPECT_FALSE(parse_directive(comment, {})) << comment;
}

TEST(ParseDirective, ListAndReason) {
  const Directive all = directive("NOLINT: seeded by the launcher");
  EXPECT_TRUE(all.bare);
  EXPECT_EQ(all.reason, "seeded by the launcher");
  const Directive some = directive("NOLINT( missing-seed ,reprobe-warn-only,) -- measured stable ");
  EXPECT_FALSE(some.bare);
  EXPECT_EQ(some.names, (std::vector<std::string>{"missing-seed", "reprobe-warn-only"}));
  EXPECT_EQ(some.reason, "measured stable");
  EXPECT_TRUE(directive("NOLINT(missing-seed").bare) << "a list that does not end is none, as in clang-tidy";
  EXPECT_TRUE(directive("NOLINT()").names.empty());
  EXPECT_FALSE(directive("NOLINT()").covers("missing-seed"));
}

TEST(Covers, NamesGlobsAndExceptions) {
  EXPECT_TRUE(directive("NOLINT").covers("missing-seed"));
  EXPECT_TRUE(directive("NOLINT(missing-seed)").covers("missing-seed"));
  EXPECT_TRUE(directive("NOLINT(reprobe-missing-seed)").covers("missing-seed"));
  EXPECT_TRUE(directive("NOLINT(cert-msc50-cpp,*-seed)").covers("missing-seed"));
  EXPECT_TRUE(directive("NOLINT(reprobe-*)").covers("missing-seed"));
  EXPECT_FALSE(directive("NOLINT(cert-*,missing)").covers("missing-seed"));
  EXPECT_FALSE(directive("NOLINT(*,-missing-seed)").covers("missing-seed"));
  EXPECT_TRUE(directive("NOLINT(*,-missing-seed)").covers("warn-only"));
  EXPECT_TRUE(directive("NOLINT(-*,missing-seed)").covers("missing-seed"));
}

TEST(Apply, LineNextLineAndBlock) {
  const std::vector<Directive> directives = {
      directive("NOLINT(a): why", 1), directive("NOLINTNEXTLINE(a)", 2), directive("NOLINTBEGIN(a)", 5),
      directive("NOLINTEND(a)", 7),   directive("NOLINT(a)", 9, "b.cpp")};
  Findings findings;
  for (std::uint32_t line = 1; line <= 9; ++line)
    findings.findings.push_back(finding("a", line));
  findings.findings.push_back(finding("b", 1));
  const auto uses = apply(directives, findings);
  std::vector<std::uint32_t> kept;
  for (const Finding& f : findings.findings)
    kept.push_back(f.source.line);
  EXPECT_EQ(kept, (std::vector<std::uint32_t>{2, 4, 8, 9, 1}));
  ASSERT_EQ(findings.suppressed.size(), 5u);
  EXPECT_EQ(findings.suppressed[0].suppression->kind, "in-source");
  EXPECT_EQ(findings.suppressed[0].suppression->reason, "why");
  EXPECT_EQ(uses[0].suppressed, 1u);
  EXPECT_EQ(uses[1].suppressed, 1u);
  EXPECT_EQ(uses[2].suppressed, 3u);
  EXPECT_EQ(uses[3].suppressed, 3u);
  EXPECT_EQ(uses[4].suppressed, 0u);
}

TEST(Apply, BlocksNestAndMustHaveTheSameList) {
  const std::vector<Directive> directives = {
      directive("NOLINTBEGIN", 1),    directive("NOLINTBEGIN(a)", 2), directive("NOLINTEND(a)", 4),
      directive("NOLINTEND", 6),      directive("NOLINTEND(b)", 7),   directive("NOLINTBEGIN(b)", 8)};
  Findings findings;
  for (std::uint32_t line : {3u, 5u, 9u})
    findings.findings.push_back(finding("b", line));
  const auto uses = apply(directives, findings);
  ASSERT_EQ(findings.findings.size(), 1u);
  EXPECT_EQ(findings.findings[0].source.line, 9u) << "a begin without an end covers nothing";
  EXPECT_FALSE(uses[0].unmatched);
  EXPECT_FALSE(uses[1].unmatched);
  EXPECT_FALSE(uses[3].unmatched);
  EXPECT_TRUE(uses[4].unmatched);
  EXPECT_TRUE(uses[5].unmatched);
}

} // namespace
} // namespace reprobe::report
