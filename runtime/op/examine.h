// Re-executes one call and says whether its results vary.
#pragma once

#include "runtime/op/arguments.h"
#include "runtime/op/generators.h"

namespace reprobe::op {

/// Between the start and the end of one call of the program (or of a re-execution that is looked into).
struct CallContext : at::ObserverContext {
  ThreadState* thread = nullptr;
  const Operator* op = nullptr;
  Signature* signature = nullptr; // of a measured call
  const Site* site = nullptr;
  std::unique_ptr<SavedCall> saved; // of a call to be examined
  std::vector<GeneratorState> generators;
  int exceptions = 0;         // in flight at the start
  std::uint64_t sequence = 0; // of autograd at the start
};

/// Saves what a re-execution needs. Lists the call as not examined when that cannot be done.
void save_call(CallContext&, c10::ArrayRef<const c10::IValue> inputs);
/// After the program's own execution: re-executes, compares, writes the measurement. Never throws.
void examine(CallContext&, c10::ArrayRef<c10::IValue> outputs);

} // namespace reprobe::op
