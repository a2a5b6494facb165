// Rules against the facts of a whole project: what only the project can show.
#pragma once

#include "analyzer/report/findings.h"
#include "analyzer/scan/facts/facts.h"
#include "analyzer/scan/scan.h"
#include "rules/registry.h"

#include <vector>

namespace reprobe::scan {

/// Fills `stage`, `findings` and `not_judged` only. Rules are those of `Options::rules`, severities those of
/// `Options::stage`. Without the whole project, rules that need it are listed as not judged.
report::Findings judge(const std::vector<TranslationUnit>&, const rules::Registry&, const Options&,
                       const std::vector<BuildFlag>& build_flags = {}, bool whole_project = true);

} // namespace reprobe::scan
