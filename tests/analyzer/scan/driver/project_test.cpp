#include "analyzer/scan/driver/inference.h"
#include "analyzer/scan/driver/project.h"
#include "folder.h"
#include "rules/error.h"

#include <algorithm>
#include <sys/stat.h>

namespace reprobe::scan {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names(const Folder& folder, const std::vector<fs::path>& files) {
  std::vector<std::string> out;
  for (const fs::path& file : files)
    out.push_back(file.lexically_relative(folder.path).generic_string());
  return out;
}

std::string message(const Options& options) {
  try {
    plan(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code, 2);
    return error.what();
  }
  return {};
}

bool mentions(const std::vector<std::string>& remarks, const std::string& text) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const std::string& remark) { return remark.find(text) != std::string::npos; });
}

TEST(Project, SourcesOfAFolder) {
  Folder folder;
  for (const char* name : {"a.cpp", "b.cu", "c.c", "d.cc", "e.cxx", "notes.txt", "run.py", "sub/f.cpp",
                           "used.h", "alone.hpp", ".hidden/g.cpp", "third_party/h.cpp", "vendor/i.cpp",
                           "build/j.cpp", "out/CMakeCache.txt", "out/k.cpp", "node_modules/l.cpp"})
    folder.write(name);
  folder.write("a.cpp", "#include \"used.h\"\n");
  const Sources sources = find_sources(folder.path);
  EXPECT_EQ(names(folder, sources.files),
            (std::vector<std::string>{"a.cpp", "b.cu", "c.c", "d.cc", "e.cxx", "sub/f.cpp", "alone.hpp"}));
  EXPECT_EQ(sources.skipped,
            (std::vector<std::string>{"build", "node_modules", "out", "third_party", "vendor"}));
}

