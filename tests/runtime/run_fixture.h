// Runs `reprobe run` (or a program alone) in a folder of its own and reads what came out.
#pragma once

#include "analyzer/report/measurements.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace reprobe::test {

namespace fs = std::filesystem;
using report::Measurement;
using report::Measurements;

inline std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Result {
  int exit_code = -1;
  std::string out, err;
  bool measured = false;
  Measurements measurements;
};

class Run : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "reprobe-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Through the shell, in a folder of its own.
  Result shell(const std::string& command) {
    const std::string redirected = "cd '" + folder_.string() + "' && { " + command + "; } >out 2>err";
    const int status = std::system(redirected.c_str());
    Result result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.out = contents(folder_ / "out");
    result.err = contents(folder_ / "err");
    if (fs::exists(folder_ / "m.json")) {
      result.measured = true;
      result.measurements = report::measurements_from_json(contents(folder_ / "m.json"), "m.json");
    }
    return result;
  }
  Result run(const std::string& program, const std::string& options = "") {
    return shell("'" REPROBE_EXECUTABLE "' run -o m.json " + options + " -- " + program);
  }

  fs::path folder_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << text

/// The first entry of an operator; null when there is none.
inline const Measurement* find(const Measurements& measurements, const std::string& op,
                               const std::string& direction = "") {
  for (const Measurement& entry : measurements.entries)
    if (entry.op == op && (direction.empty() || entry.direction == direction))
      return &entry;
  return nullptr;
}

/// Line of `source` that ends with "// line: <mark>".
inline std::uint32_t line_of(const fs::path& source, const std::string& mark) {
  std::ifstream file(source);
  std::uint32_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find("// line: " + mark) != std::string::npos)
      return number;
  }
  ADD_FAILURE() << "no line of " << source << " is marked " << mark;
  return 0;
}

/// What is not stable, one line each.
inline std::string listing(const Measurements& measurements) {
  std::string text;
  for (const Measurement& entry : measurements.entries)
    if (entry.verdict != "stable")
      text += entry.op + entry.signature + ": " + entry.verdict + ": " + entry.reason + "\n";
  return text;
}

} // namespace reprobe::test
