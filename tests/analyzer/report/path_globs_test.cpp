#include "analyzer/report/path_globs.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

TEST(PathGlobs, AsGitignoreHasThem) {
  EXPECT_TRUE(matches_path("generated", "a/generated/b.cpp"));
  EXPECT_TRUE(matches_path("generated/", "a/generated/b.cpp"));
  EXPECT_TRUE(matches_path("*.pb.cc", "a/b.pb.cc"));
  EXPECT_TRUE(matches_path("src", "src/a.cpp"));
  EXPECT_TRUE(matches_path("./src", "src/a.cpp"));
  EXPECT_TRUE(matches_path("/src", "src/a.cpp"));
  EXPECT_FALSE(matches_path("/src", "a/src/a.cpp"));
  EXPECT_FALSE(matches_path("src/gen", "a/src/gen/b.cpp"));
  EXPECT_TRUE(matches_path("**/gen", "a/src/gen/b.cpp"));
  EXPECT_TRUE(matches_path("**/gen", "gen/b.cpp"));
  EXPECT_TRUE(matches_path("src/**/x.cu", "src/x.cu"));
  EXPECT_TRUE(matches_path("src/**/x.cu", "src/a/b/x.cu"));
  EXPECT_FALSE(matches_path("src/*.cu", "src/a/x.cu"));
  EXPECT_TRUE(matches_path("src/?.cu", "src/x.cu"));
  EXPECT_TRUE(matches_path("**", "a"));
  EXPECT_FALSE(matches_path("src/x", "src"));
  EXPECT_FALSE(matches_path("", "a"));
  EXPECT_TRUE(matches_path(".", "a"));
  EXPECT_TRUE(matches_any({"x", "a"}, "a/b"));
  EXPECT_FALSE(matches_any({}, "a/b"));
}

TEST(PathGlobs, PatternsThatCouldBacktrackDoNot) {
  std::string glob, path;
  for (int i = 0; i < 200; ++i)
    glob += "**/a/", path += "a/";
  EXPECT_FALSE(matches_path(glob + "b", path + "c"));
}

} // namespace
} // namespace reprobe::report
