#include "analyzer/cli/finding_filters.h"

#include "rules/error.h"

#include <gtest/gtest.h>

namespace reprobe::cli {
namespace {

report::Findings example() {
  report::Findings findings;
  findings.root = "/p";
  findings.examined = {{"src/a.cpp", "full", "", {}}, {"main.h", "full", "", {}}};
  const auto add = [&](const char* file, std::uint32_t line, const char* confidence) {
    report::Finding& finding = findings.findings.emplace_back();
    finding.rule = "float-atomic";
    finding.severity = "warning";
    finding.confidence = confidence;
    finding.source = {file, line, 1, 0, 0};
  };
  add("src/a.cpp", 1, "high");
  add("src/a.cpp", 9, "low");
  add("src/b.h", 5, "medium");
  add("main.h", 5, "high");
  return findings;
}

std::vector<std::string> left(const FindingFilters& filters, Filtered* count = nullptr) {
  report::Findings findings = example();
  const Filtered filtered = apply(filters, findings);
  if (count)
    *count = filtered;
  std::vector<std::string> out;
  for (const report::Finding& finding : findings.findings)
    out.push_back(finding.source.file + ":" + std::to_string(finding.source.line));
  return out;
}

using Places = std::vector<std::string>;

TEST(FindingFilters, NoneLeavesAll) { EXPECT_EQ(left({}).size(), 4u); }

TEST(FindingFilters, Lines) {
  FindingFilters filters;
  filters.lines = parse_line_filter(R"([{"name": "a.cpp", "lines": [[1, 3], [7, 8]]}, {"name": "b.h"}])");
  Filtered count;
  EXPECT_EQ(left(filters, &count), (Places{"src/a.cpp:1", "src/b.h:5"}));
  EXPECT_EQ(count.by_lines, 2u);
}

TEST(FindingFilters, MalformedLineFilters) {
  for (const char* text : {"", "{}", "[1]", "[{}]", R"([{"name": 1}])", R"([{"name": "a", "lines": [[1]]}])",
                           R"([{"name": "a", "lines": [[-1, 2]]}])", R"([{"name": "a", "lines": 3}])"})
    EXPECT_THROW(parse_line_filter(text), Error) << text;
}

TEST(FindingFilters, Headers) {
  FindingFilters filters;
  filters.headers = "^/p/include/";
  EXPECT_EQ(left(filters), (Places{"src/a.cpp:1", "src/a.cpp:9", "main.h:5"})) << "main.h was scanned for itself";
  filters.headers = "b\\.h$";
  EXPECT_EQ(left(filters).size(), 4u);
  filters.excluded_headers = "src/";
  EXPECT_EQ(left(filters).size(), 3u);
  filters.excluded_headers = "(";
  EXPECT_THROW(left(filters), Error);
}

TEST(FindingFilters, Confidence) {
  FindingFilters filters;
  filters.confidence = "medium";
  EXPECT_EQ(left(filters).size(), 3u);
  filters.confidence = "high";
  EXPECT_EQ(left(filters).size(), 2u);
}

TEST(FindingFilters, WarningsAsErrors) {
  report::Findings findings = example();
  FindingFilters filters;
  filters.errors = {"*", "-float-*"};
  apply(filters, findings);
  EXPECT_EQ(findings.findings[0].severity, "warning");
  filters.errors = {"float-atomic"};
  apply(filters, findings);
  EXPECT_EQ(findings.findings[0].severity, "error");
}

} // namespace
} // namespace reprobe::cli
