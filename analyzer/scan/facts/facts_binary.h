// Facts as bytes, for the cache and between processes of the same build: a tenth of the JSON, and as fast to read as
// the disk. Nothing else may rely on the form; it changes with the structs.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <optional>
#include <string>
#include <string_view>

namespace reprobe::scan {

std::string to_binary(const TranslationUnit&);
/// Nothing when the bytes are not what `to_binary` of this build makes.
std::optional<TranslationUnit> from_binary(std::string_view);

} // namespace reprobe::scan
