// CUDA sources as the device sees them. The host's view has every kernel's body, but where the source asks
// for
// __CUDA_ARCH__ it takes the branch that never runs in a kernel.
#pragma once

#include "analyzer/scan/facts/extract.h"

namespace reprobe::scan {

/// The host's view; kernels and device functions from the device's view where the user's files ask for it.
Extraction extract_host_and_device(const ParseRequest&);

/// Device code of `device` in the place of `host`'s.
void take_device_code(TranslationUnit& host, TranslationUnit device);

} // namespace reprobe::scan
