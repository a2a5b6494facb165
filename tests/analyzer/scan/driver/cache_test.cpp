#include "analyzer/scan/driver/cache.h"
#include "analyzer/scan/driver/whole_files.h"
#include "analyzer/scan/driver/worker.h"
#include "folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace reprobe::scan {
namespace {

namespace fs = std::filesystem;

// A project of one source, and a cache beside it.
struct CacheTest : testing::Test {
  Folder folder;
  fs::path cache_folder = folder.path / "cache";
  ParseRequest request;

  void SetUp() override {
    folder.write("project/main.cpp", "#include \"part.h\"\nint run() { return part(); }\n");
    folder.write("project/part.h", "int part();\n");
    fs::create_directories(folder.path / "project/first");
    fs::create_directories(folder.path / "project/second");
    folder.write("project/second/late.h", "int late();\n");
    request.directory = request.root = folder.path / "project";
    request.main_file = folder.path / "project/main.cpp";
    request.command = {"clang++", "-fsyntax-only", "-std=c++17", "-I" + (folder.path / "project/first").string(),
                       "-I" + (folder.path / "project/second").string(), "--", request.main_file.string()};
  }

  TranslationUnit scan() { return scan_counting().first; }

  // Facts, and how many came from the cache.
  std::pair<TranslationUnit, std::size_t> scan_counting() {
    Cache cache(cache_folder);
    auto units = parse_all({request}, {}, {}, &cache);
    return {std::move(units.at(0)), cache.found};
  }

  bool is_cached() { return scan_counting().second == 1; }

