// Baselines: read or refused with an Error; what was read is written and read again as the same.
#include "analyzer/report/baseline.h"
#include "rules/error.h"
#include "tests/fuzz/fuzz.h"

void fuzz(std::string_view input) {
  using namespace reprobe::report;
  try {
    const Baseline baseline = baseline_from_json(std::string(input), "baseline");
    const std::string text = to_json(baseline);
    expect(to_json(baseline_from_json(text, "again")) == text);
    Findings findings;
    for (const BaselineEntry& entry : baseline.entries) {
      Finding& finding = findings.findings.emplace_back();
      finding.rule = entry.rule;
      finding.fingerprint = entry.fingerprint;
      finding.source.file = entry.file;
    }
    expect(apply(baseline, findings).accepted == baseline.entries.size());
    expect(findings.findings.empty());
  } catch (const reprobe::Error&) {
  }
}
