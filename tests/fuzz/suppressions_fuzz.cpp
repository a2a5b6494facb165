// NOLINT comments, one a line: no finding is lost or made, and an end never works without its begin.
#include "analyzer/report/suppressions.h"
#include "tests/fuzz/fuzz.h"

#include <vector>

void fuzz(std::string_view input) {
  using namespace reprobe::report;
  std::vector<Directive> directives;
  Findings findings;
  std::uint32_t line = 1;
  for (; !input.empty() && line < 2000; ++line) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    if (auto directive = parse_directive(input.substr(0, end), {"a.cpp", line, 1, line, 2})) {
      expect(!directive->bare || directive->names.empty());
      directives.push_back(*std::move(directive));
    }
    for (const char* rule : {"missing-seed", "float-atomic"}) {
      Finding& finding = findings.findings.emplace_back();
      finding.rule = rule;
      finding.source = {"a.cpp", line, 1, 0, 0};
    }
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  const std::size_t before = findings.findings.size();
  const std::vector<DirectiveUse> uses = reprobe::report::apply(directives, findings);
  expect(uses.size() == directives.size());
  expect(findings.findings.size() + findings.suppressed.size() == before);
  for (const Finding& finding : findings.suppressed)
    expect(finding.suppression && finding.suppression->source.line > 0);
  for (const DirectiveUse& use : uses)
    expect(!use.unmatched || use.suppressed == 0);
}
