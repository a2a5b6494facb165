// The baseline: findings that a project has accepted, as a JSON file ("reprobe-baseline/1") that is kept with
// the code. Entries are found again by fingerprint, so lines and files may move; only new findings are
// reported.
#pragma once

#include "analyzer/report/findings.h"

#include <functional>
#include <string>
#include <vector>

namespace reprobe::report {

struct BaselineEntry {
  std::string rule, file, function, fingerprint;
  std::string text;   // the line, or the message: for whoever reads the file
  std::string reason; // why it is accepted; written by people, kept by updates
};

struct Baseline {
  std::vector<BaselineEntry> entries;
};

std::string to_json(const Baseline&);
Baseline baseline_from_json(const std::string& text, const std::string& origin); // throws reprobe::Error

struct BaselineUse {
  std::vector<bool> matched; // one an entry
  std::size_t accepted = 0;  // findings
};

/// Moves accepted findings to `Findings::suppressed`. An entry accepts one finding: of its own file if there
/// is one, else of another file, for renames.
BaselineUse apply(const Baseline&, Findings&);

/// Every finding as an entry.
Baseline baseline_of(const Findings&);
/// With entries for the findings that are reported, reasons kept.
Baseline with_new(Baseline, const Findings&);
/// Without the entries that matched nothing although `was_judged` says that they could have.
Baseline pruned(const Baseline&, const BaselineUse&,
                const std::function<bool(const BaselineEntry&)>& was_judged);

} // namespace reprobe::report
