#include "analyzer/report/sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace reprobe::report {
namespace {

class Fingerprints : public testing::Test {
protected:
  // One finding a line that holds "@"; with its function.
  std::vector<std::string> of(const std::string& text, const std::string& file = "a.cpp", const std::string& function = "f") {
    Sources sources("/nowhere");
    sources.put(file, text);
    Findings findings;
    for (std::uint32_t line = 1; !sources.line(file, line).empty() || line < 20; ++line)
      if (sources.line(file, line).find('@') != std::string_view::npos) {
        Finding& finding = findings.findings.emplace_back();
        finding.rule = "r";
        finding.message = "m";
        finding.function = function;
        finding.source = {file, line, 1, 0, 0};
      }
    add_lines(findings, sources);
    add_fingerprints(findings);
    std::vector<std::string> out;
    for (const Finding& finding : findings.findings)
      out.push_back(finding.fingerprint);
    return out;
  }
};

TEST_F(Fingerprints, StayWhenLinesMoveAndBlanksChange) {
  const auto before = of("\n@ x = 1;\n");
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].size(), 32u);
  EXPECT_EQ(of("\n\n// more\n\t@  x=1; \r\n"), before);
  EXPECT_EQ(of("@ x = 1;", "moved/b.cpp"), before);
}

TEST_F(Fingerprints, DifferByTextFunctionAndCount) {
  const auto before = of("@ x = 1;");
  EXPECT_NE(of("@ x = 2;"), before);
  EXPECT_NE(of("@ x = 1;", "a.cpp", "g"), before);
  const auto twice = of("@ x = 1;\n@ x = 1;\n");
  ASSERT_EQ(twice.size(), 2u);
  EXPECT_EQ(twice[0], before[0]);
  EXPECT_NE(twice[1], before[0]);
}

TEST(Sources, LinesOfFilesOnDiskAndInMemory) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "reprobe-sources-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.cpp") << "one\r\ntwo\nthree";
  Sources sources(folder);
  EXPECT_EQ(sources.line("a.cpp", 1), "one");
  EXPECT_EQ(sources.line("a.cpp", 2), "two");
  EXPECT_EQ(sources.line((folder / "a.cpp").string(), 3), "three");
  EXPECT_EQ(sources.line("a.cpp", 4), "");
  EXPECT_EQ(sources.line("a.cpp", 0), "");
  EXPECT_EQ(sources.line("none.cpp", 1), "");
  EXPECT_EQ(sources.line(".", 1), "") << "a folder is no source";
  sources.put(folder / "a.cpp", "unsaved");
  EXPECT_EQ(sources.line("a.cpp", 1), "unsaved");
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace reprobe::report
