#include "analyzer/report/baseline.h"

#include "rules/error.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

Finding finding(const std::string& fingerprint, const std::string& file = "a.cpp", const std::string& rule = "r") {
  Finding out;
  out.rule = rule;
  out.fingerprint = fingerprint;
  out.message = "m";
  out.source = {file, 1, 1, 0, 0, "  text"};
  return out;
}

Findings findings(std::vector<Finding> list) {
  Findings out;
  out.findings = std::move(list);
  return out;
}

TEST(Baseline, AcceptsWhatItHoldsAndReportsWhatIsNew) {
  const Baseline baseline = baseline_of(findings({finding("1"), finding("2")}));
  Findings now = findings({finding("1"), finding("3"), finding("2", "a.cpp", "other")});
  const BaselineUse use = apply(baseline, now);
  EXPECT_EQ(use.accepted, 1u);
  ASSERT_EQ(now.findings.size(), 2u);
  EXPECT_EQ(now.findings[0].fingerprint, "3");
  ASSERT_EQ(now.suppressed.size(), 1u);
  EXPECT_EQ(now.suppressed[0].suppression->kind, "baseline");
}

TEST(Baseline, FollowsARenamedFileButAcceptsEachFindingOnce) {
  const Baseline baseline = baseline_of(findings({finding("1", "old.cpp")}));
  Findings renamed = findings({finding("1", "new.cpp")});
  EXPECT_EQ(apply(baseline, renamed).accepted, 1u);
  Findings copied = findings({finding("1", "copy.cpp"), finding("1", "old.cpp")});
  EXPECT_EQ(apply(baseline, copied).accepted, 1u);
  ASSERT_EQ(copied.findings.size(), 1u);
  EXPECT_EQ(copied.findings[0].source.file, "copy.cpp") << "the one in its own file is the accepted one";
}

TEST(Baseline, UpdatesKeepReasonsAndPruningSparesWhatWasNotJudged) {
  Baseline baseline = baseline_of(findings({finding("1"), finding("2"), finding("3", "b.cpp")}));
  baseline.entries[0].reason = "measured stable";
  Findings now = findings({finding("1"), finding("4")});
  const BaselineUse use = apply(baseline, now);
  const Baseline smaller = pruned(baseline, use, [](const BaselineEntry& entry) { return entry.file == "a.cpp"; });
  const Baseline larger = with_new(smaller, now);
  std::vector<std::string> prints;
  for (const BaselineEntry& entry : larger.entries)
    prints.push_back(entry.fingerprint);
  EXPECT_EQ(prints, (std::vector<std::string>{"1", "4", "3"}));
  EXPECT_EQ(larger.entries[0].reason, "measured stable");
}

TEST(BaselineJson, SurvivesWritingAndReading) {
  Baseline baseline = baseline_of(findings({finding("1")}));
  baseline.entries[0].reason = "why\n\"so\"";
  const Baseline again = baseline_from_json(to_json(baseline), "test");
  ASSERT_EQ(again.entries.size(), 1u);
  EXPECT_EQ(again.entries[0].reason, "why\n\"so\"");
  EXPECT_EQ(again.entries[0].text, "text");
  EXPECT_EQ(to_json(again), to_json(baseline));
}

TEST(BaselineJson, MistakesNameTheFile) {
  for (const char* text : {"", "[]", "{}", R"({"schema": "reprobe-baseline/2", "findings": []})",
                           R"({"schema": "reprobe-baseline/1"})", R"({"schema": "reprobe-baseline/1", "findings": [1]})",
                           R"({"schema": "reprobe-baseline/1", "findings": [{"rule": "r"}]})",
                           R"({"schema": "reprobe-baseline/1", "findings": {}})"})
    try {
      baseline_from_json(text, "accepted.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("accepted.json"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace reprobe::report
