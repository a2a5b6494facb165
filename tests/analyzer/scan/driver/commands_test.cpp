#include "analyzer/scan/driver/commands.h"
#include "folder.h"
#include "rules/error.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

using Words = std::vector<std::string>;

Translation of(const Words& arguments, const std::string& file = "/p/a.cpp") {
  return translate({"/p", file, arguments});
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Commands, ShellWords) {
  EXPECT_EQ(split_command(R"(g++ -DX="a b" '-DY=c d' -D\"Z  "e\"f" "" g\ h)"),
            (Words{"g++", "-DX=a b", "-DY=c d", "-D\"Z", "e\"f", "", "g h"}));
  EXPECT_TRUE(split_command("  \n ").empty());
}

TEST(Commands, WhatFactsDependOnIsKept) {
  const Translation out =
      of({"/usr/bin/g++", "-I/inc", "-I", "rel", "-isystem", "/sys", "-DA=1", "-D", "B", "-UC", "-include",
          "pre.h", "-std=gnu++20", "-O3", "-Wall", "-g", "-c", "a.cpp"});
  EXPECT_EQ(out.arguments, (Words{"-I/inc", "-Irel", "-isystem", "/sys", "-DA=1", "-DB", "-UC", "-include",
                                  "pre.h", "-std=gnu++20"}));
  EXPECT_EQ(out.language, "c++");
  EXPECT_TRUE(out.dropped.empty());
}

TEST(Commands, OptionsOfOtherCompilersAreLeftOut) {
  const Translation out = of({"ccache", "g++", "-fno-gnu-unique", "-fconcepts-diagnostics-depth=3", "-mabi=x",
                              "-Wno-class-memaccess", "-fvar-tracking", "-DX"});
  EXPECT_EQ(out.arguments, Words{"-DX"});
}

TEST(Commands, WhatWouldRunOrWriteIsDroppedAndNamed) {
  const Translation out = of({"g++",
                              "-fplugin=evil.so",
                              "-Xclang",
                              "-load",
                              "-Xclang",
                              "evil.so",
                              "-o",
                              "out.o",
                              "-MD",
                              "-MF",
                              "x.d",
                              "-save-temps=obj",
                              "-dumpdir",
                              "d",
                              "-fpass-plugin=p.so",
                              "-B",
                              "tools",
                              "-specs=s",
                              "-wrapper",
                              "sh,-c,id",
                              "-DKEPT"});
  EXPECT_EQ(out.arguments, Words{"-DKEPT"});
  for (const char* name : {"-fplugin", "-Xclang", "-load", "-o", "-MD", "-MF", "-save-temps", "-dumpdir",
                           "-fpass-plugin", "-B", "-specs", "-wrapper"})
    EXPECT_TRUE(out.dropped.contains(name)) << name;
}

TEST(Commands, FloatingPointOptionsAreFacts) {
  EXPECT_EQ(of({"g++", "-ffast-math", "-O2", "-march=native"}).fact_flags,
            (Words{"-ffast-math", "-march=native"}));
  EXPECT_EQ(
      of({"nvcc", "--use_fast_math", "-Xcompiler", "-ffast-math,-O3", "-fmad=false"}, "/p/a.cu").fact_flags,
      (Words{"--use_fast_math", "-ffast-math", "-fmad=false"}));
  EXPECT_TRUE(of({"g++", "-O3"}).fact_flags.empty());
}

TEST(Commands, NvccLines) {
  const Translation out = of({"/usr/local/cuda/bin/nvcc",
                              "-forward-unknown-to-host-compiler",
                              "-ccbin=/usr/bin/g++",
                              "--generate-code=arch=compute_80,code=[sm_80]",
                              "-gencode",
                              "arch=compute_90,code=sm_90",
                              "-Xcompiler=-fPIC,-DFROM_HOST",
                              "--compiler-options",
                              "-DTOO",
                              "--expt-relaxed-constexpr",
                              "--expt-extended-lambda",
                              "-rdc=true",
                              "-isystem=/sys",
                              "-I/a,/b",
                              "-std=c++17",
                              "-x",
                              "cu",
                              "-dc",
                              "-Xptxas",
                              "-v",
                              "-o",
                              "a.o",
                              "a.cu"},
                             "/p/a.cu");
  EXPECT_EQ(out.arguments, (Words{"-DFROM_HOST", "-DTOO", "-isystem", "/sys", "-I/a", "-I/b", "-std=c++17"}));
  EXPECT_EQ(out.language, "cuda");
  EXPECT_EQ(out.cuda, "/usr/local/cuda");
}

