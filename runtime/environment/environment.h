// The fingerprint of the machine: what must be equal before two runs can be expected to be.
#pragma once

#include <nlohmann/json.hpp>

namespace reprobe::environment {

/// Operating system, CPU, GPUs, driver, CUDA, cuDNN, NCCL and the environment variables that matter. Loads libraries
/// to ask for their version, creates no CUDA context, and leaves out what is not there. Never throws.
nlohmann::json fingerprint();

} // namespace reprobe::environment