  fs::path entry() {
    for (const auto& file : fs::recursive_directory_iterator(cache_folder / "facts"))
      if (file.is_regular_file())
        return file.path();
    return {};
  }
};

TEST_F(CacheTest, UnchangedFilesAreNotParsedAgain) {
  const auto [parsed, before] = scan_counting();
  const auto [cached, after] = scan_counting();
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(after, 1u);
  EXPECT_EQ(to_json(parsed), to_json(cached));
  EXPECT_EQ(cached.functions.at(0).name, "run");
}

TEST_F(CacheTest, AChangedSourceIsParsed) {
  scan();
  folder.write("project/main.cpp", "int other() { return 2; }\n");
  const auto [unit, found] = scan_counting();
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(unit.functions.at(0).name, "other");
  // … and the old content is known still
  folder.write("project/main.cpp", "#include \"part.h\"\nint run() { return part(); }\n");
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, AChangedHeaderIsSeen) {
  scan();
  folder.write("project/part.h", "inline int part() { return 1; }\n");
  const auto [unit, found] = scan_counting();
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(unit.functions.size(), 2u);
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, AHeaderThatKeepsItsSizeAndTimeIsSeen) {
  const fs::path header = folder.path / "project/part.h";
  // Old enough to be trusted by its times.
  const timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
  utimensat(AT_FDCWD, header.c_str(), old, 0);
  scan();
  folder.write("project/part.h", "int p_rt();\n");
  utimensat(AT_FDCWD, header.c_str(), old, 0);
  EXPECT_FALSE(is_cached());
}

TEST_F(CacheTest, ARemovedHeaderIsSeen) {
  scan();
  fs::remove(folder.path / "project/part.h");
  const auto [unit, found] = scan_counting();
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(unit.missing_headers, std::vector<std::string>{"part.h"});
}

TEST_F(CacheTest, AHeaderThatAppearsEarlierOnThePathIsSeen) {
  folder.write("project/main.cpp", "#include <late.h>\n");
  scan();
  ASSERT_TRUE(is_cached());
  folder.write("project/first/late.h", "inline int late() { return 1; }\n");
  const auto [unit, found] = scan_counting();
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(unit.functions.size(), 1u);
}

TEST_F(CacheTest, AFolderThatAppearsEarlierOnThePathIsSeen) {
  folder.write("project/second/lib/late.h", "int late();\n");
  folder.write("project/main.cpp", "#include <lib/late.h>\n");
  scan();
  ASSERT_TRUE(is_cached());
  folder.write("project/first/lib/late.h", "inline int late() { return 1; }\n");
  EXPECT_FALSE(is_cached());
}

TEST_F(CacheTest, AHeaderThatIsAskedForAndAppearsIsSeen) {
  folder.write("project/main.cpp", "#if __has_include(<option.h>)\nint with() { return 1; }\n#endif\n");
  EXPECT_TRUE(scan().functions.empty());
  ASSERT_TRUE(is_cached());
  folder.write("project/second/option.h", "\n");
  const auto [unit, found] = scan_counting();
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(unit.functions.size(), 1u);
}

TEST_F(CacheTest, AMissingHeaderThatAppearsIsSeen) {
  folder.write("project/main.cpp", "#include \"new/there.h\"\n");
  EXPECT_EQ(scan().status, "partial");
  ASSERT_TRUE(is_cached());
  folder.write("project/new/there.h", "\n");
  EXPECT_EQ(scan().status, "full");
}

TEST_F(CacheTest, EveryPartOfTheRequestCounts) {
  scan();
  const ParseRequest original = request;
  const auto differs = [&](const std::function<void()>& change) {
    request = original;
    change();
    return !is_cached();
  };
  EXPECT_TRUE(differs([&] { request.command.insert(request.command.begin() + 1, "-DX=1"); }));
  EXPECT_TRUE(differs([&] { request.command[2] = "-std=c++20"; }));
  EXPECT_TRUE(differs([&] { request.fact_flags = {"-ffast-math"}; }));
  EXPECT_TRUE(differs([&] { request.inferred_flags = true; }));
  EXPECT_TRUE(differs([&] { request.root = folder.path; }));
  EXPECT_TRUE(differs([&] { request.user_roots = {folder.path / "project/first"}; }));
  EXPECT_TRUE(differs([&] { request.third_party_roots = {folder.path / "project/second"}; }));
  EXPECT_TRUE(differs([&] { request.virtual_files["/reprobe-declarations/a.h"] = "int a;"; }));
  request = original;
  EXPECT_TRUE(is_cached());
  setenv("CPLUS_INCLUDE_PATH", (folder.path / "elsewhere").c_str(), 1);
  EXPECT_FALSE(is_cached());
  unsetenv("CPLUS_INCLUDE_PATH");
}

TEST_F(CacheTest, UnsavedContentIsItsOwnEntry) {
  request.virtual_files[request.main_file.string()] = "int unsaved() { return 0; }\n";
  EXPECT_EQ(scan().functions.at(0).name, "unsaved");
  EXPECT_TRUE(is_cached());
  request.virtual_files[request.main_file.string()] = "int more() { return 0; }\n";
  EXPECT_EQ(scan().functions.at(0).name, "more");
}

TEST_F(CacheTest, UnsavedHeadersCountWhereTheyAreIncluded) {
  scan();
  const std::string header = (folder.path / "project/part.h").string();
  request.virtual_files[(folder.path / "project/unrelated.h").string()] = "int unrelated;\n";
  EXPECT_TRUE(is_cached());
  request.virtual_files[header] = "int part();\n"; // as on the disk
  EXPECT_TRUE(is_cached());
  request.virtual_files[header] = "inline int part() { return 1; }\n";
  EXPECT_EQ(scan().functions.size(), 2u);
  EXPECT_TRUE(is_cached());
  request.virtual_files.clear();
  EXPECT_FALSE(is_cached());
}

TEST_F(CacheTest, UnsavedFilesThatAreNotOnTheDiskAreFound) {
  folder.write("project/main.cpp", "#include <fresh/part.h>\n");
  EXPECT_EQ(scan().status, "partial");
  request.virtual_files[(folder.path / "project/first/fresh/part.h").string()] = "inline int part() { return 1; }\n";
  EXPECT_EQ(scan().functions.size(), 1u);
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, TwoFilesThatBecomeOneAreSeen) {
  // #pragma once leaves the second out when it is the same file.
  folder.write("project/first/a.h", "#pragma once\ninline int f() { return 1; }\n");
  fs::create_hard_link(folder.path / "project/first/a.h", folder.path / "project/second/b.h");
  folder.write("project/main.cpp", "#include \"first/a.h\"\n#include \"second/b.h\"\n");
  EXPECT_EQ(scan().status, "full");
  ASSERT_TRUE(is_cached());
  fs::remove(folder.path / "project/second/b.h");
  folder.write("project/second/b.h", "#pragma once\ninline int f() { return 1; }\n");
  EXPECT_FALSE(is_cached());
}

TEST_F(CacheTest, DamagedEntriesAreNotRead) {
  const TranslationUnit unit = scan();
  for (const std::size_t at : {0u, 30u, 60u, 200u}) {
    std::string bytes = *read_whole(entry());
    ASSERT_GT(bytes.size(), at);
    bytes[at] ^= 1;
    ASSERT_TRUE(write_whole(entry(), bytes));
    const auto [again, found] = scan_counting();
    EXPECT_EQ(found, 0u) << at;
    EXPECT_EQ(to_json(again), to_json(unit));
  }
  const std::string whole = *read_whole(entry());
  ASSERT_TRUE(write_whole(entry(), whole.substr(0, whole.size() / 2)));
  EXPECT_FALSE(is_cached());
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, DamagedSharedPartsAreNotRead) {
  folder.write("outside/sdk.h", "int sdk();\n");
  request.command.insert(request.command.begin() + 1, "-isystem" + (folder.path / "outside").string());
  folder.write("project/main.cpp", "#include <sdk.h>\n");
  scan();
  ASSERT_TRUE(is_cached());
  for (const char* part : {"sets", "files"})
    if (fs::is_directory(cache_folder / part))
      for (const auto& file : fs::directory_iterator(cache_folder / part))
        std::ofstream(file.path()) << "nonsense";
    else
      std::ofstream(cache_folder / part) << "nonsense";
  EXPECT_FALSE(is_cached());
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, AFolderThatCannotBeUsedCostsNothingElse) {
  cache_folder = folder.write("not-a-folder");
  EXPECT_EQ(scan().status, "full");
  EXPECT_NE(Cache(cache_folder).problem().find("not-a-folder"), std::string::npos);
  EXPECT_EQ(scan().status, "full");
  cache_folder = "/proc/reprobe";
  EXPECT_EQ(scan().status, "full");
}

TEST_F(CacheTest, ScansSideBySideAndKilledOnesLeaveItWhole) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < 50; ++round)
        scan();
      _exit(0);
    }
    children.push_back(child);
  }
  usleep(150000);
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (i % 2 == 0)
      kill(children[i], SIGKILL);
    int status = 0;
    waitpid(children[i], &status, 0);
    EXPECT_TRUE(i % 2 == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  EXPECT_EQ(scan().functions.at(0).name, "run");
  EXPECT_TRUE(is_cached());
}

