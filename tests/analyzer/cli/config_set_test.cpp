#include "analyzer/cli/config_set.h"

#include "rules/error.h"

#include <gtest/gtest.h>

#include <fstream>

namespace reprobe::cli {
namespace {

namespace fs = std::filesystem;

class ConfigSets : public testing::Test {
protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::canonical(testing::TempDir()) / ("reprobe-config-" + name);
    fs::remove_all(folder_);
    write(".reprobe.yaml", ""); // nothing above counts
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string severity(const std::string& rule, const std::string& file) {
    ConfigSet set(registry_);
    return set.for_file(folder_ / file).severity(*registry_.find(rule), folder_ / file, "paper", false);
  }

  fs::path folder_;
  const rules::Registry& registry_ = rules::Registry::builtin();
};

TEST_F(ConfigSets, TheNearestFileCountsAlone) {
  write(".reprobe.yaml", "rules: {float-atomic: off}\n");
  write("src/.reprobe.yaml", "rules: {warn-only: note}\n");
  EXPECT_EQ(severity("float-atomic", "a.cu"), "off");
  EXPECT_EQ(severity("float-atomic", "src/deep/a.cu"), registry_.find("float-atomic")->severity.at("paper"));
  EXPECT_EQ(severity("warn-only", "src/deep/a.cu"), "note");
}

TEST_F(ConfigSets, InheritAddsTheFilesAboveAndComesAfterThem) {
  write(".reprobe.yaml", "stage: prototype\nrules: {float-atomic: off, warn-only: note}\n");
  write("src/.reprobe.yaml", "inherit: true\nrules: {warn-only: error}\n");
  EXPECT_EQ(severity("float-atomic", "src/a.cu"), "off");
  EXPECT_EQ(severity("warn-only", "src/a.cu"), "error");
  EXPECT_EQ(severity("missing-seed", "src/a.cu"), registry_.find("missing-seed")->severity.at("prototype"));
}

TEST_F(ConfigSets, TheLastMatchingEntryCounts) {
  write(".reprobe.yaml", "rules: {'*': off, '*-seed': error, missing-seed: note}\n");
  EXPECT_EQ(severity("float-atomic", "a.cu"), "off");
  EXPECT_EQ(severity("entropy-seed", "a.cu"), "error");
  EXPECT_EQ(severity("missing-seed", "a.cu"), "note");
}

TEST_F(ConfigSets, RulesHavePathsOfTheirOwn) {
  write(".reprobe.yaml", "rules: {float-atomic: {severity: error, paths: [kernels], exclude: [\"**/old\"]}}\n");
  EXPECT_EQ(severity("float-atomic", "kernels/a.cu"), "error");
  EXPECT_EQ(severity("float-atomic", "src/a.cu"), "off");
  EXPECT_EQ(severity("float-atomic", "kernels/old/a.cu"), "off");
}

TEST_F(ConfigSets, ExcludedFiles) {
  write(".reprobe.yaml", "exclude: [generated, \"src/*.pb.cc\"]\n");
  write("only/.reprobe.yaml", "paths: [a.cpp]\n");
  ConfigSet set(registry_);
  const auto excluded = [&](const char* file) { return set.for_file(folder_ / file).is_excluded(folder_ / file); };
  EXPECT_TRUE(excluded("x/generated/a.cpp"));
  EXPECT_TRUE(excluded("src/a.pb.cc"));
  EXPECT_FALSE(excluded("src/x/a.pb.cc"));
  EXPECT_FALSE(excluded("src/a.cpp"));
  EXPECT_FALSE(excluded("only/a.cpp"));
  EXPECT_TRUE(excluded("only/b.cpp"));
}

TEST_F(ConfigSets, AForcedStageOverridesTheFiles) {
  write(".reprobe.yaml", "stage: prototype\n");
  ConfigSet set(registry_);
  const rules::Rule& rule = *registry_.find("missing-seed");
  EXPECT_EQ(set.for_folder(folder_).severity(rule, folder_ / "a.cpp", "paper", true), rule.severity.at("paper"));
  EXPECT_EQ(set.for_folder(folder_).severity(rule, folder_ / "a.cpp", "paper", false), rule.severity.at("prototype"));
}

TEST_F(ConfigSets, OneNamedFileCountsForAll) {
  write("other.yaml", "rules: {float-atomic: off}\n");
  write("src/.reprobe.yaml", "rules: {float-atomic: error}\n");
  ConfigSet set(registry_, folder_ / "other.yaml");
  EXPECT_EQ(set.for_file(folder_ / "src/a.cu").severity(*registry_.find("float-atomic"), folder_ / "src/a.cu", "paper", false), "off");
}

TEST_F(ConfigSets, KnowledgeOfTheProjectJoinsTheRegistry) {
  write(".reprobe.yaml", "tables: {generators: [{role: seeds, generator: torch, symbols: [mylib::seed], argument: 0}]}\n");
  ConfigSet set(registry_);
  const rules::Registry own = customized(registry_, set.for_folder(folder_));
  EXPECT_EQ(own.table("generators").size(), registry_.table("generators").size() + 1);
  EXPECT_EQ(own.table("generators")[0]["symbols"][0], "mylib::seed");
}

TEST_F(ConfigSets, ADumpSaysTheSameByItself) {
  write(".reprobe.yaml", "stage: tuning\nrules: {'*-seed': off, float-atomic: note}\nbaseline: b.json\ndeterministic: [x]\n"
                         "tables: {generators: [{role: seeds, generator: torch, symbols: [\"a: b\", 'true'], argument: 0}]}\n");
  ConfigSet set(registry_);
  const EffectiveConfig& effective = set.for_folder(folder_);
  const std::string text = dump(effective, folder_ / "a.cpp", registry_, "paper", false);
  write("again/.reprobe.yaml", text);
  const EffectiveConfig& again = set.for_folder(folder_ / "again");
  for (const rules::Rule& rule : registry_.rules())
    EXPECT_EQ(again.severity(rule, folder_ / "again/a.cpp", "paper", false),
              effective.severity(rule, folder_ / "a.cpp", "paper", false))
        << rule.id << "\n" << text;
  ASSERT_EQ(again.files.size(), 1u);
  EXPECT_EQ(again.files[0]->tables, effective.files[0]->tables) << text;
  EXPECT_EQ(again.files[0]->deterministic, effective.files[0]->deterministic);
  EXPECT_EQ(again.baseline(), effective.baseline());
  EXPECT_EQ(again.stage("paper"), "tuning");
}

} // namespace
} // namespace reprobe::cli
