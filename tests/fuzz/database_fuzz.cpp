// Compilation databases of hostile repositories: read or refused, and each command translated.
#include "analyzer/scan/driver/commands.h"
#include "rules/error.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

// Include folders, macros and language: nothing that loads code, runs a program or writes a file.
bool is_harmless(const std::vector<std::string>& words) {
  const auto begins = [](const std::string& word, const std::vector<const char*>& known) {
    return std::any_of(known.begin(), known.end(), [&](const char* each) { return word.starts_with(each); });
  };
  const auto is_one_of = [](const std::string& word, const std::vector<const char*>& known) {
    return std::find(known.begin(), known.end(), word) != known.end();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_one_of(words[i], {"-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "-iprefix",
                             "-iwithprefix"})) {
      if (++i == words.size())
        return false;
    } else if (!(begins(words[i], {"-I", "-D", "-U", "-std=", "--sysroot=", "-stdlib="}) && words[i].size() > 2) &&
               !is_one_of(words[i], {"-nostdinc", "-nostdinc++", "-fsigned-char", "-funsigned-char", "-fms-extensions",
                                     "-fno-char8_t", "-fchar8_t", "-ansi", "-undef", "-fshort-enums"})) {
      return false;
    }
  }
  return true;
}

} // namespace

void fuzz(std::string_view input) {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("reprobe-fuzz-" + std::to_string(getpid()) + ".json");
  std::ofstream(file, std::ios::binary) << input;
  try {
    for (const auto& entry : reprobe::scan::read_database(file).entries)
      expect(is_harmless(reprobe::scan::translate(entry).arguments));
  } catch (const reprobe::Error&) {
  }
  std::filesystem::remove(file);
}
