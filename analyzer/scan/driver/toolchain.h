// Where LibTorch, CUDA, Python's headers and Clang's own headers lie. Found by path: no foreign program is
// started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Toolchain {
  std::filesystem::path clang_resources; // of the Clang that is linked: builtin headers
  std::filesystem::path torch;           // folder with include/ATen; empty: none found
  std::filesystem::path cuda;            // folder with include/cuda_runtime.h; empty: none found
  std::vector<std::filesystem::path> torch_includes, cuda_includes;
  std::vector<std::filesystem::path>
      last_includes; // searched after everything else: Python.h, omp.h, cudnn.h of wheels
};

/// `torch_root` and `cuda_root` as the user gave them; throws reprobe::Error when one is given and is no such
/// folder.
Toolchain find_toolchain(const std::filesystem::path& torch_root, const std::filesystem::path& cuda_root);

/// The toolkit that a database entry's own nvcc belongs to replaces the one found.
void use_cuda(Toolchain&, const std::filesystem::path& root);

} // namespace reprobe::scan