TEST(Project, IgnoredFilesAreLeftOutAndCounted) {
  Folder folder;
  folder.write("a.cpp"), folder.write("gen/b.cpp"), folder.write(".gitignore", "gen/\n");
  if (std::system(("git init -q '" + folder.path.string() + "' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no git";
  const Sources sources = find_sources(folder.path);
  EXPECT_EQ(names(folder, sources.files), std::vector<std::string>{"a.cpp"});
  EXPECT_EQ(sources.ignored, 1u);
}

TEST(Project, LoopsOfLinksEnd) {
  Folder folder;
  folder.write("a.cpp"), folder.write("sub/b.cpp");
  fs::create_directory_symlink("..", folder.path / "sub/up");
  fs::create_directory_symlink("up", folder.path / "up");
  fs::create_symlink("c.cpp", folder.path / "c.cpp");
  EXPECT_EQ(names(folder, find_sources(folder.path).files), (std::vector<std::string>{"a.cpp", "sub/b.cpp"}));
}

TEST(Project, GitConfigurationRunsNothing) {
  Folder folder;
  folder.write("a.cpp");
  if (std::system(("git init -q '" + folder.path.string() + "' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no git";
  const fs::path witness = folder.path / "witness";
  std::ofstream(folder.path / ".git/config", std::ios::app)
      << "[core]\n\tfsmonitor = \"touch '" << witness.string()
      << "'; false\"\n\thooksPath = .\n\trepositoryformatversion = 1\n"
      << "[extensions]\n\tpartialClone = origin\n[index]\n\tsparse = true\n"
      << "[remote \"origin\"]\n\turl = \"ext::touch " << witness.string() << "\"\n\tpromisor = true\n";
  EXPECT_EQ(find_sources(folder.path).files.size(), 1u);
  EXPECT_FALSE(fs::exists(witness));
}

TEST(Project, DatabasesAreFound) {
  for (const char* place :
       {"compile_commands.json", "build/compile_commands.json", "build/release/compile_commands.json"}) {
    Folder folder;
    const fs::path database = folder.write(place, "[]");
    EXPECT_EQ(find_database(folder.path), database) << place;
  }
  Folder folder;
  fs::create_directories(folder.path / ".git");
  const fs::path database = folder.write("build/compile_commands.json", "[]");
  folder.write("src/deep/a.cpp");
  EXPECT_EQ(find_database(folder.path / "src/deep"), database);
}

TEST(Project, CommandsComeFromTheDatabase) {
  Folder folder;
  const fs::path source = folder.write("a.cpp");
  folder.write("b.cpp");
  folder.write("build/compile_commands.json",
               R"([{"directory":")" + folder.path.string() +
                   R"(","file":"a.cpp","command":"g++ -DFROM_DATABASE -fplugin=x.so -c a.cpp"}])");
  Options options;
  options.paths = {folder.path};
  const Project project = plan(options);
  ASSERT_EQ(project.requests.size(), 2u);
  EXPECT_EQ(project.root, folder.path);
  EXPECT_FALSE(project.requests[0].inferred_flags);
  EXPECT_TRUE(project.requests[1].inferred_flags);
  const auto& command = project.requests[0].command;
  EXPECT_NE(std::find(command.begin(), command.end(), "-DFROM_DATABASE"), command.end());
  EXPECT_TRUE(mentions(project.remarks, "-fplugin"));
  EXPECT_TRUE(mentions(project.remarks, "build/compile_commands.json"));
  EXPECT_TRUE(mentions(project.remarks, "no compile command for 1 file"));
}

TEST(Project, IncludeFoldersAreInferred) {
  Folder folder;
  const fs::path source = folder.write("app/train/main.cpp");
  folder.write("include/x.h"), folder.write("lib/core/include/y.h"), folder.write("app/src/z.h"),
      folder.write(".git/config", "");
  const auto found = Inference().include_folders(source, folder.path);
  const auto shown = names(folder, found);
  EXPECT_EQ(shown,
            (std::vector<std::string>{"app/train", "app", "app/src", ".", "include", "lib/core/include"}));
  EXPECT_EQ(project_root_of(source), folder.path);
}

TEST(Project, FoldersThatHoldWhatIsIncludedAreInferred) {
  Folder folder;
  folder.write(".git/config", "");
  const fs::path source =
      folder.write("models/gan/main.cpp", "#include \"helpers.h\"\n#include <own/deep.h>\n"
                                          "#include <vector>\n#include \"nowhere.h\"\n");
  folder.write("utils/helpers.h", "#pragma once\n#include \"data/sets.h\"\n");
  folder.write("core/data/sets.h", "int x;");
  folder.write("lib/own/deep.h", "int y;");
  folder.write("odd/vector.h", ""), folder.write("odd/vector", "");
  folder.write("build/helpers.h", "");
  EXPECT_EQ(names(folder, Inference().include_folders(source, folder.path)),
            (std::vector<std::string>{"models/gan", "models", ".", "utils", "lib", "core"}));
}

TEST(Project, OfSeveralHeadersOfANameTheNearestAndOwnIsMeant) {
  Folder folder;
  folder.write(".git/config", "");
  const fs::path source = folder.write("a/src/main.cpp", "#include \"nets.h\"\n#include \"json.h\"\n");
  folder.write("a/nets_of_a/nets.h", ""), folder.write("b/nets.h", ""),
      folder.write("third_party/x/nets.h", "");
  folder.write("third_party/x/json.h", "");
  const auto found = names(folder, Inference().include_folders(source, folder.path));
  EXPECT_EQ(found, (std::vector<std::string>{"a/src", "a", ".", "a/nets_of_a", "third_party/x"}));
}

TEST(Project, FoldersOfAngledNamesComeLast) {
  Folder folder;
  folder.write(".git/config", "");
  const fs::path source = folder.write("train.cpp", "#include <trainer.hpp>\n#include <string>\n#include <math.h>\n");
  folder.write("lib/trainer.hpp", ""), folder.write("odd/string", ""), folder.write("odd2/math.h", "");
  const std::vector<std::string> arguments = Inference().translation(source, folder.path).arguments;
  const auto before = [&](const char* name) {
    const auto found = std::find(arguments.begin(), arguments.end(), (folder.path / name).string());
    return found == arguments.end() ? "" : *std::prev(found);
  };
  EXPECT_EQ(before("lib"), "-idirafter");
  EXPECT_EQ(before("odd"), "");
  EXPECT_EQ(before("odd2"), "-idirafter"); // the system's is found first
}

TEST(Project, HeadersThatIncludeEachOtherEnd) {
  Folder folder;
  folder.write(".git/config", "");
  const fs::path source = folder.write("src/main.cpp", "#include \"a.h\"\n");
  folder.write("x/a.h", "#include \"b.h\"\n"), folder.write("y/b.h", "#include \"a.h\"\n#include \"b.h\"\n");
  EXPECT_EQ(names(folder, Inference().include_folders(source, folder.path)),
            (std::vector<std::string>{"src", ".", "x", "y"}));
}

TEST(Project, MacrosOfTheGpuAreInferredFromBuildFiles) {
  Folder folder;
  folder.write(".git/config", "");
  const fs::path source = folder.write("src/main.cpp", "");
  folder.write("Makefile", "ifeq ($(GPU), 1)\nCOMMON+= -DGPU -I/usr/local/cuda/include\nendif\n"
                           "CFLAGS+= -DDEBUG -DOPENCV -DCUDNN_HALF=2 # -DCUDNN\n");
  EXPECT_EQ(Inference().macros(source, folder.path), (std::vector<std::string>{"GPU", "CUDNN_HALF=2"}));
  const Translation translation = Inference().translation(source, folder.path);
  EXPECT_NE(std::find(translation.arguments.begin(), translation.arguments.end(), "-DCUDNN_HALF=2"),
            translation.arguments.end());
}

TEST(Project, WithoutARepositoryTheBuildFileMarksTheRoot) {
  Folder folder;
  const fs::path source = folder.write("src/a.cpp");
  EXPECT_EQ(project_root_of(source), folder.path / "src");
  folder.write("Makefile"), folder.write("include/x.h"), folder.write("third_party/lib/include/y.h");
  EXPECT_EQ(project_root_of(source), folder.path);
  Options options;
  options.paths = {source};
  const auto command = plan(options).requests.at(0).command;
  const auto before = [&](const fs::path& include) {
    return *std::prev(std::find(command.begin(), command.end(), include.string()));
  };
  EXPECT_EQ(before(folder.path / "include"), "-I");
  EXPECT_EQ(before(folder.path / "third_party/lib/include"), "-idirafter")
      << "this system's headers come first";
}

TEST(Project, TheLanguageStandardIsReadOffTheBuildFile) {
  Folder folder;
  folder.write("a.cpp"), folder.write("CMakeLists.txt", "set(CMAKE_CXX_STANDARD 20)\n");
  Options options;
  options.paths = {folder.path};
  const Project project = plan(options);
  const auto& command = project.requests.at(0).command;
  EXPECT_NE(std::find(command.begin(), command.end(), "-std=gnu++20"), command.end());
}

TEST(Project, WithoutAPathTheCurrentFolderIsTheProject) {
  Folder folder;
  folder.write("src/ai/a.cc", "#include \"ai/a.h\"\n"), folder.write("src/ai/a.h"), folder.write("MODULE.bazel");
  folder.write(".bazelrc", "build --cxxopt=-std=c++20\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  Options options;
  const auto unnamed = plan(options).requests.at(0).command;
  options.paths = {"."};
  const auto named = plan(options).requests.at(0).command;
  fs::current_path(before);
  EXPECT_EQ(unnamed, named);
  EXPECT_NE(std::find(unnamed.begin(), unnamed.end(), (folder.path / "src").string()), unnamed.end());
  EXPECT_NE(std::find(unnamed.begin(), unnamed.end(), "-std=gnu++20"), unnamed.end());
}

TEST(Project, ABazelWorkspaceMarksTheRoot) {
  Folder folder;
  folder.write("MODULE.bazel"), folder.write("src/ai/a.cc"), folder.write("src/ai/BUILD");
  EXPECT_EQ(project_root_of(folder.path / "src/ai/a.cc"), folder.path);
}

TEST(Project, UnusablePathsAreRefused) {
  Folder folder;
  Options options;
  options.paths = {folder.path / "nowhere"};
  EXPECT_NE(message(options).find("no such file"), std::string::npos);
  options.paths = {folder.path};
  EXPECT_NE(message(options).find("no C, C++ or CUDA source"), std::string::npos);
  options.paths = {folder.write("notes.txt")};
  EXPECT_NE(message(options).find("not a C, C++ or CUDA source"), std::string::npos);
  const fs::path fifo = folder.path / "pipe.cpp";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  options.paths = {fifo};
  EXPECT_NE(message(options).find("not a regular file"), std::string::npos);
  options.paths = {folder.write("a.cpp")};
  options.database = folder.path / "none";
  EXPECT_NE(message(options).find("cannot read the compilation database"), std::string::npos);
  options.database.clear();
  options.torch_root = folder.path;
  EXPECT_NE(message(options).find("no LibTorch there"), std::string::npos);
  options.torch_root.clear();
  options.cuda_root = folder.path;
  EXPECT_NE(message(options).find("no CUDA toolkit there"), std::string::npos);
}

TEST(Project, ABrokenDatabaseThatWasFoundIsAnErrorToo) {
  Folder folder;
  folder.write("a.cpp"), folder.write("compile_commands.json", "[");
  Options options;
  options.paths = {folder.path};
  EXPECT_NE(message(options).find("compile_commands.json"), std::string::npos);
}

TEST(Project, FilesNamedTwiceAreParsedOnce) {
  Folder folder;
  const fs::path source = folder.write("a.cpp");
  Options options;
  options.paths = {source, folder.path, source};
  EXPECT_EQ(plan(options).requests.size(), 1u);
}

TEST(Project, AFileOfSeveralTargetsIsParsedForEachThatDiffers) {
  Folder folder;
  const std::string file = folder.write("a.cpp").string();
  const auto entry = [&](const std::string& options) {
    return R"({"directory":")" + folder.path.string() + R"(","file":"a.cpp","command":"g++ )" + options +
           R"( -c a.cpp"})";
  };
  folder.write("compile_commands.json", "[" + entry("-O2 -DX=1 -o x.o") + "," +
                                            entry("-O0 -fPIC -DX=1 -o y.o") + "," + entry("-DX=2") + "," +
                                            entry("-DX=2 -ffast-math") + "]");
  Options options;
  options.paths = {folder.path};
  const Project project = plan(options);
  ASSERT_EQ(project.requests.size(), 3u);
  EXPECT_EQ(project.requests[2].fact_flags, std::vector<std::string>{"-ffast-math"});
}

} // namespace
} // namespace reprobe::scan
