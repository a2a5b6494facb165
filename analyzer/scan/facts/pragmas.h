// `#pragma` lines of the user's own files that change what the code after them computes, read from the text:
// clang drops OpenMP's without -fopenmp, and what stands under `#ifdef _OPENMP` it never sees.
#pragma once

#include "analyzer/scan/facts/source_map.h"

#include <clang/Basic/LangOptions.h>

namespace reprobe::scan {

void add_pragmas(SourceMap&, const std::vector<clang::FileID>&, const clang::LangOptions&, TranslationUnit&);

} // namespace reprobe::scan
