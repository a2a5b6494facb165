#include "rules/error.h"
#include "runtime/launch/journals.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/output_name.h"
#include "runtime/launch/program.h"
#include "runtime/launch/symbols.h"
#include "runtime/op/journal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace reprobe::launch;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "reprobe-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

TEST(ParseBytes, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("1K"), 1024u);
  EXPECT_EQ(parse_bytes("512M"), 512u << 20);
  EXPECT_EQ(parse_bytes("2GiB"), std::uint64_t(2) << 30);
  EXPECT_EQ(parse_bytes("1.5 gb"), std::uint64_t(3) << 29);
}

TEST(ParseBytes, RefusesAnythingElse) {
  for (const char* text : {"", "M", "-1", "1X", "1MM", "nan", "inf", "1e30", "12 34"})
    EXPECT_THROW(parse_bytes(text), reprobe::Error) << text;
}

TEST(FindProgram, SaysWhatIsWrong) {
  Folder folder;
  folder.write("text", "no program");
  const auto message = [](const std::string& name) {
    try {
      find_program(name);
      return std::string("found");
    } catch (const reprobe::Error& error) {
      EXPECT_EQ(error.exit_code, 3);
      return std::string(error.what());
    }
  };
  EXPECT_NE(message((folder.path / "missing").string()).find("there is no such file"), std::string::npos);
  EXPECT_NE(message((folder.path / "text").string()).find("not executable"), std::string::npos);
  EXPECT_NE(message(folder.path.string()).find("a folder"), std::string::npos);
  EXPECT_NE(message("no-such-program-anywhere").find("not on PATH"), std::string::npos);
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_EQ(message("sh"), "found");
}

TEST(Collect, KeepsWhatACutJournalHolds) {
  Folder folder;
  folder.write("processes", "10\t/bin/sh\tnot-observed\tnot linked\n10\t/bin/sh\tnot-observed\tnot "
                            "linked\n11\t\tnot-observed\tforked from an observed process\n");
  const std::string mode =
      R"("mode":{"autocast":"none"},"path":[],"function":false,"overload":"","device":"cpu","backward_node":"")";
  folder.write(
      "journal-12-0",
      R"({"kind":"signature","id":0,"operator":"a::stable","signature":"none","direction":"forward",)" +
          mode + "}\n" +
          R"({"kind":"signature","id":1,"operator":"a::cut","signature":"none","direction":"forward",)" +
          mode + "}\n" +
          R"({"kind":"signature","id":2,"operator":"a::nan","signature":"none","direction":"forward",)" +
          mode + "}\n" +
          R"({"kind":"measured","id":0,"verdict":"stable","reason":"","rounds":20,"distinct":1,"microseconds":3,"blamed":false,"outputs":[]})" +
          "\n" +
          R"({"kind":"measured","id":2,"verdict":"varies","reason":"","rounds":20,"distinct":2,"microseconds":3,"blamed":true,"outputs":[)" +
          R"({"name":"output 0","dtype":"float32","shape":[2],"distinct":2,"differing_share":0.5,"max_ulp":0,"max_absolute":"inf","max_relative":1,"mean_absolute":0.25,"v_ermv":"inf","v_c":0.5,"nan_mismatches":1,"infinity_mismatches":2,"ulp_histogram":[0,3],"first_differing":[1]}]})" +
          "\n" + R"({"kind":"measured","id":1,"verd)");
  const Collected collected = collect(folder.path);
  EXPECT_EQ(collected.observed_processes, 1u);
  EXPECT_EQ(collected.unfinished_processes, 1u);
  ASSERT_EQ(collected.entries.size(), 3u);
  EXPECT_EQ(collected.entries[0].verdict, "stable");
  EXPECT_EQ(collected.entries[1].verdict, "not-examined");
  EXPECT_EQ(collected.entries[1].reason, "the program ended before it was measured");
  EXPECT_EQ(collected.entries[2].differing_share, 0.5);
  EXPECT_TRUE(std::isinf(collected.entries[2].max_absolute));
  ASSERT_EQ(collected.entries[2].outputs.size(), 1u);
  const reprobe::report::MeasuredOutput& output = collected.entries[2].outputs[0];
  EXPECT_EQ(output.mean_absolute, 0.25);
  EXPECT_TRUE(std::isinf(output.v_ermv));
  EXPECT_EQ(output.v_c, 0.5);
  EXPECT_EQ(output.nan_mismatches, 1u);
  EXPECT_EQ(output.infinity_mismatches, 2u);
  EXPECT_EQ(output.ulp_histogram, (std::vector<std::uint64_t>{0, 3}));
  EXPECT_EQ(output.first_differing, std::vector<std::int64_t>{1});
  EXPECT_FALSE(output.same_values.has_value());
  EXPECT_EQ(collected.refusals, std::vector<std::string>{"/bin/sh: not linked"});
  ASSERT_EQ(collected.remarks.size(), 1u);
  EXPECT_EQ(collected.remarks[0], "1 forked child of an observed process was not observed");
}

