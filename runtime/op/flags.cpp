#include "runtime/op/flags.h"

#include "runtime/op/journal.h"

#include <array>
#include <nlohmann/json.hpp>
#include <torch/version.h>

namespace reprobe::op::flags {
namespace {

using Value = std::uint64_t;
constexpr Value kAbsent = ~Value(0); // this LibTorch has no such flag
constexpr std::size_t kMostChanges = 1000; // a program that flips a flag at each call must not fill the disk

enum class Kind { truth, count, reduction };

struct Flag {
  const char* name;
  Kind kind;
  Value (*read)(const at::Context&);
};

#define REPROBE_HAS_PRECISIONS (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11))

// The old switches (allowTF32CuBLAS and its kin) set the new precisions too, and asking the old ones warns the
// program once, or throws where it mixes both.
#if REPROBE_HAS_PRECISIONS
template <at::Float32Backend backend, at::Float32Op op, at::Float32Precision precision>
Value has_precision(const at::Context& context) {
  return context.float32Precision(backend, op) == precision;
}
constexpr auto read_tf32_matmul =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::MATMUL, at::Float32Precision::TF32>;
constexpr auto read_tf32_cudnn =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::CONV, at::Float32Precision::TF32>;
constexpr auto read_tf32_cudnn_rnn =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::RNN, at::Float32Precision::TF32>;
constexpr auto read_bf16_mkldnn =
    has_precision<at::Float32Backend::MKLDNN, at::Float32Op::MATMUL, at::Float32Precision::BF16>;
#else
template <class Read>
Value unless_it_throws(Read&& read) {
  try {
    return read();
  } catch (...) {
    return kAbsent;
  }
}
Value read_tf32_matmul(const at::Context& context) {
  return unless_it_throws([&] { return context.allowTF32CuBLAS(); });
}
Value read_tf32_cudnn(const at::Context& context) {
  return unless_it_throws([&] { return context.allowTF32CuDNN(); });
}
Value read_tf32_cudnn_rnn(const at::Context&) { return kAbsent; }
Value read_bf16_mkldnn(const at::Context&) { return kAbsent; }
#endif

/// Older LibTorch answers with a bool, newer with an enum whose 0 allows everything.
template <class Option>
Value reduction(Option option) {
  if constexpr (std::is_same_v<Option, bool>)
    return option ? 0 : 1;
  else
    return static_cast<Value>(option);
}

// What only newer versions have is asked for where it is there.
#define REPROBE_ASK(call)                                                                                    \
  [](const auto& context) -> Value {                                                                         \
    if constexpr (requires { context.call(); })                                                              \
      return static_cast<Value>(context.call());                                                             \
    else                                                                                                     \
      return kAbsent;                                                                                        \
  }

Value read_threads(const at::Context&);

const std::array kFlags = {
    Flag{"deterministic_algorithms", Kind::truth, REPROBE_ASK(deterministicAlgorithms)},
    Flag{"warn_only", Kind::truth, REPROBE_ASK(deterministicAlgorithmsWarnOnly)},
    Flag{"fill_uninitialized_memory", Kind::truth, REPROBE_ASK(deterministicFillUninitializedMemory)},
    Flag{"cudnn_enabled", Kind::truth, REPROBE_ASK(userEnabledCuDNN)},
    Flag{"cudnn_benchmark", Kind::truth, REPROBE_ASK(benchmarkCuDNN)},
    Flag{"cudnn_benchmark_limit", Kind::count, REPROBE_ASK(benchmarkLimitCuDNN)},
    Flag{"cudnn_deterministic", Kind::truth, REPROBE_ASK(deterministicCuDNN)},
    Flag{"tf32_matmul", Kind::truth, read_tf32_matmul},
    Flag{"tf32_cudnn", Kind::truth, read_tf32_cudnn},
    Flag{"tf32_cudnn_rnn", Kind::truth, read_tf32_cudnn_rnn},
    Flag{"fp16_reduced_precision_reduction", Kind::reduction,
         [](const at::Context& context) { return reduction(context.allowFP16ReductionCuBLAS()); }},
    Flag{"bf16_reduced_precision_reduction", Kind::reduction,
         [](const at::Context& context) { return reduction(context.allowBF16ReductionCuBLAS()); }},
    Flag{"fp16_accumulation", Kind::truth, REPROBE_ASK(allowFP16AccumulationCuBLAS)},
    Flag{"fp16_reduction_cpu", Kind::truth, REPROBE_ASK(allowFP16ReductionCPU)},
    Flag{"flash_attention", Kind::truth, REPROBE_ASK(userEnabledFlashSDP)},
    Flag{"flash_attention_3", Kind::truth, REPROBE_ASK(userEnabledFA3SDP)},
    Flag{"memory_efficient_attention", Kind::truth, REPROBE_ASK(userEnabledMemEfficientSDP)},
    Flag{"math_attention", Kind::truth, REPROBE_ASK(userEnabledMathSDP)},
    Flag{"cudnn_attention", Kind::truth, REPROBE_ASK(userEnabledCuDNNSDP)},
    Flag{"math_attention_reduced_precision", Kind::truth, REPROBE_ASK(allowFP16BF16ReductionMathSDP)},
    Flag{"mkldnn_enabled", Kind::truth, REPROBE_ASK(userEnabledMkldnn)},
    Flag{"mkldnn_deterministic", Kind::truth, REPROBE_ASK(deterministicMkldnn)},
    Flag{"mkldnn_bf16_matmul", Kind::truth, read_bf16_mkldnn},
    Flag{"threads", Kind::count, read_threads},
};
#undef REPROBE_ASK

using Values = std::array<Value, kFlags.size()>;

struct Timeline {
  std::mutex mutex;
  Values last{};
  bool begun = false;
  std::size_t changes = 0;
};

Timeline& timeline() {
  static Timeline* timeline = new Timeline;
  return *timeline;
}

std::atomic<std::uint64_t> last_hash{0}; // of the timeline's last values; 0: none yet
std::atomic<ThreadState*> thread_counter{nullptr};

/// The number is each thread's own. Only that of the thread seen first counts, or two threads that differ
/// would look like a flag that flips.
Value read_threads(const at::Context&) {
  static std::atomic<Value> last{kAbsent};
  ThreadState* expected = nullptr;
  ThreadState* self = &this_thread();
  if (thread_counter.compare_exchange_strong(expected, self) || expected == self)
    last.store(static_cast<Value>(at::get_num_threads()), std::memory_order_relaxed);
  return last.load(std::memory_order_relaxed);
}

Values read() {
  Values values;
  const at::Context& context = at::globalContext();
  for (std::size_t i = 0; i < kFlags.size(); ++i)
    values[i] = kFlags[i].read(context);
  return values;
}

std::uint64_t hash_of(const Values& values) {
  std::uint64_t hash = 1;
  for (const Value value : values)
    hash = hash * 0x9e3779b97f4a7c15ull + value;
  return hash ? hash : 1;
}

nlohmann::json shown(const Flag& flag, Value value) {
  if (value == kAbsent)
    return nullptr;
  switch (flag.kind) {
  case Kind::truth:
    return value != 0;
  case Kind::count:
    return value;
  case Kind::reduction:
    return value == 0 ? "allowed" : value == 1 ? "only split-k" : "not allowed";
  }
  return nullptr;
}

nlohmann::json shown(const Values& values) {
  nlohmann::json object = nlohmann::json::object();
  for (std::size_t i = 0; i < kFlags.size(); ++i)
    if (values[i] != kAbsent)
      object[kFlags[i].name] = shown(kFlags[i], values[i]);
  return object;
}

} // namespace

bool changed() { return hash_of(read()) != last_hash.load(std::memory_order_relaxed); }

void note(const Operator& op, const Site* site, std::uint64_t step) {
  std::lock_guard lock(timeline().mutex);
  const Values now = read();
  Values& last = timeline().last;
  if (!timeline().begun)
    journal::initial_flags(shown(now));
  for (std::size_t i = 0; timeline().begun && i < now.size(); ++i) {
    if (now[i] == last[i])
      continue;
    if (++timeline().changes <= kMostChanges)
      journal::flag_change({kFlags[i].name, shown(kFlags[i], last[i]), shown(kFlags[i], now[i]), step,
                            op.name, site});
    else if (timeline().changes == kMostChanges + 1)
      journal::remark("flags changed more than " + std::to_string(kMostChanges) +
                      " times; later changes are not listed");
  }
  timeline().begun = true;
  last = now;
  last_hash = hash_of(now);
}

nlohmann::json values() { return shown(read()); }

bool tf32_matmul() { return read_tf32_matmul(at::globalContext()) == 1; }
bool tf32_cudnn() { return read_tf32_cudnn(at::globalContext()) == 1; }

} // namespace reprobe::op::flags
