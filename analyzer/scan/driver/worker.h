// Facts of many files: from the cache where they are still true, else parsed in processes of their own (a
// crash, a hang or too much memory costs one file), with precompiled headers where there are some or where
// making one pays.
#pragma once

#include "analyzer/scan/driver/cache.h"
#include "analyzer/scan/driver/process_pool.h"

#include <functional>

namespace reprobe::scan {

/// One translation unit a request, in the order of the requests; those that failed say why. Headers that
/// would have helped are precompiled afterwards, by a process in the background that outlives this one.
std::vector<TranslationUnit> parse_all(const std::vector<ParseRequest>&, const Limits&,
                                       const std::function<void(std::size_t done)>& progress = {},
                                       Cache* cache = nullptr);

} // namespace reprobe::scan
