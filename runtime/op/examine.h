// Re-executes one call and says whether its results vary: the observer in the program right after the call, the
// replayer later on a saved case.
#pragma once

#include "runtime/op/arguments.h"
#include "runtime/op/generators.h"
#include "runtime/op/journal.h"
#include "runtime/op/results.h"

#include <chrono>
#include <functional>
#include <optional>
#include <set>

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

/// Runs `body`; what it throws becomes the reason, empty when it threw nothing.
std::string reason_of(const std::function<void()>& body);
std::string first_line(const char* text);

/// Tells results apart across processes and machines: types, shapes and every bit, in index order.
std::string hash_of(const std::vector<ResultTensor>&);

class Examination {
public:
  /// `drawn`: the default generators that the call drew from, and their states before it.
  Examination(ThreadState&, const Operator&, SavedCall&, std::vector<GeneratorState> drawn);

  /// Against what the program's own call gave. When it varies, the operators that are called inside are examined
  /// as children of `signature`. Throws as the operator does, and NotExamined.
  MeasurementLine run(c10::ArrayRef<c10::IValue> outputs, Signature& signature);
  /// Against the first of the executions.
  MeasurementLine run();
  /// One execution more, its results thrown away.
  void execute_once();

  /// Results that the others were compared with. Of run(): copies of those of the first execution.
  const std::vector<ResultTensor>& reference() const { return reference_; }
  /// hash_of each distinct result, the first one first; of run() without the program's results.
  const std::vector<std::string>& hashes() const { return hashes_; }
  /// The first warning of an execution; empty when there was none.
  const std::string& warning() const { return warning_; }

private:
  using Clock = std::chrono::steady_clock;

  MeasurementLine run_rounds(Signature* signature);
  void check_memory() const;
  void choose_generators();
  std::vector<ResultTensor> results_of_program() const;
  void note_hash(const std::vector<ResultTensor>& results, bool same);
  void restore();
  bool note_changes();
  std::pair<std::vector<ResultTensor>, double> execute(bool record);
  bool look_inside(PinnedGenerators&, Signature&);

  ThreadState& thread_;
  const Operator& op_;
  SavedCall& call_;
  std::optional<c10::ArrayRef<c10::IValue>> outputs_; // the program's own
  c10::Device device_;
  std::vector<GeneratorState> pinned_;
  std::optional<GeneratorState> substitute_;
  std::vector<c10::IValue> stack_;
  std::vector<at::Tensor> kept_;
  std::vector<ResultTensor> reference_;
  std::vector<std::string> hashes_;
  std::string warning_;
  Clock::time_point started_ = Clock::now();
};

} // namespace reprobe::op
