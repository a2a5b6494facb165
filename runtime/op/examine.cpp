#include "runtime/op/examine.h"

#include "runtime/op/journal.h"
#include "runtime/op/results.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>

namespace reprobe::op {
namespace {

using Clock = std::chrono::steady_clock;

std::string first_line(const char* text) {
  std::string line(text);
  line = line.substr(0, line.find('\n'));
  return line.size() > 300 ? line.substr(0, 300) + "..." : line;
}

/// Runs `body`; what it throws becomes the reason, empty when it threw nothing.
template <class Body>
std::string reason_of(Body&& body) {
  try {
    body();
    return {};
  } catch (const NotExamined& refused) {
    return refused.reason;
  } catch (const c10::OutOfMemoryError&) {
    return "not enough memory on the device to hold copies";
  } catch (const std::bad_alloc&) {
    return "not enough memory to hold copies";
  } catch (const std::exception& error) {
    return "re-executing it failed: " + first_line(error.what());
  } catch (...) {
    return "re-executing it failed with an exception of an unknown type";
  }
}

class SilentWarnings : public c10::WarningHandler {
  void process(const c10::Warning&) override {} // the program has had them once
};

/// The state in which re-executions run: below autograd, with the program's autocast but not its cache.
class ReplayMode {
public:
  explicit ReplayMode(bool record)
      : transforms_(c10::DispatchKeySet(
            {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
             c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper,
             c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
             c10::DispatchKey::FuncTorchDynamicLayerBackMode, c10::DispatchKey::Functionalize})),
        records_(record), cache_(at::autocast::is_autocast_cache_enabled()), handler_(&silent_) {
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~ReplayMode() { at::autocast::set_autocast_cache_enabled(cache_); }
  ReplayMode(const ReplayMode&) = delete;
  ReplayMode& operator=(const ReplayMode&) = delete;

private:
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard transforms_;
  at::RecordFunctionGuard records_;
  bool cache_;
  SilentWarnings silent_;
  c10::WarningUtils::WarningHandlerGuard handler_;
};

bool capturing(c10::Device device) {
  // cudaStreamIsCapturing of the runtime that the program uses; its name is global wherever LibTorch has
  // CUDA.
  using Query = int (*)(void*, int*);
  static const auto query = reinterpret_cast<Query>(::dlsym(RTLD_DEFAULT, "cudaStreamIsCapturing"));
  int status = 0;
  return query && query(current_stream(device), &status) == 0 && status != 0;
}

c10::Device device_of(c10::ArrayRef<const c10::IValue> inputs) {
  for (const auto& value : inputs) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_cuda())
      return value.toTensor().device();
    if (value.isDevice() && value.toDevice().is_cuda())
      return value.toDevice();
    if (value.isTensorList())
      for (const auto& tensor : value.toListRef())
        if (tensor.toTensor().defined() && tensor.toTensor().is_cuda())
          return tensor.toTensor().device();
  }
  return c10::kCPU;
}

/// Marks the storages that the program's own call changed.
void find_changes(SavedCall& call) {
  for (SavedStorage& storage : call.storages()) {
    // A call may have given the storage other memory (out= of another size).
    if (storage.original.nbytes() < storage.begin + storage.size)
      storage.changed = true;
    else
      storage.changed |= storage.differs_from_saved(bytes_of(storage.original, storage.begin, storage.size));
  }
}

class Examination {
public:
  Examination(CallContext& context, c10::ArrayRef<c10::IValue> outputs)
      : context_(context), call_(*context.saved), outputs_(outputs), device_(call_.device()) {
    if (device_.is_cpu())
      for (const auto& output : outputs)
        if (output.isTensor() && output.toTensor().defined() && output.toTensor().is_cuda())
          device_ = output.toTensor().device();
  }

