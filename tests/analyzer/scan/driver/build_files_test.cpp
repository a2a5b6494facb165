#include "analyzer/scan/driver/build_files.h"
#include "folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace reprobe::scan {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (const BuildFlag& flag : build_flags_in(text, "CMakeLists.txt"))
    out.push_back(flag.text);
  return out;
}

using Words = std::vector<std::string>;

TEST(BuildFiles, OptionsOfCMake) {
  EXPECT_EQ(words("target_compile_options(train PRIVATE -O3 -ffast-math)"), (Words{"-O3", "-ffast-math"}));
  EXPECT_EQ(words("set(CMAKE_CXX_FLAGS \"${CMAKE_CXX_FLAGS} -march=native\")"), (Words{"-march=native"}));
  EXPECT_EQ(
      words("add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>;$<$<CONFIG:Release>:-Ofast>)"),
      (Words{"--use_fast_math", "-Ofast"}));
  EXPECT_EQ(words("target_compile_options(a PUBLIC /fp:fast)"), (Words{"/fp:fast"}));
}

TEST(BuildFiles, OptionsOfMakeAndSetup) {
  EXPECT_EQ(words("CFLAGS=-Ofast -Wall\nNVCC+= -Xcompiler=-ffast-math,-fPIC"),
            (Words{"-Ofast", "-Wall", "-ffast-math", "-fPIC"}));
  EXPECT_EQ(words("extra_compile_args={'nvcc': ['-O3', '--use_fast_math']}"),
            (Words{"-O3", "--use_fast_math"}));
}

TEST(BuildFiles, DefinitionsOfMakeCMakeAndSetup) {
  EXPECT_EQ(definitions_in("CFLAGS=-DGPU -D_X=1 -O3"), (Words{"GPU", "_X=1"}));
  EXPECT_EQ(
      definitions_in(
          "add_definitions(-DWITH_CUDA)\ntarget_compile_definitions(a PRIVATE\n  USE_NCCL=1 # MORE\n  N)"),
      (Words{"WITH_CUDA", "USE_NCCL=1", "N"}));
  EXPECT_EQ(definitions_in("define_macros=[('WITH_CUDA', None), (\"GPU\", '1')],"),
            (Words{"WITH_CUDA", "GPU"}));
  EXPECT_EQ(definitions_in("-DVERSION=${V} -DNAME=$(N) -D3 -D # -DGPU"), Words{});
}

TEST(BuildFiles, CommentsSayNothing) {
  EXPECT_TRUE(words("# add -ffast-math\nproject(a) # -Ofast").empty());
  EXPECT_TRUE(words("set(A B-C) message(STATUS \"a - b\")").empty());
}

TEST(BuildFiles, PlacesCountFromOne) {
  const auto flags = build_flags_in("\n  CFLAGS=-Ofast\n", "Makefile");
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags[0].file, "Makefile");
  EXPECT_EQ(flags[0].line, 2u);
  EXPECT_EQ(flags[0].column, 10u);
}

TEST(BuildFiles, FoldersOfSourcesAndThoseAbove) {
  const Folder folder;
  folder.write("CMakeLists.txt", "add_compile_options(-ffast-math)");
  folder.write("src/Makefile", "CFLAGS=-Ofast");
  folder.write("other/Makefile", "CFLAGS=-O1");
  folder.write("src/deep/a.cpp", "");
  const auto flags = read_build_flags({folder.path / "src/deep/a.cpp"}, folder.path);
  ASSERT_EQ(flags.size(), 2u);
  EXPECT_EQ(flags[0].file, "CMakeLists.txt");
  EXPECT_EQ(flags[1].file, "src/Makefile");
}

} // namespace
} // namespace reprobe::scan
