#include "runtime/op/examine.h"

#include "runtime/op/cases.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

namespace reprobe::op {

std::string first_line(const char* text) {
  const std::string_view all(text);
  const std::string_view line = all.substr(0, all.find('\n'));
  std::string shown(line.substr(0, 300));
  if (shown.size() < line.size())
    shown += "...";
  return shown;
}

std::string reason_of(const std::function<void()>& body) {
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

std::string hash_of(const std::vector<ResultTensor>& results) {
  Hash128 hash;
  for (const ResultTensor& result : results) {
    if (!result.tensor.defined()) {
      hash.add(std::uint64_t(0));
      continue;
    }
    const at::Tensor tensor = result.tensor.resolve_conj().resolve_neg().cpu().contiguous();
    hash.add(dtype_name(tensor.scalar_type()));
    hash.add(tensor.sizes().data(), tensor.sizes().size() * sizeof(std::int64_t));
    hash.add(tensor.const_data_ptr(), tensor.nbytes());
  }
  return hash.hex();
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The program has had its warnings once: they are kept from it, the first for the report.
class QuietWarnings : public c10::WarningHandler {
public:
  explicit QuietWarnings(std::string& first) : first_(first) {}
  void process(const c10::Warning& warning) override {
    if (first_.empty())
      first_ = first_line(warning.msg().c_str());
  }

private:
  std::string& first_;
};

/// The state in which re-executions run: below autograd, with the program's autocast but not its cache.
class ReplayMode {
public:
  ReplayMode(bool record, std::string& first_warning)
      : transforms_(c10::DispatchKeySet(
            {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
             c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper,
             c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
             c10::DispatchKey::FuncTorchDynamicLayerBackMode, c10::DispatchKey::Functionalize})),
        records_(record), cache_(at::autocast::is_autocast_cache_enabled()), warnings_(first_warning), handler_(&warnings_) {
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
  QuietWarnings warnings_;
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

std::uint64_t bytes_of_results(c10::ArrayRef<c10::IValue> outputs) {
  std::uint64_t bytes = 0;
  for (const auto& output : outputs) {
    if (output.isTensor() && output.toTensor().defined() && output.toTensor().layout() == c10::kStrided)
      bytes += output.toTensor().nbytes();
    else if (output.isTensorList())
      for (const auto& tensor : output.toListRef())
        if (tensor.toTensor().defined() && tensor.toTensor().layout() == c10::kStrided)
          bytes += tensor.toTensor().nbytes();
  }
  return bytes;
}

std::vector<ResultTensor> copies_of(const std::vector<ResultTensor>& results) {
  std::vector<ResultTensor> copies = results;
  for (ResultTensor& copy : copies)
    if (copy.tensor.defined())
      copy.tensor = copy.tensor.clone();
  return copies;
}

} // namespace

Examination::Examination(ThreadState& thread, const Operator& op, SavedCall& call,
                         std::vector<GeneratorState> drawn)
    : thread_(thread), op_(op), call_(call), device_(call.device()), pinned_(std::move(drawn)) {}

MeasurementLine Examination::run(c10::ArrayRef<c10::IValue> outputs, Signature& signature) {
  outputs_ = outputs;
  if (device_.is_cpu())
    for (const auto& output : outputs)
      if (output.isTensor() && output.toTensor().defined() && output.toTensor().is_cuda())
        device_ = output.toTensor().device();
  OwnWork own(thread_);
  find_changes(call_);
  return run_rounds(&signature);
}

MeasurementLine Examination::run() {
  return run_rounds(nullptr);
}

MeasurementLine Examination::run_rounds(Signature* signature) {
  OwnWork own(thread_);
  check_memory();
  call_.prepare();
  choose_generators();
  PinnedGenerators pinned(thread_, pinned_);
  if (!pinned.held())
    throw NotExamined{"another thread may draw random numbers meanwhile"};

  const std::string& compare_cuda = registry().options.compare_cuda;
  std::optional<ResultComparison> comparison;
  const auto compare_with = [&](std::vector<ResultTensor> reference) {
    reference_ = std::move(reference);
    comparison.emplace(reference_, compare_cuda);
  };
  if (outputs_)
    compare_with(results_of_program());
  MeasurementLine line;
  std::vector<double> times;
  const int wanted = registry().options.rounds;
  for (int round = 0; round < wanted; ++round) {
    if (round > 0)
      restore();
    pinned.reset();
    auto [results, nanoseconds] = execute(false);
    times.push_back(nanoseconds / 1000);
    if (thread_.holds_gate && registry().gate.stuck())
      throw NotExamined{"it needs another thread, which may draw random numbers meanwhile"};
    if (round == 0) {
      // The first execution shows which arguments a re-execution changes though the program's own call did not:
      // they are compared too.
      const bool news = note_changes();
      if (news)
        results = results_of(stack_, kept_, call_);
      if (!outputs_)
        compare_with(copies_of(results));
      else if (news)
        compare_with(results_of_program());
    }
    const bool same = comparison->add(results);
    if (!outputs_)
      note_hash(results, same);
    ++line.rounds;
    if (round + 1 >= 2 && registry().budget_left() - seconds_since(started_) <= 0)
      break;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  line.microseconds = times[times.size() / 2];
  line.distinct = comparison->distinct();
  line.outputs = comparison->outputs();
  if (line.distinct > 1) {
    line.verdict = "varies";
    line.blamed = !(signature && look_inside(pinned, *signature));
  } else if (comparison->differing_rounds() > 0) {
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

void Examination::execute_once() {
  OwnWork own(thread_);
  PinnedGenerators pinned(thread_, pinned_);
  restore();
  pinned.reset();
  execute(false);
  stack_.clear();
  kept_.clear();
}

void Examination::check_memory() const {
  const std::uint64_t results = outputs_ ? bytes_of_results(*outputs_) : 0;
  if (2 * call_.bytes() + 2 * results > registry().options.memory)
    throw NotExamined{"its arguments and results (" + std::to_string((call_.bytes() + results) >> 20) +
                      " MiB, held twice) are over the memory budget"};
}

/// A call that drew random numbers draws the same again: from a clone where the schema takes a generator, and
/// otherwise from the default generator, set back.
void Examination::choose_generators() {
  const int argument = op_.generator_argument;
  if (argument < 0 || pinned_.size() != 1)
    return;
  std::vector<at::Tensor> kept;
  if (!call_.build(kept)[static_cast<std::size_t>(argument)].isNone())
    return;
  substitute_ = std::move(pinned_.front());
  pinned_.clear();
}

std::vector<ResultTensor> Examination::results_of_program() const {
  std::vector<at::Tensor> originals;
  for (const SavedTensor& tensor : call_.tensors())
    originals.push_back(tensor.original);
  return results_of(*outputs_, originals, call_);
}

void Examination::note_hash(const std::vector<ResultTensor>& results, bool same) {
  if (same && !hashes_.empty())
    return; // the first execution's own
  std::string hash = hash_of(results);
  if (std::find(hashes_.begin(), hashes_.end(), hash) == hashes_.end())
    hashes_.push_back(std::move(hash));
}

void Examination::restore() {
  for (SavedStorage& storage : call_.storages())
    if (storage.changed || !op_.framework)
      storage.restore();
}

bool Examination::note_changes() {
  bool news = false;
  for (SavedStorage& storage : call_.storages()) {
    if (storage.changed || storage.working.nbytes() < storage.size)
      continue;
    storage.changed = storage.differs_from_saved(storage.working_bytes);
    news |= storage.changed;
  }
  return news;
}

std::pair<std::vector<ResultTensor>, double> Examination::execute(bool record) {
  stack_.clear();
  stack_ = call_.build(kept_);
  if (substitute_) {
    at::Generator generator = substitute_->generator.clone();
    generator.set_state(substitute_->before);
    stack_[static_cast<std::size_t>(op_.generator_argument)] = generator;
  }
  wait_for(device_);
  const auto start = Clock::now();
  {
    Replaying named(op_.name);
    ReplayMode mode(record, warning_);
    op_.handle.callBoxed(&stack_);
  }
  wait_for(device_);
  const double nanoseconds = seconds_since(start) * 1e9;
  if (record)
    return {{}, nanoseconds};
  return {results_of(stack_, kept_, call_), nanoseconds};
}

/// Executes once more and examines the operators that are called inside. True when one of them varies.
bool Examination::look_inside(PinnedGenerators& pinned, Signature& signature) {
  Sandbox sandbox{&signature};
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
    } enter(thread_, sandbox);
    execute(true);
  });
  return failed.empty() && sandbox.any_varies;
}

namespace {

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
    ThreadState& thread = *context.thread;
    std::vector<GeneratorState> drawn;
    {
      OwnWork own(thread);
      drawn = changed_since(context.generators);
    }
    Examination examination(thread, *context.op, *context.saved, drawn);
    const MeasurementLine line = examination.run(outputs, *context.signature);
    const bool varies = line.verdict == "varies";
    if (thread.sandbox && !varies)
      return;
    if (thread.sandbox)
      thread.sandbox->any_varies = true;
    journal::measured(*context.signature, line);
    save_case(context, drawn, examination.reference(), varies);
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
