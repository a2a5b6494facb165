// What `reprobe scan` writes: the findings in the formats asked for, the summary, and the exit code.
#pragma once

#include "analyzer/cli/scan_baseline.h"
#include "analyzer/cli/scan_options.h"
#include "analyzer/report/findings.h"

namespace reprobe::cli {

/// Throws reprobe::Error when something cannot be written.
void write_outputs(const report::Findings&, const ScanArguments&);
/// On standard error: how much was found, what was left out or not examined, and why.
void print_summary(const report::Findings&, const Filtered&, const BaselineResult&, const ScanArguments&);
/// On standard error: the rules by the time they took.
void print_profile(const std::map<std::string, std::chrono::nanoseconds>& rule_times);
/// 0 clean, 1 findings at or above the gate, 3 not (all) examined.
int exit_code_of(const report::Findings&, const ScanArguments&);

} // namespace reprobe::cli
