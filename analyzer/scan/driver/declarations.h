// Declarations of LibTorch and CUDA for machines that have neither, as files that exist only for the parser.
#pragma once

#include "analyzer/scan/driver/commands.h"
#include "analyzer/scan/facts/extract.h"

namespace reprobe::scan {

/// Adds what the toolchain lacks to the request's virtual files, and the folder that holds them to the
/// includes.
void add_declarations(const Toolchain&, Translation&, ParseRequest&);

} // namespace reprobe::scan
