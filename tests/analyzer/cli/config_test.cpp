#include "analyzer/cli/config.h"

#include "rules/error.h"

#include <gtest/gtest.h>

namespace reprobe::cli {
namespace {

Config parse(const std::string& text) { return parse_config(text, "p/.reprobe.yaml", rules::Registry::builtin()); }

std::string message_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code, 2);
    return error.what();
  }
  return "no error";
}

TEST(Config, StageAndSeverities) {
  const Config config = parse("stage: tuning\nrules:\n  float-atomic: off\n  '*-seed': note\n");
  EXPECT_EQ(config.stage, "tuning");
  report::Findings findings;
  for (const char* rule : {"float-atomic", "missing-seed", "warn-only"}) {
    findings.findings.emplace_back();
    findings.findings.back().rule = rule;
    findings.findings.back().severity = "warning";
  }
  apply_config(config, findings);
  ASSERT_EQ(findings.findings.size(), 2u);
  EXPECT_EQ(findings.findings[0].rule, "missing-seed");
  EXPECT_EQ(findings.findings[0].severity, "note");
  EXPECT_EQ(findings.findings[1].severity, "warning");
}

TEST(Config, AnEmptyFileSaysNothing) { EXPECT_FALSE(parse("# only a comment\n").stage); }

struct Bad {
  const char *text, *expected;
  friend void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.expected; }
};
class BadConfig : public testing::TestWithParam<Bad> {};
TEST_P(BadConfig, IsRefusedNamingThePlace) {
  const std::string message = message_of(GetParam().text);
  EXPECT_NE(message.find("p/.reprobe.yaml"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(All, BadConfig,
                         testing::Values(Bad{"stage: [", "p/.reprobe.yaml:1:1: is not YAML"}, Bad{"stage: final\n", ":1:8: \"stage\" cannot be \"final\" (one of prototype, tuning, paper, deploy)"},
                                         Bad{"stages: paper\n", "unknown key \"stages\""}, Bad{"- paper\n", "must hold keys and values"},
                                         Bad{"rules:\n  float-atomics: off\n", ":2:3: no rule is named \"float-atomics\" (did you mean float-atomic?)"},
                                         Bad{"rules:\n  float-atomic: loud\n", "\"float-atomic\" cannot be \"loud\""}, Bad{"rules: off\n", "\"rules\" must map"},
                                         Bad{"stage: {a: b}\n", "\"stage\" must be one word"}));

} // namespace
} // namespace reprobe::cli
