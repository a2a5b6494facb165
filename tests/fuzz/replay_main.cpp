// Runs a target over files and folders of inputs, for machines without the fuzzer: each known crash stays mended.
#include "tests/fuzz/fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int count, char** arguments) {
  std::size_t inputs = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[i])) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text(std::istreambuf_iterator<char>(in), {});
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      fuzz(text);
      ++inputs;
    }
  return inputs > 0 ? 0 : 1;
}
