#include "analyzer/scan/driver/leading_includes.h"
#include "analyzer/scan/driver/precompiled_headers.h"
#include "analyzer/scan/driver/worker.h"
#include "folder.h"

namespace reprobe::scan {
namespace {

namespace fs = std::filesystem;

// A project that uses an SDK with one of the large headers' names.
struct PrecompiledTest : testing::Test {
  Folder folder;
  fs::path source;

  void SetUp() override {
    folder.write("sdk/torch/torch.h",
                 "#pragma once\n#include <torch/tensor.h>\n"
                 "#ifdef SDK_DOUBLE\nusing scalar = double;\n#else\nusing scalar = float;\n#endif\n");
    folder.write("sdk/torch/tensor.h",
                 "#pragma once\nnamespace at { struct Tensor { Tensor relu() const; }; }\n"
                 "template <class T> T twice(T x) { return x + x; }\n");
    fs::create_directories(folder.path / "project/include");
    source = folder.write("project/main.cpp",
                          "#include <torch/torch.h>\n"
                          "template <class F> void apply(F f) { f(twice(1)); }\n"
                          "scalar run(at::Tensor t) { t.relu(); apply([](int) {}); return 1; }\n");
  }

  ParseRequest request(const std::vector<std::string>& more = {}) const {
    ParseRequest out;
    out.directory = out.root = folder.path / "project";
    out.main_file = source;
    out.third_party_roots = {folder.path / "sdk"};
    out.cache = folder.path / "cache";
    out.command = {"clang++",    "-fsyntax-only",
                   "-std=c++17", "-I" + (folder.path / "project/include").string(),
                   "-idirafter", (folder.path / "sdk").string()};
    out.command.insert(out.command.end(), more.begin(), more.end());
    out.command.insert(out.command.end(), {"--", source.string()});
    return out;
  }

  std::optional<PrecompiledHeader> find(const ParseRequest& request) {
    Cache cache(folder.path / "cache");
    PrecompiledHeaders headers(cache);
    const auto use = header_use(request);
    return use ? headers.find(*use) : std::nullopt;
  }

  bool make(const ParseRequest& request) {
    Cache cache(folder.path / "cache");
    PrecompiledHeaders headers(cache);
    return headers.make(header_use(request).value(), true);
  }

