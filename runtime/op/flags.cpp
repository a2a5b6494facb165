#include "runtime/op/flags.h"

#include "runtime/op/cases.h"

namespace reprobe::op {
namespace {

using nlohmann::json;

template <class Read>
json read_or_null(Read&& read) {
  try {
    return read();
  } catch (...) { // LibTorch refuses when old and new switches are mixed
    return nullptr;
  }
}

json autocast_of(c10::DeviceType device) {
  return {{"enabled", at::autocast::is_autocast_enabled(device)},
          {"dtype", dtype_name(at::autocast::get_autocast_dtype(device))}};
}

constexpr std::pair<const char*, c10::DeviceType> kAutocastDevices[] = {{"cpu", c10::kCPU}, {"cuda", c10::kCUDA}};

template <class Set>
void set_if_there(const json& flags, const char* key, Set&& set) {
  if (const auto value = flags.find(key); value != flags.end() && !value->is_null())
    set(value->get<bool>());
}

} // namespace

json flags_now(bool cuda) {
  const auto& context = at::globalContext();
  json flags = {{"deterministic", context.deterministicAlgorithms()},
                {"warn_only", context.deterministicAlgorithmsWarnOnly()},
                {"cudnn_benchmark", context.benchmarkCuDNN()},
                {"cudnn_deterministic", context.deterministicCuDNN()},
                {"tf32_matmul", nullptr},
                {"tf32_cudnn", nullptr},
                {"grad", c10::GradMode::is_enabled()},
                {"inference", c10::InferenceMode::is_enabled()},
                {"threads", at::get_num_threads()}};
  if (cuda) {
    flags["tf32_matmul"] = read_or_null([&] { return context.allowTF32CuBLAS(); });
    flags["tf32_cudnn"] = read_or_null([&] { return context.allowTF32CuDNN(); });
  }
  for (const auto& [name, device] : kAutocastDevices)
    flags["autocast"][name] = autocast_of(device);
  return flags;
}

struct AppliedFlags::ThreadFlags {
  ThreadFlags(bool grad_mode, bool inference_mode) : inference(inference_mode), grad(grad_mode) {}
  c10::InferenceMode inference;
  c10::AutoGradMode grad;
};

AppliedFlags::AppliedFlags(const json& flags) {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(flags.at("deterministic").get<bool>(), flags.at("warn_only").get<bool>());
  context.setBenchmarkCuDNN(flags.at("cudnn_benchmark").get<bool>());
  context.setDeterministicCuDNN(flags.at("cudnn_deterministic").get<bool>());
  set_if_there(flags, "tf32_matmul", [&](bool on) { context.setAllowTF32CuBLAS(on); });
  set_if_there(flags, "tf32_cudnn", [&](bool on) { context.setAllowTF32CuDNN(on); });
  if (const int threads = flags.at("threads").get<int>(); threads > 0 && threads <= 4096)
    at::set_num_threads(threads);
  for (const auto& [name, device] : kAutocastDevices) {
    const json& autocast = flags.at("autocast").at(name);
    at::autocast::set_autocast_dtype(device, dtype_of(autocast.at("dtype").get<std::string>()));
    at::autocast::set_autocast_enabled(device, autocast.at("enabled").get<bool>());
  }
  thread_ = std::make_unique<ThreadFlags>(flags.at("grad").get<bool>(), flags.at("inference").get<bool>());
}

AppliedFlags::~AppliedFlags() = default;

} // namespace reprobe::op
