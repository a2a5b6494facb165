// JUnit XML: one suite a file, one test case a finding. Findings that do not gate pass, suppressed ones are
// skipped.
#include "analyzer/report/renderer.h"

#include <fmt/format.h>
#include <map>

namespace reprobe::report {
namespace {

struct Suite {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string cases;
};

std::string attribute(const std::string& text) {
  return escape_markup(printable(text));
}

std::string place(const Finding& finding) {
  return fmt::format("{}:{}:{}", finding.source.file, finding.source.line, finding.source.column);
}

// A name with a line break in it must not look like a line of its own.
std::string details(const Finding& finding) {
  std::string text = attribute(
      fmt::format("{}: {}: {} [{}]", place(finding), finding.severity, finding.message, finding.rule));
  for (const Note& note : finding.notes)
    text +=
        "\n" + attribute(fmt::format("{}:{}: note: {}", note.source.file, note.source.line, note.message));
  return text + (finding.fix.empty() ? "" : "\n" + attribute("fix: " + finding.fix));
}

void add(Suite& suite, const Finding& finding) {
  ++suite.tests;
  suite.cases +=
      fmt::format("  <testcase name=\"{} at {}\" classname=\"{}\" time=\"0\">\n", attribute(finding.rule),
                  attribute(place(finding)), attribute(finding.source.file));
  if (finding.suppression) {
    ++suite.skipped;
    suite.cases += fmt::format("   <skipped message=\"{}: {}\"/>\n", attribute(finding.suppression->kind),
                               attribute(finding.suppression->reason));
  } else if (finding.severity != "note") {
    ++suite.failures;
    suite.cases += fmt::format("   <failure message=\"{}\" type=\"{}\">{}</failure>\n",
                               attribute(finding.message), attribute(finding.severity), details(finding));
  } else {
    suite.cases += fmt::format("   <system-out>{}</system-out>\n", details(finding));
  }
  suite.cases += "  </testcase>\n";
}

void add(Suite& suite, const ExaminedFile& file, bool partial_is_failure) {
  const bool failed = file.status == "failed" || (file.status == "partial" && partial_is_failure);
  ++suite.tests;
  suite.cases +=
      fmt::format("  <testcase name=\"examined\" classname=\"{}\" time=\"0\"", attribute(file.file));
  if (failed) {
    ++suite.errors;
    suite.cases += fmt::format(">\n   <error message=\"{}\" type=\"not examined\"/>\n  </testcase>\n",
                               attribute(file.reason));
  } else {
    suite.cases += "/>\n";
  }
}

} // namespace

std::string render_junit(const RenderInput& input) {
  std::map<std::string, Suite> suites;
  for (const ExaminedFile& file : input.findings.examined)
    add(suites[file.file], file, input.partial_is_failure);
  for (const Finding& finding : input.findings.findings)
    add(suites[finding.source.file], finding);
  for (const Finding& finding : input.findings.suppressed)
    add(suites[finding.source.file], finding);
  Suite all;
  for (const auto& [file, suite] : suites) {
    all.tests += suite.tests, all.failures += suite.failures;
    all.errors += suite.errors, all.skipped += suite.skipped;
    all.cases +=
        fmt::format(" <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                    "skipped=\"{}\" time=\"0\">\n{} </testsuite>\n",
                    attribute(file), suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"reprobe scan\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                     "time=\"0\">\n{}</testsuites>\n",
                     all.tests, all.failures, all.errors, all.cases);
}

} // namespace reprobe::report