  Extraction parse_with(const ParseRequest& request) {
    ParseRequest with = request;
    with.precompiled = find(request).value().file;
    with.precompiled_header = "torch/torch.h";
    return extract_observed(with);
  }
};

TEST_F(PrecompiledTest, GivesTheSameFacts) {
  ASSERT_TRUE(make(request()));
  const Extraction with = parse_with(request());
  EXPECT_TRUE(with.precompiled_used);
  EXPECT_EQ(with.unit.status, "full") << with.unit.reason;
  EXPECT_EQ(to_json(with.unit), to_json(extract(request())));
}

TEST_F(PrecompiledTest, IsSharedWhereTheHeaderReadsTheSame) {
  ASSERT_TRUE(make(request()));
  EXPECT_TRUE(find(request({"-DUNRELATED=1"})));
  EXPECT_TRUE(find(request({"-I" + (folder.path / "project").string()})));
  EXPECT_EQ(to_json(parse_with(request({"-DUNRELATED=1"})).unit),
            to_json(extract(request({"-DUNRELATED=1"}))));
  EXPECT_FALSE(find(request({"-DSDK_DOUBLE"})));
  EXPECT_FALSE(find(request({"-std=c++20"})));
  EXPECT_FALSE(find(request({"-isystem", (folder.path / "sdk/torch").string()})));
  EXPECT_FALSE(find(request({"-funsigned-char"})));
}

TEST_F(PrecompiledTest, MacrosThatTheHeaderAsksForAreBuiltIn) {
  ASSERT_TRUE(make(request({"-DSDK_DOUBLE", "-DUNRELATED"})));
  ASSERT_TRUE(find(request({"-DSDK_DOUBLE"})));
  EXPECT_FALSE(find(request({"-DSDK_DOUBLE=0", "-USDK_DOUBLE"})));
  EXPECT_EQ(parse_with(request({"-DSDK_DOUBLE"})).unit.functions.at(1).result_type, "double");
  ASSERT_TRUE(make(request()));
  EXPECT_EQ(parse_with(request()).unit.functions.at(1).result_type, "float");
}

TEST_F(PrecompiledTest, AShadowingHeaderOfTheProjectIsSeen) {
  ASSERT_TRUE(make(request()));
  ASSERT_TRUE(find(request()));
  folder.write("project/include/torch/other.h");
  EXPECT_TRUE(find(request()));
  folder.write("project/include/torch/tensor.h", "#pragma once\nnamespace at { struct Tensor {}; }\n");
  EXPECT_FALSE(find(request()));
}

TEST_F(PrecompiledTest, AChangedHeaderMakesItUseless) {
  ASSERT_TRUE(make(request()));
  const fs::path file = find(request())->file;
  folder.write("sdk/torch/tensor.h",
               "#pragma once\nnamespace at { struct Tensor { Tensor tanh() const; }; }\n");
  EXPECT_FALSE(find(request()));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(PrecompiledTest, AHeaderThatDoesNotCompileIsNotTriedAgain) {
  folder.write("sdk/torch/tensor.h", "#pragma once\nthis is no C++\n");
  EXPECT_FALSE(make(request()));
  Cache cache(folder.path / "cache");
  PrecompiledHeaders headers(cache);
  EXPECT_FALSE(headers.worth_making(header_use(request()).value()));
  folder.write("sdk/torch/tensor.h", "#pragma once\n");
  Cache later(folder.path / "cache");
  PrecompiledHeaders later_headers(later);
  EXPECT_TRUE(later_headers.worth_making(header_use(request()).value()));
}

TEST_F(PrecompiledTest, ADamagedOneIsNotUsed) {
  ASSERT_TRUE(make(request()));
  const fs::path file = find(request())->file;
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_FALSE(find(request()));
  ASSERT_TRUE(make(request()));
  // Damage that its size does not show is found while parsing.
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).write("damaged!", 8);
  const Extraction extraction = parse_with(request());
  EXPECT_FALSE(extraction.precompiled_used);
  EXPECT_EQ(to_json(extraction.unit), to_json(extract(request())));
}

TEST_F(PrecompiledTest, IsKeptWhereOtherHeadersAreMissing) {
  folder.write("sdk/distributed.h",
               "#pragma once\n#include <mpi.h>\nstruct Group { MPI_Comm communicator; };\n");
  folder.write("project/main.cpp",
               "#include <torch/torch.h>\n#include <distributed.h>\nscalar run() { return 1; }\n");
  ASSERT_TRUE(make(request()));
  const Extraction extraction = parse_with(request());
  EXPECT_TRUE(extraction.precompiled_used);
  EXPECT_EQ(extraction.unit.missing_headers, std::vector<std::string>{"mpi.h"});
  EXPECT_EQ(to_json(extraction.unit), to_json(extract(request())));
}

TEST_F(PrecompiledTest, WhatTheSourceSaysBeforeCounts) {
  const auto header_of = [&](const std::string& text) {
    folder.write("project/main.cpp", text);
    const auto use = header_use(request());
    return use ? (use->moved ? "moved " : "") + use->request.header : "";
  };
  folder.write("project/model.h",
               "#ifndef MODEL_H\n#define MODEL_H\n#include <torch/torch.h>\nstruct Model {};\n#endif\n");
  folder.write("project/plain.h", "#pragma once\nstruct Plain {};\n");
  folder.write("project/late.h",
               "#pragma once\nnamespace torch { struct Tensor; }\n#include <torch/torch.h>\n");
  EXPECT_EQ(header_of("// words\n/* more\n words */ #include <vector>\n#include <torch/torch.h>\nint x;\n"),
            "torch/torch.h");
  EXPECT_EQ(header_of("#include \"model.h\"\n"), "torch/torch.h");
  EXPECT_EQ(header_of("#include <ATen/ATen.h>\n#include <torch/torch.h>\n"), "torch/torch.h");
  EXPECT_EQ(header_of("#include <torch/torch.h>\nint x;\n#include <ATen/ATen.h>\n"), "torch/torch.h");
  EXPECT_EQ(header_of("#include <ATen/ATen.h>\nint x;\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("#include \"plain.h\"\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("#include \"late.h\"\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("namespace a {}\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("#undef X\n#include <torch/torch.h>\n"), "torch/torch.h");
  EXPECT_EQ(header_of("#ifdef X\nint x;\n#endif\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  // Under a condition, in a string, in a comment: not included for certain.
  EXPECT_EQ(header_of("#ifdef X\n#include <torch/torch.h>\n#endif\n"), "");
  EXPECT_EQ(header_of("#if 1\n#if 0\n#endif\n#include <torch/torch.h>\n#endif\n"), "");
  EXPECT_EQ(header_of("// #include <torch/torch.h>\n"), "");
  EXPECT_EQ(header_of("int x; /* \n#include <torch/torch.h>\n*/\n"), "");
  EXPECT_EQ(header_of("const char* s = \"/*\";\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("int x = '\\\"';\n#include <torch/torch.h>\n"), "moved torch/torch.h");
  EXPECT_EQ(header_of("#include \\\n <torch/torch.h> // why\n"), "torch/torch.h");
}

TEST_F(PrecompiledTest, AHeaderAfterCodeGivesTheSameFacts) {
  folder.write("project/plain.h", "#pragma once\nstruct Plain { int rounds = 3; };\n");
  folder.write("project/main.cpp", "#include \"plain.h\"\nstatic int before() { return Plain().rounds; }\n"
                                   "#include <torch/torch.h>\n"
                                   "scalar run(at::Tensor t) { t.relu(); return before(); }\n");
  ASSERT_TRUE(make(request()));
  ParseRequest with = request();
  with.precompiled_moved = true;
  const Extraction extraction = parse_with(with);
  EXPECT_TRUE(extraction.precompiled_used);
  EXPECT_EQ(extraction.unit.status, "full") << extraction.unit.reason;
  EXPECT_EQ(to_json(extraction.unit), to_json(extract(request())));
}

TEST_F(PrecompiledTest, ASourceThatNeedsItsOwnOrderIsParsedInIt) {
  // With the header first, `Plan` is ambiguous.
  folder.write("sdk/torch/torch.h", "#pragma once\nstruct Plan {};\n");
  folder.write("project/main.cpp", "namespace own { struct Plan {}; }\nusing namespace own;\nPlan plan;\n"
                                   "#include <torch/torch.h>\nint run() { return 1; }\n");
  ASSERT_TRUE(make(request()));
  ParseRequest with = request();
  with.precompiled_moved = true;
  const Extraction extraction = parse_with(with);
  EXPECT_FALSE(extraction.precompiled_used);
  EXPECT_EQ(to_json(extraction.unit), to_json(extract(request())));
}

TEST_F(PrecompiledTest, MacrosAnywhereBeforeAMovedHeaderForbidIt) {
  folder.write("project/main.cpp", "int x;\n#include <torch/torch.h>\n");
  ASSERT_TRUE(make(request()));
  EXPECT_TRUE(find(request()));
  folder.write("project/main.cpp",
               "int x;\n#define SDK_DOUBLE 1\n#include <torch/torch.h>\nscalar run() { return 1; }\n");
  EXPECT_FALSE(find(request()));
  folder.write("project/options.h", "#pragma once\nint y;\n#ifndef NEVER\n#define SDK_DOUBLE 1\n#endif\n");
  folder.write("project/main.cpp",
               "#include \"options.h\"\n#include <torch/torch.h>\nscalar run() { return 1; }\n");
  EXPECT_FALSE(find(request()));
}

TEST_F(PrecompiledTest, MacrosOfTheSourceThatTheHeaderAsksForForbidIt) {
  folder.write("project/main.cpp", "#define MINE 1\n#include <torch/torch.h>\n");
  ASSERT_TRUE(make(request()));
  EXPECT_TRUE(find(request()));
  folder.write("project/main.cpp",
               "#define SDK_DOUBLE 1\n#include <torch/torch.h>\nscalar run() { return 1; }\n");
  EXPECT_FALSE(find(request()));
  Cache cache(folder.path / "cache");
  EXPECT_EQ(parse_all({request()}, {}, {}, &cache).at(0).functions.at(0).result_type, "double");
}

TEST_F(PrecompiledTest, ManyFilesWithOneHeaderMakeItFirst) {
  std::vector<ParseRequest> requests;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "f" + std::to_string(i);
    source = folder.write("project/" + name + ".cpp",
                          "#include <torch/torch.h>\nscalar " + name + "() { return 1; }\n");
    requests.push_back(request());
  }
  const auto plain = parse_all(requests, {});
  Cache cache(folder.path / "cache");
  Limits limits;
  limits.jobs = 2;
  const auto units = parse_all(requests, limits, {}, &cache);
  ASSERT_TRUE(find(requests[0]));
  for (std::size_t i = 0; i < units.size(); ++i)
    EXPECT_EQ(to_json(units[i]), to_json(plain[i]));
  // What the cached facts rest on includes the header's own files.
  Cache again(folder.path / "cache");
  parse_all(requests, limits, {}, &again);
  EXPECT_EQ(again.found, 4u);
  folder.write("sdk/torch/tensor.h", "#pragma once\nnamespace at { struct Tensor {}; }\n");
  Cache changed(folder.path / "cache");
  parse_all(requests, limits, {}, &changed);
  EXPECT_EQ(changed.found, 0u);
}

TEST_F(PrecompiledTest, OneFileIsAnsweredFirst) {
  Cache cache(folder.path / "cache");
  Limits limits;
  limits.jobs = 1;
  EXPECT_EQ(parse_all({request()}, limits, {}, &cache).at(0).status, "full");
  for (int i = 0; i < 600 && !find(request()); ++i)
    usleep(100000);
  EXPECT_TRUE(find(request()));
}

} // namespace
} // namespace reprobe::scan
