// The default generators around a call and its re-executions.
#pragma once

#include "runtime/op/observer.h"

namespace reprobe::op {

struct GeneratorState {
  at::Generator generator;
  at::Tensor before; // bytes, on the CPU
};

/// States of the default generators that a call on `device` may draw from: the CPU's, and the device's own.
std::vector<GeneratorState> default_generators(c10::Device device);
/// Those whose state is another one now.
std::vector<GeneratorState> changed_since(const std::vector<GeneratorState>&);

/// While it lives, other threads are held at their next operator, and reset() sets the generators back to
/// where the call found them. At its end they are as the program left them.
class PinnedGenerators {
public:
  PinnedGenerators(ThreadState&, std::vector<GeneratorState>);
  ~PinnedGenerators();
  PinnedGenerators(const PinnedGenerators&) = delete;
  PinnedGenerators& operator=(const PinnedGenerators&) = delete;

  /// False: another thread stays in an operator and may draw.
  bool held() const { return held_; }
  void reset();

private:
  ThreadState& thread_;
  std::vector<GeneratorState> states_;
  std::vector<at::Tensor> after_;
  bool held_ = false, closed_ = false;
};

} // namespace reprobe::op
