// What `reprobe scan` writes: the findings in the formats asked for, the summary, and the exit code.
#pragma once

#include "analyzer/cli/scan_options.h"
#include "analyzer/report/findings.h"

namespace reprobe::cli {

/// Throws reprobe::Error when something cannot be written.
void write_outputs(const report::Findings&, const OutputOptions&);
/// On standard error: how much was found, what was not examined and why.
void print_summary(const report::Findings&, const ScanArguments&);
/// 0 clean, 1 findings at or above the gate, 3 not (all) examined.
int exit_code_of(const report::Findings&, const ScanArguments&);

} // namespace reprobe::cli
