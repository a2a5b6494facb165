// LibTorch's version, as far as a translation unit tells, against the versions that a row speaks of.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <string>

namespace reprobe::scan {

enum class Applies : std::uint8_t { no, unsure, yes };

/// Whether a row with `since` and `until` (first and last version, "2.9"; either may be empty) concerns the
/// program. Unsure: the version is not known, or that of headers which Reprobe found on the machine, not
/// those the program is built with.
Applies version_applies(const TranslationUnit&, const std::string& since, const std::string& until);

} // namespace reprobe::scan
