#include "analyzer/scan/facts/paths.h"

#include <algorithm>
#include <array>

namespace reprobe::scan {
namespace fs = std::filesystem;

bool is_regular(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path out = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : out;
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !folder.empty() && !relative.empty() && *relative.begin() != "..";
}

bool is_third_party(const std::string& name) {
  constexpr std::array kNames = {"third_party",     "third-party", "thirdparty",    "3rdparty",
                                 "external",        "externals",   "vendor",        "vendored",
                                 "node_modules",    "_deps",       "site-packages", "dist-packages",
                                 "vcpkg_installed", "libtorch"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* known) { return name == known; });
}

bool is_build_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with("cmake-build-") || name == "build" || name.starts_with("build-") ||
         name.starts_with("build_") || name == "_build" || name == "CMakeFiles" || name == "__pycache__" ||
         is_regular(folder / "CMakeCache.txt");
}

} // namespace reprobe::scan