TEST(Commands, NvccOnOrdinarySources) {
  EXPECT_EQ(of({"nvcc", "-c", "a.cpp"}).language, "c++");
  EXPECT_EQ(of({"nvcc", "-x", "cu", "a.cpp"}).language, "cuda");
  EXPECT_EQ(of({"g++", "-xc", "a.cpp"}).language, "c");
}

TEST(Commands, ResponseFiles) {
  Folder folder;
  folder.write("inner.rsp", "-DINNER \"-DTWO WORDS\"");
  folder.write("outer.rsp", "-DOUTER @inner.rsp");
  const Translation out = translate({folder.path,
                                     folder.path / "a.cu",
                                     {"nvcc", "@outer.rsp", "--options-file", "inner.rsp", "@missing.rsp"}});
  EXPECT_EQ(out.arguments, (Words{"-DOUTER", "-DINNER", "-DTWO WORDS", "-DINNER", "-DTWO WORDS"}));
  EXPECT_EQ(out.unreadable.size(), 1u);
}

TEST(Commands, ResponseFilesThatNameThemselvesEnd) {
  Folder folder;
  folder.write("loop.rsp", "-DX @loop.rsp");
  EXPECT_FALSE(translate({folder.path, folder.path / "a.cpp", {"g++", "@loop.rsp"}}).unreadable.empty());
}

TEST(Commands, UnfinishedLinesDoNotCrash) {
  for (const char* last : {"-I", "-D", "-isystem", "-Xcompiler", "-x", "-std", "-o", "-gencode",
                           "--options-file", "-include", "@", "-"})
    EXPECT_NO_THROW(of({"nvcc", last})) << last;
  EXPECT_NO_THROW(of({}));
  EXPECT_NO_THROW(of({"g++"}));
}

TEST(Commands, ClangCommandForCuda) {
  Toolchain tools;
  tools.clang_resources = "/res";
  use_cuda(tools, "/nowhere");
  EXPECT_TRUE(tools.cuda.empty());
  tools.cuda = "/cuda";
  Translation translation;
  translation.language = "cuda";
  const Words command = clang_command("/p/a.cu", translation, tools, {"-DEXTRA"});
  for (const char* word : {"cuda", "--cuda-host-only", "-nocudalib", "--cuda-path=/cuda",
                           "-Wno-unknown-cuda-version", "-DEXTRA", "/p/a.cu"})
    EXPECT_TRUE(has(command, word)) << word;
  EXPECT_FALSE(has(command, "-nocudainc"));
}

TEST(Commands, DatabaseEntries) {
  Folder folder;
  const auto file = folder.write("compile_commands.json",
                                 R"([{"directory":"sub","file":"a.cpp","command":"g++ -DX='1 2' a.cpp"},
                                     {"directory":"/abs","file":"/p/../p/b.cpp","arguments":["g++","-DY"],"output":"b.o"}])");
  const Database database = read_database(file);
  ASSERT_EQ(database.entries.size(), 2u);
  EXPECT_EQ(database.entries[0].file, folder.path / "sub/a.cpp");
  EXPECT_EQ(database.entries[0].arguments.at(1), "-DX=1 2");
  ASSERT_EQ(database.find("/p/b.cpp").size(), 1u);
  EXPECT_TRUE(database.find("/p/c.cpp").empty());
}

TEST(Commands, BrokenDatabasesAreRefused) {
  Folder folder;
  for (const char* text : {"", "{", "{}", "3", "[1]", "[{}]", R"([{"file":3}])", R"([{"file":"a.cpp"}])",
                           R"([{"file":"a.cpp","arguments":"x"}])", R"([{"file":"a.cpp","arguments":[1]}])",
                           R"([{"file":"a.cpp","command":[]}])"}) {
    const auto file = folder.write("compile_commands.json", text);
    try {
      read_database(file);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code, 2);
      EXPECT_NE(std::string(error.what()).find("compile_commands.json"), std::string::npos);
    }
  }
  EXPECT_THROW(read_database(folder.path / "missing.json"), Error);
  EXPECT_THROW(read_database(folder.path), Error);
}

TEST(Commands, EmptyValuesDoNotTakeTheNextWord) {
  DatabaseEntry entry{"/p", "/p/a.cpp", {"g++", "-I", "", "-isystem", "", "-D", "", "-DX", "-include", "", "a.cpp"}};
  EXPECT_EQ(translate(entry).arguments, std::vector<std::string>{"-DX"});
}

} // namespace
} // namespace reprobe::scan
