// Facts as files: one JSON document a line, one line a translation unit.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <filesystem>
#include <vector>

namespace reprobe::scan {

/// Throws reprobe::Error naming file and line.
std::vector<TranslationUnit> read_facts(const std::vector<std::filesystem::path>& files);

/// In the order given.
std::string to_lines(const std::vector<TranslationUnit>&);

} // namespace reprobe::scan
