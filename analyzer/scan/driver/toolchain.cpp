#include "analyzer/scan/driver/toolchain.h"

#include "analyzer/scan/facts/paths.h"
#include "rules/error.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <link.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin)
      out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// Sub-folders in order of name, newest version last.
std::vector<fs::path> children(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix))
      out.push_back(entry->path());
  std::sort(out.begin(), out.end());
  return out;
}

bool holds_torch(const fs::path& root) {
  return is_file(root / "include/ATen/ATen.h") ||
         is_file(root / "include/torch/csrc/api/include/torch/torch.h");
}

bool holds_cuda(const fs::path& root) {
  return is_file(root / "include/cuda_runtime.h");
}

fs::path python_prefix_of_path() {
  const std::string home = environment("HOME");
  fs::path pyenv = environment("PYENV_ROOT");
  if (pyenv.empty() && !home.empty())
    pyenv = fs::path(home) / ".pyenv";
  for (const std::string& folder : split(environment("PATH"), ":"))
    for (const char* name : {"python3", "python"}) {
      const fs::path python = fs::path(folder) / name;
      if (!is_file(python))
        continue;
      if (fs::path(folder).filename() ==
          "shims") { // a script that chooses: do the same by reading its version file
        std::string version = split(environment("PYENV_VERSION") + ":", ":").empty()
                                  ? ""
                                  : split(environment("PYENV_VERSION"), ":").front();
        if (version.empty())
          std::ifstream(pyenv / "version") >> version;
        if (!version.empty() && is_folder(pyenv / "versions" / version))
          return pyenv / "versions" / version;
        continue;
      }
      return fs::path(folder).parent_path(); // a virtual environment's own prefix, not what it links to
    }
  return {};
}

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> out;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environment(name); !prefix.empty())
      out.emplace_back(prefix);
  if (const fs::path prefix = python_prefix_of_path(); !prefix.empty())
    out.push_back(prefix);
  if (const std::string home = environment("HOME"); !home.empty())
    out.push_back(fs::path(home) / ".local");
  out.emplace_back("/usr/local"), out.emplace_back("/usr");
  return out;
}

std::vector<fs::path> torch_candidates() {
  std::vector<fs::path> out;
  if (const std::string config = environment("Torch_DIR"); !config.empty())
    out.push_back((fs::path(config) / "../../..").lexically_normal()); // from share/cmake/Torch
  for (const std::string& prefix : split(environment("CMAKE_PREFIX_PATH"), ":;")) {
    out.emplace_back(prefix);
    out.push_back(fs::path(prefix) / "torch");
    out.push_back(
        (fs::path(prefix) / "../..").lexically_normal()); // `torch.utils.cmake_prefix_path` is share/cmake
  }
  for (const fs::path& prefix : python_prefixes()) {
    for (const char* library : {"lib", "lib64"})
      for (const fs::path& python : children(prefix / library, "python3"))
        for (const char* packages : {"site-packages", "dist-packages"})
          out.push_back(python / packages / "torch");
  }
  fs::path cache = environment("XDG_CACHE_HOME");
  if (cache.empty() && !environment("HOME").empty())
    cache = fs::path(environment("HOME")) / ".cache";
  if (!cache.empty()) {
    std::vector<fs::path> own = children(cache / "reprobe", "libtorch-");
    for (auto newest = own.rbegin(); newest != own.rend(); ++newest)
      out.push_back(*newest / "torch");
  }
  for (const char* known : {"/usr/local/libtorch", "/opt/libtorch"})
    out.emplace_back(known);
  return out;
}

fs::path clang_library() {
  fs::path found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const fs::path path = info->dlpi_name ? info->dlpi_name : "";
        if (!path.filename().string().starts_with("libclang-cpp"))
          return 0;
        *static_cast<fs::path*>(out) = path;
        return 1;
      },
      &found);
  std::error_code error;
  const fs::path real = fs::canonical(found, error);
  return error ? found : real;
}