TEST(OutputName, PlaceholdersAndRanks) {
  Identity alone;
  alone.host = "node7";
  alone.process = 42;
  Identity rank = alone;
  rank.rank = "3";
  rank.of_many = true;
  EXPECT_EQ(expand_output("a/m.json", alone), "a/m.json");
  EXPECT_EQ(expand_output("m-%r-%p-%h-%%.json", alone), "m-0-42-node7-%.json");
  EXPECT_EQ(expand_output("m-%r.json", rank), "m-3.json");
  EXPECT_EQ(expand_output("a.b/m.json", rank), "a.b/m.rank3.json");
  EXPECT_EQ(expand_output("100%%", rank), "100%.rank3");
  EXPECT_THROW(expand_output("m-%x", alone), reprobe::Error);
  EXPECT_THROW(expand_output("m-%", alone), reprobe::Error);
  EXPECT_TRUE(names_processes("%%%p"));
  EXPECT_FALSE(names_processes("%%p"));
}

TEST(OutputName, RankOfEachLauncher) {
  const auto rank = [] { return reprobe::op::process_identity(); };
  for (const char* name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"})
    ::unsetenv(name);
  EXPECT_EQ(rank().rank, "");
  ::setenv("SLURM_PROCID", "0", 1); // a batch script: no step, so nobody to meet
  EXPECT_EQ(rank().rank, "0");
  EXPECT_FALSE(rank().of_many);
  ::setenv("SLURM_STEP_NUM_TASKS", "8", 1);
  EXPECT_TRUE(rank().of_many);
  ::setenv("RANK", "5", 1); // torchrun inside of srun
  EXPECT_EQ(rank().rank, "5");
  EXPECT_FALSE(rank().of_many);
  ::setenv("WORLD_SIZE", "16", 1);
  EXPECT_TRUE(rank().of_many);
  ::setenv("RANK", "../x", 1);
  EXPECT_EQ(rank().rank, "0");
  for (const char* name : {"RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"})
    ::unsetenv(name);
}

TEST(Symbols, LibraryFunctionsNameNoPlace) {
  EXPECT_TRUE(is_library_function("at::Tensor::sigmoid() const"));
  EXPECT_TRUE(is_library_function("at::Tensor c10::guts::apply<int>(int)"));
  EXPECT_TRUE(is_library_function("torch::nn::LinearImpl::forward(at::Tensor const&)"));
  EXPECT_FALSE(is_library_function("main"));
  EXPECT_FALSE(is_library_function("named_function(at::Tensor const&)"));
  EXPECT_FALSE(is_library_function("at::Tensor user::f<int>(at::Tensor const&)"));
  EXPECT_FALSE(is_library_function("attention(at::Tensor)"));
}

TEST(Symbols, LibraryFilesAreNotTheProgrammers) {
  EXPECT_TRUE(is_library_file("/opt/libtorch/include/ATen/core/TensorBody.h"));
  EXPECT_TRUE(is_library_file("/opt/libtorch/include/torch/csrc/api/include/torch/nn/module.h"));
  EXPECT_TRUE(is_library_file("/usr/include/c++/12/bits/invoke.h"));
  EXPECT_FALSE(is_library_file("/home/someone/trainer/src/torch_model.cpp"));
  EXPECT_FALSE(is_library_file("train.cpp"));
}

} // namespace
