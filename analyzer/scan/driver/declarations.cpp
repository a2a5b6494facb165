#include "analyzer/scan/driver/declarations.h"

namespace reprobe::scan {

// Made by declarations/generate.py at build time.
extern const char* const kLibtorchDeclarations;
extern const char* const kCudaDeclarations;

namespace {

constexpr const char* kFolder = "/reprobe-declarations/"; // nothing on disk has such a name

constexpr const char* kLibtorchHeaders[] = {"torch/torch.h",
                                            "torch/extension.h",
                                            "torch/script.h",
                                            "torch/all.h",
                                            "torch/nn.h",
                                            "torch/types.h",
                                            "torch/library.h",
                                            "torch/optim.h",
                                            "torch/data.h",
                                            "torch/utils.h",
                                            "torch/cuda.h",
                                            "torch/serialize.h",
                                            "torch/nn/module.h",
                                            "torch/csrc/autograd/function.h",
                                            "torch/csrc/autograd/custom_function.h",
                                            "ATen/ATen.h",
                                            "ATen/Context.h",
                                            "ATen/Dispatch.h",
                                            "ATen/Parallel.h",
                                            "ATen/cuda/CUDAContext.h",
                                            "ATen/cuda/CUDAGeneratorImpl.h",
                                            "ATen/cuda/CUDAUtils.h",
                                            "ATen/autocast_mode.h",
                                            "ATen/core/Tensor.h",
                                            "ATen/Tensor.h",
                                            "ATen/Functions.h",
                                            "ATen/CPUGeneratorImpl.h",
                                            "c10/core/Device.h",
                                            "c10/core/ScalarType.h",
                                            "c10/util/Exception.h",
                                            "c10/util/Half.h",
                                            "c10/util/ArrayRef.h",
                                            "c10/cuda/CUDAGuard.h",
                                            "c10/cuda/CUDAStream.h",
                                            "c10/cuda/CUDAException.h",
                                            "c10/cuda/CUDAFunctions.h",
                                            "c10/core/InferenceMode.h"};

constexpr const char* kCudaHeaders[] = {
    "cuda_runtime.h", "cuda.h",        "cuda_runtime_api.h", "device_launch_parameters.h",
    "cuda_fp16.h",    "cuda_bf16.h",   "device_functions.h", "device_atomic_functions.h",
    "vector_types.h", "driver_types.h"};

// nvcc lets host code call min and max without std; Clang's own CUDA headers have them for device code only.
std::string host_functions() {
  std::string text = "#pragma once\n";
  for (const char* type :
       {"int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "float", "double"})
    for (const char* name : {"min", "max"})
      text += std::string("__attribute__((host)) ") + type + " " + name + "(" + type + ", " + type + ");\n";
  return text;
}

// HIP is read as CUDA, whose attributes and thread indices Clang knows; only launches have a word of their
// own.
constexpr const char* kHipDeclarations =
    "#pragma once\n#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) "
    "kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)\n";

} // namespace

void add_declarations(const Toolchain& tools, Translation& translation, ParseRequest& request) {
  const std::string folder = kFolder;
  const bool cpp = translation.language != "c";
  bool any = false;
  if (tools.torch.empty() && cpp) {
    request.virtual_files[folder + "reprobe-libtorch.h"] = kLibtorchDeclarations;
    for (const char* name : kLibtorchHeaders)
      request.virtual_files[folder + name] = "#pragma once\n#include <reprobe-libtorch.h>\n";
    any = true;
  }
  if (tools.cuda.empty() && cpp) {
    request.virtual_files[folder + "reprobe-cuda.h"] = kCudaDeclarations;
    for (const char* name : kCudaHeaders)
      request.virtual_files[folder + name] = "#pragma once\n#include <reprobe-cuda.h>\n";
    any = true;
  }
  if (translation.language == "cuda") {
    request.virtual_files[folder + "hip/hip_runtime.h"] = kHipDeclarations;
    any = true;
  }
  if (!tools.cuda.empty() && translation.language == "cuda") {
    request.virtual_files[folder + "reprobe-nvcc.h"] = host_functions();
    translation.arguments.push_back("-include");
    translation.arguments.push_back(folder + "reprobe-nvcc.h");
  }
  if (!any)
    return;
  translation.arguments.push_back("-idirafter");
  translation.arguments.push_back(folder);
  if (tools.cuda.empty() && translation.language == "cuda") {
    translation.arguments.push_back("-include"); // as nvcc does
    translation.arguments.push_back(folder + "reprobe-cuda.h");
  }
}

} // namespace reprobe::scan
