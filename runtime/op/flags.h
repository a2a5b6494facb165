// The flags of LibTorch that decide which algorithm runs or how it rounds, by name: one list of those that count for
// the whole process, for their changes over time and for saved cases. A value is true or false, a count, or of reduced
// precision "allowed", "only split-k" or "not allowed".
#pragma once

#include "runtime/op/observer.h"

#include <nlohmann/json.hpp>

#include <memory>

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

/// What a call made now on this thread runs under: `values`, with the thread's own number of threads, and grad,
/// inference, autocast: {cpu, cuda: {enabled, dtype}}.
nlohmann::json of_call();

/// Sets what `of_call` gave: process-wide flags for good (those that `flags` lacks stay), and this thread's while it
/// lives. For processes of our own only.
class Applied {
public:
  explicit Applied(const nlohmann::json& flags);
  ~Applied();
  Applied(const Applied&) = delete;
  Applied& operator=(const Applied&) = delete;

private:
  struct OfThread;
  std::unique_ptr<OfThread> of_thread_;
};

} // namespace reprobe::op::flags
