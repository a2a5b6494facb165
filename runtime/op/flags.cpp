#include "runtime/op/flags.h"

#include "runtime/op/cases.h"
#include "runtime/op/journal.h"

#include <array>
#include <torch/version.h>

namespace reprobe::op::flags {
namespace {

using nlohmann::json;
using Value = std::uint64_t;
constexpr Value kAbsent = ~Value(0); // this LibTorch has no such flag
constexpr std::size_t kMostChanges = 1000; // a program that flips a flag at each call must not fill the disk

enum class Kind { truth, count, reduction };

struct Flag {
  const char* name;
  Kind kind;
  Value (*read)(const at::Context&);
  void (*set)(at::Context&, Value);
};

#define REPROBE_HAS_PRECISIONS (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11))

// The old switches (allowTF32CuBLAS and its kin) set the new precisions too, and asking the old ones warns the
// program once, or throws where it mixes both.
#if REPROBE_HAS_PRECISIONS
template <at::Float32Backend backend, at::Float32Op op, at::Float32Precision precision>
Value has_precision(const at::Context& context) {
  return context.float32Precision(backend, op) == precision;
}
template <at::Float32Backend backend, at::Float32Op op, at::Float32Precision precision>
void set_precision(at::Context& context, Value value) {
  context.setFloat32Precision(backend, op, value ? precision : at::Float32Precision::IEEE);
}
constexpr auto read_tf32_matmul =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::MATMUL, at::Float32Precision::TF32>;
constexpr auto read_tf32_cudnn =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::CONV, at::Float32Precision::TF32>;
constexpr auto read_tf32_cudnn_rnn =
    has_precision<at::Float32Backend::CUDA, at::Float32Op::RNN, at::Float32Precision::TF32>;
constexpr auto set_tf32_cudnn_rnn =
    set_precision<at::Float32Backend::CUDA, at::Float32Op::RNN, at::Float32Precision::TF32>;
constexpr auto read_bf16_mkldnn =
    has_precision<at::Float32Backend::MKLDNN, at::Float32Op::MATMUL, at::Float32Precision::BF16>;
constexpr auto set_bf16_mkldnn =
    set_precision<at::Float32Backend::MKLDNN, at::Float32Op::MATMUL, at::Float32Precision::BF16>;
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
void set_tf32_cudnn_rnn(at::Context&, Value) {}
void set_bf16_mkldnn(at::Context&, Value) {}
#endif

/// Older LibTorch answers with a bool, newer with an enum whose 0 allows everything.
template <class Option>
Value reduction(Option option) {
  if constexpr (std::is_same_v<Option, bool>)
    return option ? 0 : 1;
  else
    return static_cast<Value>(option);
}

template <void (at::Context::*set)(bool, bool)>
void set_reduction(at::Context& context, Value value) {
  (context.*set)(value == 0, value < 2);
}
template <void (at::Context::*set)(bool)>
void set_reduction(at::Context& context, Value value) {
  (context.*set)(value == 0);
}

// What only newer versions have is asked for, and set, where it is there.
#define REPROBE_ASK(call)                                                                                    \
  [](const auto& context) -> Value {                                                                         \
    if constexpr (requires { context.call(); })                                                              \
      return static_cast<Value>(context.call());                                                             \
    else                                                                                                     \
      return kAbsent;                                                                                        \
  }
#define REPROBE_SET(call)                                                                                    \
  [](auto& context, Value value) {                                                                           \
    if constexpr (requires { context.call(value != 0); })                                                    \
      context.call(value != 0);                                                                              \
  }

Value read_threads(const at::Context&);
void set_threads(at::Context&, Value value) {
  if (value > 0 && value <= 4096) // a case may say anything
    at::set_num_threads(static_cast<int>(value));
}

const std::array kFlags = {
    Flag{"deterministic_algorithms", Kind::truth, REPROBE_ASK(deterministicAlgorithms),
         [](at::Context& context, Value value) {
           context.setDeterministicAlgorithms(value != 0, context.deterministicAlgorithmsWarnOnly());
         }},
    Flag{"warn_only", Kind::truth, REPROBE_ASK(deterministicAlgorithmsWarnOnly),
         [](at::Context& context, Value value) {
           context.setDeterministicAlgorithms(context.deterministicAlgorithms(), value != 0);
         }},
    Flag{"fill_uninitialized_memory", Kind::truth, REPROBE_ASK(deterministicFillUninitializedMemory),
         REPROBE_SET(setDeterministicFillUninitializedMemory)},
    Flag{"cudnn_enabled", Kind::truth, REPROBE_ASK(userEnabledCuDNN), REPROBE_SET(setUserEnabledCuDNN)},
    Flag{"cudnn_benchmark", Kind::truth, REPROBE_ASK(benchmarkCuDNN), REPROBE_SET(setBenchmarkCuDNN)},
    Flag{"cudnn_benchmark_limit", Kind::count, REPROBE_ASK(benchmarkLimitCuDNN),
         [](at::Context& context, Value value) { context.setBenchmarkLimitCuDNN(static_cast<int>(value)); }},
    Flag{"cudnn_deterministic", Kind::truth, REPROBE_ASK(deterministicCuDNN), REPROBE_SET(setDeterministicCuDNN)},
    // The old switches set the old and the new state, which LibTorch wants to agree.
    Flag{"tf32_matmul", Kind::truth, read_tf32_matmul, REPROBE_SET(setAllowTF32CuBLAS)},
    Flag{"tf32_cudnn", Kind::truth, read_tf32_cudnn, REPROBE_SET(setAllowTF32CuDNN)},
    Flag{"tf32_cudnn_rnn", Kind::truth, read_tf32_cudnn_rnn, set_tf32_cudnn_rnn},
    Flag{"fp16_reduced_precision_reduction", Kind::reduction,
         [](const at::Context& context) { return reduction(context.allowFP16ReductionCuBLAS()); },
         set_reduction<&at::Context::setAllowFP16ReductionCuBLAS>},
    Flag{"bf16_reduced_precision_reduction", Kind::reduction,
         [](const at::Context& context) { return reduction(context.allowBF16ReductionCuBLAS()); },
         set_reduction<&at::Context::setAllowBF16ReductionCuBLAS>},
    Flag{"fp16_accumulation", Kind::truth, REPROBE_ASK(allowFP16AccumulationCuBLAS),
         REPROBE_SET(setAllowFP16AccumulationCuBLAS)},
    Flag{"fp16_reduction_cpu", Kind::truth, REPROBE_ASK(allowFP16ReductionCPU), REPROBE_SET(setAllowFP16ReductionCPU)},
    Flag{"flash_attention", Kind::truth, REPROBE_ASK(userEnabledFlashSDP), REPROBE_SET(setSDPUseFlash)},
    Flag{"flash_attention_3", Kind::truth, REPROBE_ASK(userEnabledFA3SDP), REPROBE_SET(setSDPUseFA3)},
    Flag{"memory_efficient_attention", Kind::truth, REPROBE_ASK(userEnabledMemEfficientSDP),
         REPROBE_SET(setSDPUseMemEfficient)},
    Flag{"math_attention", Kind::truth, REPROBE_ASK(userEnabledMathSDP), REPROBE_SET(setSDPUseMath)},
    Flag{"cudnn_attention", Kind::truth, REPROBE_ASK(userEnabledCuDNNSDP), REPROBE_SET(setSDPUseCuDNN)},
    Flag{"math_attention_reduced_precision", Kind::truth, REPROBE_ASK(allowFP16BF16ReductionMathSDP),
         REPROBE_SET(setAllowFP16BF16ReductionMathSDP)},
    Flag{"mkldnn_enabled", Kind::truth, REPROBE_ASK(userEnabledMkldnn), REPROBE_SET(setUserEnabledMkldnn)},
    Flag{"mkldnn_deterministic", Kind::truth, REPROBE_ASK(deterministicMkldnn), REPROBE_SET(setDeterministicMkldnn)},
    Flag{"mkldnn_bf16_matmul", Kind::truth, read_bf16_mkldnn, set_bf16_mkldnn},
    Flag{"threads", Kind::count, read_threads, set_threads},
};
#undef REPROBE_ASK
#undef REPROBE_SET

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

constexpr std::array kReductions = {"allowed", "only split-k", "not allowed"};

json shown(const Flag& flag, Value value) {
  if (value == kAbsent)
    return nullptr;
  switch (flag.kind) {
  case Kind::truth:
    return value != 0;
  case Kind::count:
    return value;
  case Kind::reduction:
    return kReductions.at(value);
  }
  return nullptr;
}

/// The inverse. Throws json::exception and FileProblem.
Value value_of(const Flag& flag, const json& shown) {
  switch (flag.kind) {
  case Kind::truth:
    return shown.get<bool>();
  case Kind::count:
    return shown.get<std::uint16_t>();
  case Kind::reduction:
    for (Value value = 0; value < kReductions.size(); ++value)
      if (shown.get_ref<const std::string&>() == kReductions[value])
        return value;
  }
  throw FileProblem{std::string("its header makes no sense: flag ") + flag.name};
}

json shown(const Values& values) {
  json object = json::object();
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

json values() { return shown(read()); }

bool tf32_matmul() { return read_tf32_matmul(at::globalContext()) == 1; }
bool tf32_cudnn() { return read_tf32_cudnn(at::globalContext()) == 1; }

namespace {

constexpr std::pair<const char*, c10::DeviceType> kAutocastDevices[] = {{"cpu", c10::kCPU}, {"cuda", c10::kCUDA}};

} // namespace

json of_call() {
  json flags = values();
  flags["threads"] = at::get_num_threads();
  flags["grad"] = c10::GradMode::is_enabled();
  flags["inference"] = c10::InferenceMode::is_enabled();
  for (const auto& [name, device] : kAutocastDevices)
    flags["autocast"][name] = {{"enabled", at::autocast::is_autocast_enabled(device)},
                               {"dtype", dtype_name(at::autocast::get_autocast_dtype(device))}};
  return flags;
}

struct Applied::OfThread {
  OfThread(bool grad_mode, bool inference_mode) : inference(inference_mode), grad(grad_mode) {}
  c10::InferenceMode inference;
  c10::AutoGradMode grad;
};

Applied::Applied(const json& flags) {
  at::Context& context = at::globalContext();
  for (const Flag& flag : kFlags) {
    const auto shown = flags.find(flag.name);
    if (shown == flags.end())
      continue;
    const Value value = value_of(flag, *shown), now = flag.read(context);
    if (now != kAbsent && now != value)
      flag.set(context, value);
  }
  for (const auto& [name, device] : kAutocastDevices) {
    const json& autocast = flags.at("autocast").at(name);
    at::autocast::set_autocast_dtype(device, dtype_of(autocast.at("dtype").get<std::string>()));
    at::autocast::set_autocast_enabled(device, autocast.at("enabled").get<bool>());
  }
  of_thread_ = std::make_unique<OfThread>(flags.at("grad").get<bool>(), flags.at("inference").get<bool>());
}

Applied::~Applied() = default;

} // namespace reprobe::op::flags
