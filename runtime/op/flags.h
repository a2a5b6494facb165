// The flags of LibTorch that decide which algorithm runs, as JSON: deterministic, warn_only, cudnn_benchmark,
// cudnn_deterministic, tf32_matmul, tf32_cudnn (null: not asked), grad, inference, threads, autocast: {cpu, cuda:
// {enabled, dtype}}.
#pragma once

#include <nlohmann/json.hpp>

#include <memory>

namespace reprobe::op {

/// As they are on this thread. `cuda`: ask for CUDA's flags too, which initialises nothing only where CUDA is in use.
nlohmann::json flags_now(bool cuda);

/// Sets process-wide flags, and this thread's while it lives. For processes of our own only.
class AppliedFlags {
public:
  explicit AppliedFlags(const nlohmann::json& flags);
  ~AppliedFlags();
  AppliedFlags(const AppliedFlags&) = delete;
  AppliedFlags& operator=(const AppliedFlags&) = delete;

private:
  struct ThreadFlags;
  std::unique_ptr<ThreadFlags> thread_;
};

} // namespace reprobe::op