  MeasurementLine run() {
    OwnWork own(*context_.thread);
    find_changes(call_);
    check_memory();
    call_.prepare();
    choose_generators();
    PinnedGenerators pinned(*context_.thread, pinned_);
    if (!pinned.held())
      throw NotExamined{"another thread may draw random numbers meanwhile"};

    // One execution ahead of the counted ones shows which arguments a re-execution changes.
    ResultComparison comparison(reference(), registry().options.compare_cuda);
    MeasurementLine line;
    std::vector<double> times;
    const int wanted = registry().options.rounds;
    for (int round = 0; round < wanted; ++round) {
      if (round > 0)
        restore();
      pinned.reset();
      auto [results, nanoseconds] = execute(false);
      times.push_back(nanoseconds / 1000);
      if (context_.thread->holds_gate && registry().gate.stuck())
        throw NotExamined{"it needs another thread, which may draw random numbers meanwhile"};
      if (round == 0 && note_changes()) {
        // It changed what the program's own call did not: compare that too.
        comparison = ResultComparison(reference(), registry().options.compare_cuda);
        results = results_of(stack_, kept_, call_);
      }
      comparison.add(results);
      ++line.rounds;
      if (round + 1 >= 2 && registry().budget_left() - seconds_since(started_) <= 0)
        break;
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    line.microseconds = times[times.size() / 2];
    line.distinct = comparison.distinct();
    line.outputs = comparison.outputs();
    if (line.distinct > 1) {
      line.verdict = "varies";
      line.blamed = !look_inside(pinned);
    } else if (comparison.differing_rounds() > 0) {
      line.verdict = "not-examined";
      line.reason = "replay not faithful: " + std::to_string(line.rounds) +
                    " re-executions agree with each other but not with the program's own result";
    } else {
      line.verdict = "stable";
      if (static_cast<int>(line.rounds) < wanted)
        line.reason = "fewer rounds than asked for: the time budget ended";
    }
    stack_.clear();
    kept_.clear();
    return line;
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  Clock::time_point started() const { return started_; }

private:
  void check_memory() {
    std::uint64_t results = 0;
    for (const auto& output : outputs_) {
      if (output.isTensor() && output.toTensor().defined() && output.toTensor().layout() == c10::kStrided)
        results += output.toTensor().nbytes();
      else if (output.isTensorList())
        for (const auto& tensor : output.toListRef())
          if (tensor.toTensor().defined() && tensor.toTensor().layout() == c10::kStrided)
            results += tensor.toTensor().nbytes();
    }
    if (2 * call_.bytes() + 2 * results > registry().options.memory)
      throw NotExamined{"its arguments and results (" + std::to_string((call_.bytes() + results) >> 20) +
                        " MiB, held twice) are over the memory budget"};
  }

  /// A call that drew random numbers draws the same again: from a clone where the schema takes a generator,
  /// and otherwise from the default generator, set back.
  void choose_generators() {
    pinned_ = changed_since(context_.generators);
    const int argument = context_.op->generator_argument;
    if (argument < 0 || pinned_.size() != 1)
      return;
    std::vector<at::Tensor> kept;
    if (!call_.build(kept)[static_cast<std::size_t>(argument)].isNone())
      return;
    substitute_ = std::move(pinned_.front());
    pinned_.clear();
  }

  std::vector<ResultTensor> reference() {
    std::vector<at::Tensor> originals;
    for (const SavedTensor& tensor : call_.tensors())
      originals.push_back(tensor.original);
    return results_of(outputs_, originals, call_);
  }

  void restore() {
    for (SavedStorage& storage : call_.storages())
      if (storage.changed || !context_.op->framework)
        storage.restore();
  }

  bool note_changes() {
    bool news = false;
    for (SavedStorage& storage : call_.storages()) {
      if (storage.changed || storage.working.nbytes() < storage.size)
        continue;
      storage.changed = storage.differs_from_saved(storage.working_bytes);
      news |= storage.changed;
    }
    return news;
  }

  std::pair<std::vector<ResultTensor>, double> execute(bool record) {
    stack_.clear();
    stack_ = call_.build(kept_);
    if (substitute_) {
      at::Generator generator = substitute_->generator.clone();
      generator.set_state(substitute_->before);
      stack_[static_cast<std::size_t>(context_.op->generator_argument)] = generator;
    }
    wait_for(device_);
    const auto start = Clock::now();
    {
      Replaying named(context_.op->name);
      ReplayMode mode(record);
      context_.op->handle.callBoxed(&stack_);
    }
    wait_for(device_);
    const double nanoseconds = seconds_since(start) * 1e9;
    if (record)
      return {{}, nanoseconds};
    return {results_of(stack_, kept_, call_), nanoseconds};
  }

  /// Executes once more and examines the operators that are called inside. True when one of them varies.
  bool look_inside(PinnedGenerators& pinned) {
    Sandbox sandbox{context_.signature};
    ThreadState& thread = *context_.thread;
    const std::string failed = reason_of([&] {
      for (SavedStorage& storage : call_.storages())
        storage.restore();
      pinned.reset();
      struct Enter {
        ThreadState& thread;
        Sandbox* sandbox;
        CallContext* measured;
        bool busy;
        int open;
        Enter(ThreadState& t, Sandbox& inside)
            : thread(t), sandbox(t.sandbox), measured(t.measured), busy(t.busy), open(t.open) {
          t.sandbox = &inside;
          t.measured = nullptr;
          t.busy = false;
        }
        ~Enter() {
          thread.sandbox = sandbox;
          thread.measured = measured;
          thread.busy = busy;
          thread.open = open;
        }
      } enter(thread, sandbox);
      execute(true);
    });
    return failed.empty() && sandbox.any_varies;
  }

  CallContext& context_;
  SavedCall& call_;
  c10::ArrayRef<c10::IValue> outputs_;
  c10::Device device_;
  std::vector<GeneratorState> pinned_;
  std::optional<GeneratorState> substitute_;
  std::vector<c10::IValue> stack_;
  std::vector<at::Tensor> kept_;
  Clock::time_point started_ = Clock::now();
};

void charge(Clock::time_point start) {
  registry().spent_nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void refuse(CallContext& context, const std::string& reason) {
  // Inside a re-execution only what varies is listed.
  if (!context.thread->sandbox)
    journal::skipped(*context.signature, reason);
}

} // namespace

void save_call(CallContext& context, c10::ArrayRef<const c10::IValue> inputs) {
  if (registry().budget_left() <= 0) {
    context.signature->examined.fetch_sub(1);
    refuse(context, "the time budget was used up");
    return;
  }
  const auto start = Clock::now();
  OwnWork own(*context.thread);
  const std::string reason = reason_of([&] {
    const c10::Device device = device_of(inputs);
    if (device.is_cuda()) {
      registry().cuda_seen = true;
      if (capturing(device))
        throw NotExamined{"a CUDA graph is being captured"};
    }
    if (!registry().environment_noted.exchange(true))
      journal::environment(environment_json());
    // The order matters: saving may allocate, the generators must be read last before the program's
    // execution.
    auto saved = std::make_unique<SavedCall>(*context.op, inputs, registry().options.memory);
    context.generators = default_generators(device);
    context.saved = std::move(saved);
  });
  // The call is still the program's to make, so the journal names no re-execution here.
  if (!reason.empty())
    refuse(context, reason.rfind("re-executing", 0) == 0
                        ? "saving its arguments failed" + reason.substr(reason.find(':'))
                        : reason);
  charge(start);
}

void examine(CallContext& context, c10::ArrayRef<c10::IValue> outputs) {
  const auto start = Clock::now();
  const std::int64_t spent_before = registry().spent_nanoseconds;
  const std::string reason = reason_of([&] {
    Examination examination(context, outputs);
    const MeasurementLine line = examination.run();
    ThreadState& thread = *context.thread;
    if (!thread.sandbox) {
      journal::measured(*context.signature, line);
    } else if (line.verdict == "varies") {
      thread.sandbox->any_varies = true;
      journal::measured(*context.signature, line);
    }
  });
  if (!reason.empty()) {
    refuse(context, reason);
  }
  {
    OwnWork own(*context.thread);
    context.saved.reset();
    context.generators.clear();
  }
  // What was looked at inside has been charged already.
  const std::int64_t inner = registry().spent_nanoseconds - spent_before;
  if (!context.thread->sandbox)
    charge(start + std::chrono::nanoseconds(std::max<std::int64_t>(0, inner)));
}

} // namespace reprobe::op
