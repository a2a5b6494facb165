// LibTorch's process-wide flags that decide which algorithm runs or how it rounds: their values, and a record
// of each change with the first operation that was seen under it.
#pragma once

#include "runtime/op/observer.h"

#include <nlohmann/json_fwd.hpp>

namespace reprobe::op::flags {

/// True when a flag has another value than at the last `note` of the process (always at first). Some thirty
/// loads: cheap enough for every outermost operation.
bool changed();
/// Journals what changed, and that `op`, called at `site`, was the first seen since. At first: all values.
void note(const Operator& op, const Site* site, std::uint64_t step);
/// Name to value as of now; flags that this LibTorch has not are left out.
nlohmann::json values();

/// TF32 in multiplications and in convolutions on CUDA, whichever API set it. Never warns or throws.
bool tf32_matmul();
bool tf32_cudnn();

} // namespace reprobe::op::flags
