// Which CUDA kernels ran, by LibTorch's profiler.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace reprobe::op {

/// Names, each once, in order of their start; empty where LibTorch was built without a CUDA profiler.
std::vector<std::string> kernels_of(const std::function<void()>& work);

} // namespace reprobe::op
