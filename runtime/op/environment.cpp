// What the measurements depend on, as the program has it: versions and flags. Never initialises CUDA.
#include "runtime/op/flags.h"

#include <dlfcn.h>
#include <nlohmann/json.hpp>
#include <torch/version.h>

namespace reprobe::op {
namespace {

// Asked of the libraries that the program has mapped: LibTorch's own hooks are gone when a program ends.
int cuda_runtime_version() {
  const auto get = reinterpret_cast<int (*)(int*)>(::dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));
  int version = 0;
  return get && get(&version) == 0 ? version : 0;
}

std::size_t cudnn_version() {
  const auto get = reinterpret_cast<std::size_t (*)()>(::dlsym(RTLD_DEFAULT, "cudnnGetVersion"));
  return get ? get() : 0;
}

} // namespace

std::string environment_json() {
  nlohmann::json values = flags::values();
  values["libtorch"] = TORCH_VERSION;
  values["interop_threads"] = at::get_num_interop_threads();
  values["cuda_in_use"] = registry().cuda_seen.load();
  if (registry().cuda_seen) { // asking earlier would initialise the driver in programs that do not use it
    values["cuda_runtime"] = cuda_runtime_version();
    values["cudnn"] = cudnn_version();
  }
  return values.dump();
}

} // namespace reprobe::op
