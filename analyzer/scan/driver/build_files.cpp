#include "analyzer/scan/driver/build_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr std::array kBuildFiles = {"CMakeLists.txt", "Makefile",        "makefile",          "GNUmakefile",
                                    "setup.py",       "BUILD",           "BUILD.bazel",       "meson.build",
                                    "SConstruct",     "Makefile.config", "CMakePresets.json", "xmake.lua",
                                    ".bazelrc",       "premake5.lua"};
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

void for_each_build_file(const std::vector<fs::path>& sources, const fs::path& root,
                         const std::function<void(const fs::path&, const std::string& text)>& look) {
  std::set<fs::path> folders = {root};
  for (const fs::path& source : sources)
    for (fs::path folder = source.parent_path(); folder != root && folder.has_relative_path();
         folder = folder.parent_path()) {
      const fs::path relative = folder.lexically_relative(root);
      if (relative.empty() || *relative.begin() == ".." || !folders.insert(folder).second)
        break;
    }
  for (const fs::path& folder : folders)
    for (const char* name : kBuildFiles) {
      const fs::path file = folder / name;
      std::error_code error;
      if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > kLargest)
        continue;
      std::ifstream in(file, std::ios::binary);
      look(file, std::string{std::istreambuf_iterator<char>(in), {}});
    }
}

std::string without_comments(const std::string& text) {
  std::string out;
  bool comment = false;
  for (const char c : text) {
    comment = c != '\n' && (comment || c == '#');
    if (!comment)
      out += c;
  }
  return out;
}

std::vector<std::string> words_up_to(const std::string& text, std::size_t at, char end) {
  std::vector<std::string> words;
  const std::size_t stop = std::min(text.find(end, at), text.size());
  const std::string separators = std::string(kSeparators) + "\n";
  for (at = text.find_first_not_of(separators, at); at < stop;) {
    const std::size_t word_end = std::min(text.find_first_of(separators, at), stop);
    words.push_back(text.substr(at, word_end - at));
    at = text.find_first_not_of(separators, word_end);
  }
  return words;
}

// NAME or NAME=value, not what a variable of the build would fill in.
bool is_definition(const std::string& word) {
  const std::size_t name = std::min(word.find('='), word.size());
  if (name == 0 || std::isdigit(static_cast<unsigned char>(word[0])) || word.back() == '=')
    return false;
  const bool identifier =
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(name),
                  [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  return identifier && word.find_first_of("$\"'\\@") == std::string::npos;
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

std::vector<std::string> definitions_in(const std::string& text) {
  std::vector<std::string> out;
  for (const BuildFlag& flag : build_flags_in(text, {}))
    if (flag.text.starts_with("-D"))
      out.push_back(flag.text.substr(2));
  const std::string code = without_comments(text);
  for (const std::string list : {"add_compile_definitions", "target_compile_definitions"})
    for (std::size_t at = code.find(list); at != std::string::npos; at = code.find(list, at + 1)) {
      std::vector<std::string> words = words_up_to(code, at + list.size(), ')');
      if (list.starts_with("target") && !words.empty())
        words.erase(words.begin());
      out.insert(out.end(), words.begin(), words.end());
    }
  for (std::size_t at = code.find("define_macros"); at != std::string::npos;
       at = code.find("define_macros", at + 1)) {
    const std::vector<std::string> words = words_up_to(code, at + std::strlen("define_macros"), ']');
    out.insert(out.end(), words.begin(), words.end());
  }
  std::erase_if(out, [](const std::string& word) {
    return !is_definition(word) || word == "PRIVATE" || word == "PUBLIC" || word == "INTERFACE" ||
           word == "None";
  });
  return out;
}

std::vector<BuildFlag> read_build_flags(const std::vector<fs::path>& sources, const fs::path& root) {
  std::vector<BuildFlag> flags;
  for_each_build_file(sources, root, [&](const fs::path& file, const std::string& text) {
    const std::vector<BuildFlag> found = build_flags_in(text, file.lexically_relative(root).generic_string());
    flags.insert(flags.end(), found.begin(), found.end());
  });
  return flags;
}

std::vector<std::string> read_definitions(const std::vector<fs::path>& sources, const fs::path& root) {
  std::vector<std::string> out;
  for_each_build_file(sources, root, [&](const fs::path&, const std::string& text) {
    const std::vector<std::string> found = definitions_in(text);
    out.insert(out.end(), found.begin(), found.end());
  });
  return out;
}

} // namespace reprobe::scan
