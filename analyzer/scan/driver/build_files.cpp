#include "analyzer/scan/driver/build_files.h"

#include <array>
#include <fstream>
#include <iterator>
#include <set>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr std::array kBuildFiles = {"CMakeLists.txt", "Makefile",    "makefile",     "GNUmakefile", "setup.py",
                                    "BUILD",          "BUILD.bazel", "meson.build",  "SConstruct",  "Makefile.config",
                                    "CMakePresets.json", "xmake.lua", ".bazelrc",    "premake5.lua"};
constexpr std::uintmax_t kLargest = 1 << 20; // bytes; generated files are no knowledge
constexpr const char* kSeparators = " \t\r\"'`;,()[]{}<>$";

bool is_option(const std::string& word) {
  return word.size() > 2 && (word[0] == '-' || word.rfind("/fp:", 0) == 0);
}

// `CFLAGS=-Ofast`, `$<CONFIG:Release>:-O3`: the option within the word, and where it starts.
std::size_t option_start(const std::string& word) {
  for (const char* before : {"=-", ":-", "=/fp:"})
    if (const std::size_t at = word.find(before); at != std::string::npos)
      return at + 1;
  return 0;
}

} // namespace

std::vector<BuildFlag> build_flags_in(const std::string& text, const std::string& path) {
  std::vector<BuildFlag> flags;
  std::uint32_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string row = text.substr(begin, end - begin);
    begin = end + 1;
    for (std::size_t at = row.find_first_not_of(kSeparators); at < row.size();) {
      if (row[at] == '#')
        break; // a comment in all of these languages
      const std::size_t stop = std::min(row.find_first_of(kSeparators, at), row.size());
      std::string word = row.substr(at, stop - at);
      const std::size_t start = option_start(word);
      word.erase(0, start);
      if (is_option(word))
        flags.push_back({path, line, static_cast<std::uint32_t>(at + start + 1), std::move(word)});
      at = row.find_first_not_of(kSeparators, stop);
    }
  }
  return flags;
}

std::vector<BuildFlag> read_build_flags(const std::vector<fs::path>& sources, const fs::path& root) {
  std::set<fs::path> folders = {root};
  for (const fs::path& source : sources)
    for (fs::path folder = source.parent_path(); folder != root && folder.has_relative_path();
         folder = folder.parent_path()) {
      const fs::path relative = folder.lexically_relative(root);
      if (relative.empty() || *relative.begin() == ".." || !folders.insert(folder).second)
        break;
    }
  std::vector<BuildFlag> flags;
  for (const fs::path& folder : folders)
    for (const char* name : kBuildFiles) {
      const fs::path file = folder / name;
      std::error_code error;
      if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > kLargest)
        continue;
      std::ifstream in(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      const std::vector<BuildFlag> found = build_flags_in(text, file.lexically_relative(root).generic_string());
      flags.insert(flags.end(), found.begin(), found.end());
    }
  return flags;
}

} // namespace reprobe::scan
