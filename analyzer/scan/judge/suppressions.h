// NOLINT comments of the whole project against its findings, and the rule that speaks of comments without effect.
#pragma once

#include "analyzer/report/findings.h"
#include "analyzer/scan/facts/facts.h"
#include "rules/registry.h"

#include <functional>
#include <string>
#include <vector>

namespace reprobe::scan {

/// Moves what NOLINT comments cover to `Findings::suppressed`. With `rule`, adds one of its findings for each comment
/// that names rules of ours and suppresses nothing; `is_judged` tells which rules looked at a file.
void apply_suppressions(const std::vector<TranslationUnit>&, const rules::Registry&, const rules::Rule* rule,
                        const std::function<bool(const rules::Rule&, const std::string& file)>& is_judged,
                        report::Findings&);

} // namespace reprobe::scan