TEST_F(CacheTest, WhatWasUsedLongestAgoGoesFirst) {
  scan();
  const fs::path old = entry();
  const timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
  utimensat(AT_FDCWD, old.c_str(), past, 0);
  folder.write("project/main.cpp", "int newer() { return 0; }\n");
  fs::remove(cache_folder / "pruned");
  {
    Cache cache(cache_folder, /*most_bytes=*/0);
    parse_all({request}, {}, {}, &cache);
  }
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(CacheTest, LeftoversOfKilledScansAreRemoved) {
  scan();
  const fs::path left = cache_folder / "facts/entry.tmp-abcdef", fresh = cache_folder / "facts/entry.tmp-ghijkl";
  std::ofstream(left) << "half", std::ofstream(fresh) << "half";
  const timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
  utimensat(AT_FDCWD, left.c_str(), past, 0);
  fs::remove(cache_folder / "pruned");
  scan();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(CacheTest, PipesAndDevicesAreNotRead) {
  const fs::path pipe = folder.path / "project/pipe.h";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  folder.write("project/main.cpp", "#include \"pipe.h\"\n#include \"/dev/zero\"\n#include \"first\"\nint run() { return 1; }\n");
  const TranslationUnit unit = scan();
  EXPECT_EQ(unit.status, "partial");
  EXPECT_NE(unit.reason.find("not read: /dev/zero " + pipe.string()), std::string::npos) << unit.reason;
  EXPECT_EQ(unit.functions.size(), 1u);
  EXPECT_FALSE(is_cached());
}

} // namespace
} // namespace reprobe::scan
