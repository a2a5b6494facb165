#include "runtime/op/kernels.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>

namespace reprobe::op {

std::vector<std::string> kernels_of(const std::function<void()>& work) {
  using namespace torch::autograd::profiler;
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities = {ActivityType::CUDA};
  prepareProfiler(config, activities);
  enableProfiler(config, activities);
  try {
    work();
  } catch (...) {
    disableProfiler();
    throw;
  }
  const auto result = disableProfiler();
  std::vector<KinetoEvent> events = result->events();
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.startNs() < b.startNs(); });
  std::vector<std::string> names;
  for (const KinetoEvent& event : events) {
    const std::string name = event.name();
    // Copies and fills are listed by the profiler as "Memcpy DtoD …" and "Memset …".
    if (event.deviceType() == c10::DeviceType::CUDA && name.rfind("Mem", 0) != 0 &&
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

} // namespace reprobe::op
