// What the measurements depend on, as the program has it: versions and flags. Never initialises CUDA.
#include "runtime/op/observer.h"

#include <nlohmann/json.hpp>
#include <torch/version.h>

namespace reprobe::op {
namespace {

template <class Read> void add(nlohmann::json& values, const char* key, Read&& read) {
  try {
    values[key] = read();
  } catch (...) { // LibTorch refuses some queries, as of TF32 when old and new switches are mixed
    values[key] = nullptr;
  }
}

} // namespace

std::string environment_json() {
  nlohmann::json values;
  const auto& context = at::globalContext();
  values["libtorch"] = TORCH_VERSION;
  values["threads"] = at::get_num_threads();
  values["interop_threads"] = at::get_num_interop_threads();
  values["deterministic_algorithms"] = context.deterministicAlgorithms();
  values["warn_only"] = context.deterministicAlgorithmsWarnOnly();
  values["cudnn_benchmark"] = context.benchmarkCuDNN();
  values["cudnn_deterministic"] = context.deterministicCuDNN();
  const auto& hooks = at::detail::getCUDAHooks();
  values["cuda_in_use"] = registry().cuda_seen.load();
  if (registry().cuda_seen) { // asking earlier would initialise the driver in programs that do not use it
    add(values, "tf32_matmul", [&] { return context.allowTF32CuBLAS(); });
    add(values, "tf32_cudnn", [&] { return context.allowTF32CuDNN(); });
    add(values, "cuda_runtime", [&] { return hooks.versionCUDART(); });
    add(values, "cudnn", [&] { return hooks.versionRuntimeCuDNN(); });
  }
  return values.dump();
}

} // namespace reprobe::op
