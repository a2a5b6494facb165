#include "runtime/environment/environment.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <sys/utsname.h>
#include <thread>
#include <vector>

namespace reprobe::environment {
namespace {

using nlohmann::json;

// Closed again at once: a fingerprint must leave nothing behind.
class Library {
public:
  explicit Library(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (!handle_) handle_ = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  }
  ~Library() {
    if (handle_) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <class Function>
  Function* function(const char* name) const {
    return handle_ ? reinterpret_cast<Function*>(::dlsym(handle_, name)) : nullptr;
  }

private:
  void* handle_ = nullptr;
};

std::string value_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t begin = line.find_first_not_of(" \t:=\"", key.size());
    const std::size_t end = line.find_last_not_of(" \t\"");
    if (begin != std::string::npos && end >= begin) return line.substr(begin, end - begin + 1);
  }
  return {};
}

// NVML answers without creating a context on the GPU.
void add_gpus(json& result) {
  const Library nvml{"libnvidia-ml.so.1"};
  const auto init = nvml.function<int()>("nvmlInit_v2");
  if (!init || init() != 0) return;
  char text[128] = {};
  if (const auto driver = nvml.function<int(char*, unsigned)>("nvmlSystemGetDriverVersion"); driver && driver(text, sizeof text) == 0)
    result["driver"] = text;
  unsigned count = 0;
  const auto get_count = nvml.function<int(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto get_handle = nvml.function<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  const auto get_name = nvml.function<int(void*, char*, unsigned)>("nvmlDeviceGetName");
  if (get_count && get_handle && get_name && get_count(&count) == 0) {
    result["gpus"] = json::array();
    for (unsigned index = 0; index < count; ++index) {
      void* device = nullptr;
      if (get_handle(index, &device) == 0 && get_name(device, text, sizeof text) == 0) result["gpus"].push_back(text);
    }
  }
  if (const auto shutdown = nvml.function<int()>("nvmlShutdown")) shutdown();
}

std::string dotted(std::size_t version, std::size_t major, std::size_t minor) {
  return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
         std::to_string(version % minor);
}

void add_libraries(json& result) {
  const Library runtime{"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  if (const auto get = runtime.function<int(int*)>("cudaRuntimeGetVersion")) {
    int version = 0;
    if (get(&version) == 0) result["cuda"] = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  const Library cudnn{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"};
  if (const auto get = cudnn.function<std::size_t()>("cudnnGetVersion")) {
    const std::size_t version = get(); // 91400 is 9.14.0; up to 8.x, 8907 is 8.9.7
    result["cudnn"] = version >= 90000 ? dotted(version, 10000, 100) : dotted(version, 1000, 100);
  }
  const Library nccl{"libnccl.so.2"};
  if (const auto get = nccl.function<int(int*)>("ncclGetVersion")) {
    int version = 0;
    if (get(&version) == 0) result["nccl"] = dotted(static_cast<std::size_t>(version), 10000, 100);
  }
}

void add_variables(json& result) {
  for (const char* name :
       {"CUBLAS_WORKSPACE_CONFIG", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE",
        "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_LINALG_PREFER_CUSOLVER", "TORCH_BLAS_PREFER_CUBLASLT",
        "TORCH_CUDNN_V8_API_DISABLED", "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "MKL_CBWR", "MKL_DYNAMIC", "MKL_NUM_THREADS", "OMP_DYNAMIC",
        "OMP_NUM_THREADS", "KMP_DETERMINISTIC_REDUCTION", "PYTHONHASHSEED"})
    if (const char* value = std::getenv(name)) result["variables"][name] = value;
}

} // namespace

json fingerprint() {
  json result = json::object();
  utsname system{};
  if (::uname(&system) == 0) result["kernel"] = std::string(system.sysname) + " " + system.release;
  result["system"] = value_in("/etc/os-release", "PRETTY_NAME");
  result["cpu"] = value_in("/proc/cpuinfo", "model name");
  result["cores"] = std::thread::hardware_concurrency();
  add_gpus(result);
  add_libraries(result);
  add_variables(result);
  return result;
}

} // namespace reprobe::environment