fs::path find_clang_resources() {
  std::vector<fs::path> candidates;
  const std::string version = REPROBE_CLANG_VERSION_MAJOR;
  const fs::path library = clang_library().parent_path();
  candidates.push_back(library / "clang" / version);
  candidates.push_back(library / ("llvm-" + version) / "lib/clang" / version);
  candidates.push_back(library.parent_path() / ("llvm-" + version) / "lib/clang" / version);
  candidates.push_back(fs::path("/usr/lib/llvm-" + version) / "lib/clang" / version);
  candidates.push_back(fs::path("/usr/lib/clang") / version);
  for (const fs::path& candidate : candidates)
    if (is_file(candidate / "include/stddef.h"))
      return candidate;
  throw Error("Clang's own headers not found", "",
              "looked in " + candidates.front().string() + " and " + candidates[3].string(),
              "install libclang-common-" + version + "-dev", 3);
}

void set_torch(Toolchain& tools, const fs::path& root) {
  tools.torch = root;
  tools.torch_includes = {root / "include", root / "include/torch/csrc/api/include"};
}

void find_last_includes(Toolchain& tools) {
  auto& out = tools.last_includes;
  const auto add = [&](const fs::path& folder, const char* header) {
    if (is_file(folder / header))
      out.push_back(folder);
  };
  std::vector<fs::path> prefixes;
  if (!tools.torch.empty()) {
    // <prefix>/lib/python3.x/site-packages/torch; its CUDA libraries are sibling packages
    for (const fs::path& package : children(tools.torch.parent_path() / "nvidia", ""))
      if (is_folder(package / "include"))
        out.push_back(package / "include");
    prefixes.push_back(tools.torch.parent_path().parent_path().parent_path().parent_path());
  }
  for (const fs::path& prefix : python_prefixes())
    prefixes.push_back(prefix);
  for (const fs::path& prefix : prefixes) {
    const std::size_t before = out.size();
    std::vector<fs::path> pythons = children(prefix / "include", "python3");
    for (auto newest = pythons.rbegin(); newest != pythons.rend() && out.size() == before; ++newest)
      add(*newest, "Python.h");
    if (out.size() != before)
      break;
  }
  // OpenMP's header comes with the C++ compiler; its other headers are for itself, so they come last.
  for (const fs::path& target : children("/usr/lib/gcc", ""))
    for (const fs::path& version : children(target, ""))
      if (is_file(version / "include/omp.h")) {
        out.push_back(version / "include");
        return;
      }
}

} // namespace

void use_cuda(Toolchain& tools, const fs::path& root) {
  if (!holds_cuda(root))
    return;
  tools.cuda = root;
  tools.cuda_includes = {root / "include"};
  if (is_folder(root / "include/cccl"))
    tools.cuda_includes.push_back(root / "include/cccl");
}

Toolchain find_toolchain(const fs::path& torch_root, const fs::path& cuda_root) {
  Toolchain tools;
  tools.clang_resources = find_clang_resources();

  if (!torch_root.empty()) {
    const fs::path root = fs::absolute(torch_root).lexically_normal();
    if (!holds_torch(root))
      throw Error("no LibTorch there", torch_root.string(), "include/ATen/ATen.h is missing",
                  "give the folder that holds include/ and lib/");
    set_torch(tools, root);
  } else {
    for (const fs::path& candidate : torch_candidates())
      if (holds_torch(candidate)) {
        set_torch(tools, candidate);
        break;
      }
  }

  if (!cuda_root.empty()) {
    const fs::path root = fs::absolute(cuda_root).lexically_normal();
    if (!holds_cuda(root))
      throw Error("no CUDA toolkit there", cuda_root.string(), "include/cuda_runtime.h is missing",
                  "give the folder that holds include/ and bin/");
    use_cuda(tools, root);
  } else {
    for (const fs::path& candidate : {fs::path(environment("CUDA_HOME")), fs::path(environment("CUDA_PATH")),
                                      fs::path("/usr/local/cuda"), fs::path("/usr")})
      if (!candidate.empty() && holds_cuda(candidate)) {
        use_cuda(tools, candidate);
        break;
      }
  }
  find_last_includes(tools);
  return tools;
}

} // namespace reprobe::scan
