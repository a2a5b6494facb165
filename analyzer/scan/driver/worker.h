// Parses in processes of their own: a crash, a hang or too much memory costs one file.
#pragma once

#include "analyzer/scan/facts/extract.h"

#include <functional>

namespace reprobe::scan {

struct Limits {
  unsigned jobs = 0;                             // 0: one a core
  unsigned seconds = 300;                        // for each file
  std::uint64_t memory = std::uint64_t(8) << 30; // bytes of address space for each worker; 0: no limit
};

/// One translation unit a request, in the order of the requests; those that failed say why.
std::vector<TranslationUnit> parse_all(const std::vector<ParseRequest>&, const Limits&,
                                       const std::function<void(std::size_t done)>& progress = {});

} // namespace reprobe::scan
