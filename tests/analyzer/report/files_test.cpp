#include "analyzer/report/findings.h"
#include "rules/error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>

namespace reprobe::report {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "reprobe-files-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  std::size_t entries() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }
  fs::path folder;
};

TEST_F(Files, WritingReplacesTheWholeFileAndLeavesNothingBeside) {
  write_file(folder / "out.json", "a longer first text");
  write_file(folder / "out.json", "second");
  EXPECT_EQ(read_file(folder / "out.json"), "second");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingBeside) {
  fs::create_directory(folder / "taken");
  std::ofstream(folder / "taken" / "inside") << "x";
  EXPECT_THROW(write_file(folder / "taken", "text"), Error);
  EXPECT_TRUE(fs::exists(folder / "taken" / "inside"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AMissingFolderIsNamed) {
  try {
    write_file(folder / "none" / "out.json", "text");
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code, 3);
    EXPECT_NE(std::string(error.what()).find("none/out.json"), std::string::npos);
  }
}

TEST_F(Files, ALinkStaysALink) {
  write_file(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real"), "new");
}

TEST_F(Files, PermissionsOfAnExistingFileAreKept) {
  write_file(folder / "out", "old");
  ::chmod((folder / "out").c_str(), 0640);
  write_file(folder / "out", "new");
  struct stat status{};
  ::stat((folder / "out").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(Files, ReadingAFolderOrAMissingFileIsAnError) {
  EXPECT_THROW(read_file(folder), Error);
  EXPECT_THROW(read_file(folder / "none"), Error);
}

} // namespace
} // namespace reprobe::report
