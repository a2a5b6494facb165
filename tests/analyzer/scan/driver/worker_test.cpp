#include "analyzer/scan/driver/worker.h"
#include "folder.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

ParseRequest request(const std::filesystem::path& file) {
  ParseRequest out;
  out.directory = out.root = file.parent_path();
  out.main_file = file;
  out.command = {"clang++", "-fsyntax-only", "-std=c++17", file.string()};
  return out;
}

TEST(Worker, UnitsComeInTheOrderOfTheRequests) {
  Folder folder;
  std::vector<ParseRequest> requests;
  for (int i = 0; i < 7; ++i) {
    const std::string name = "f" + std::to_string(i);
    requests.push_back(request(folder.write(name + ".cpp", "void " + name + "() {}")));
  }
  Limits limits;
  limits.jobs = 3;
  std::size_t last = 0;
  const auto units = parse_all(requests, limits, [&](std::size_t done) { last = done; });
  ASSERT_EQ(units.size(), 7u);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(units[i].status, "full") << units[i].reason;
    EXPECT_EQ(units[i].functions.at(0).name, "f" + std::to_string(i));
  }
  EXPECT_EQ(last, 7u);
  EXPECT_TRUE(parse_all({}, limits).empty());
}

TEST(Worker, AHangCostsItsFileOnly) {
  Folder folder;
  // Doubles with each level: nobody waits for the end of it.
  const std::string endless = "template <int N, int M> struct T { T<N - 1, 2 * M> a; T<N - 1, 2 * M + 1> b; };\n"
                              "template <int M> struct T<0, M> {};\nT<28, 1> t;\n";
  const std::vector<ParseRequest> requests = {request(folder.write("hangs.cpp", endless)),
                                              request(folder.write("fine.cpp", "void f() {}"))};
  Limits limits;
  limits.seconds = 1;
  const auto units = parse_all(requests, limits);
  EXPECT_EQ(units.at(0).status, "failed");
  EXPECT_NE(units[0].reason.find("longer than 1 s"), std::string::npos) << units[0].reason;
  EXPECT_EQ(units[0].main_file, "hangs.cpp");
  EXPECT_EQ(units.at(1).status, "full");
}

TEST(Worker, LoopsOfIncludesAndLinksAndLongLinesEnd) {
  Folder folder;
  folder.write("self.h", "#include \"self.h\"\nint self();\n");
  folder.write("a.h", "#include \"b.h\"\n#include \"b.h\"\n"), folder.write("b.h", "#include \"a.h\"\n");
  std::filesystem::create_symlink("link.h", folder.path / "link.h");
  std::filesystem::create_directory_symlink(".", folder.path / "again");
  const std::vector<ParseRequest> requests = {
      request(folder.write("self.cpp", "#include \"self.h\"\nvoid f() {}\n")),
      request(folder.write("pair.cpp", "#include \"a.h\"\nvoid f() {}\n")),
      request(folder.write("link.cpp", "#include \"link.h\"\n#include \"again/again/again/again/self.h\"\nvoid f() {}\n")),
      request(folder.write("long.cpp", "const char* text = \"" + std::string(4 << 20, 'x') + "\"; void f() {}\n"))};
  Limits limits;
  limits.seconds = 60;
  const auto units = parse_all(requests, limits);
  for (const TranslationUnit& unit : units) {
    ASSERT_NE(unit.status, "failed") << unit.main_file << ": " << unit.reason;
    EXPECT_TRUE(std::any_of(unit.functions.begin(), unit.functions.end(),
                            [](const Function& function) { return function.name == "f"; }));
  }
  EXPECT_EQ(units[0].status, "partial");
  EXPECT_EQ(units[3].status, "full");
}

TEST(Worker, ACrashCostsItsFileOnly) {
  Folder folder;
  std::string deep = "int x = ";
  for (int i = 0; i < 3000000; ++i)
    deep += '(';
  const std::vector<ParseRequest> requests = {request(folder.write("deep.cpp", deep)),
                                              request(folder.write("fine.cpp", "void f() {}"))};
  ParseRequest crash = requests[0];
  crash.command.insert(crash.command.begin() + 1, "-fbracket-depth=10000000");
  const auto units = parse_all({crash, requests[1]}, {});
  EXPECT_EQ(units.at(0).status, "failed");
  EXPECT_NE(units[0].reason.find("crashed"), std::string::npos) << units[0].reason;
  EXPECT_EQ(units.at(1).status, "full");
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Worker, TooMuchMemoryCostsItsFileOnly) {
  Folder folder;
  // Ten million numbers.
  std::string large = "#define M0 1,\n";
  for (int i = 1; i <= 7; ++i) {
    const std::string lower = " M" + std::to_string(i - 1);
    large += "#define M" + std::to_string(i);
    for (int j = 0; j < 10; ++j)
      large += lower;
    large += "\n";
  }
  large += "int x[] = {M7";
  const std::vector<ParseRequest> requests = {request(folder.write("large.cpp", large + "};")),
                                              request(folder.write("fine.cpp", "void f() {}"))};
  Limits limits;
  limits.memory = 400u << 20;
  const auto units = parse_all(requests, limits);
  EXPECT_EQ(units.at(0).status, "failed");
  EXPECT_EQ(units.at(1).status, "full") << units[1].reason;
}
#endif

} // namespace
} // namespace reprobe::scan
