// Which calls `reprobe run` looks at, where it says they are, and what it says of the program's flags.
#include "analyzer/report/findings.h"
#include "tests/runtime/run_fixture.h"

#include <set>

namespace {

using namespace reprobe::test;

const std::string kProgram = OBSERVED_PROGRAM;
const std::string kReprobe = "'" REPROBE_EXECUTABLE "'";

class Observe : public Run {
protected:
  /// A findings file that names a line, and perhaps an operator.
  void write_finding(const std::string& file, std::uint32_t line, std::vector<std::string> operators = {}) {
    reprobe::report::Findings findings;
    auto& finding = findings.findings.emplace_back();
    finding.rule = "nondeterministic-op";
    finding.severity = "warning";
    finding.confidence = "high";
    finding.source.file = file;
    finding.source.line = line;
    finding.operators = std::move(operators);
    std::ofstream(folder_ / "findings.json") << reprobe::report::to_json(findings);
  }

  Measurements read(const std::string& name) {
    return reprobe::report::measurements_from_json(contents(folder_ / name), name);
  }
};

std::set<std::string> operators_of(const Measurements& measurements) {
  std::set<std::string> names;
  for (const Measurement& entry : measurements.entries)
    names.insert(entry.op);
  return names;
}

using Names = std::set<std::string>;

// Flags.

TEST_F(Observe, ChangesOfFlagsCarryTheFirstOperationUnderThem) {
  const Result alone = shell(kProgram + " flags");
  const Result result = run(kProgram + " flags");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(alone.out, result.out);
  EXPECT_EQ(alone.err, ""); // asking for TF32 must not make LibTorch warn
  EXPECT_EQ(result.err.find("Warning"), std::string::npos) << result.err;
  const auto& flags = result.measurements.flags;
  ASSERT_EQ(flags.size(), 3u) << flags.dump(1);
  const auto expect = [&](std::size_t index, const char* flag, bool to, int step, const char* op, const char* mark) {
    const auto& change = flags[index];
    EXPECT_EQ(change["flag"], flag);
    EXPECT_EQ(change["from"], !to);
    EXPECT_EQ(change["to"], to);
    EXPECT_EQ(change["step"], step);
    EXPECT_EQ(change["order"], index);
    EXPECT_EQ(change["operator"], op);
    EXPECT_EQ(change["source"]["line"], line_of(OBSERVED_SOURCE, mark));
  };
  expect(0, "cudnn_benchmark", true, 1, "aten::cosh", "after flags");
  expect(1, "tf32_matmul", true, 1, "aten::cosh", "after flags");
  expect(2, "cudnn_benchmark", false, 2, "aten::sigmoid", "flag again");
  EXPECT_EQ(result.measurements.environment["flags_at_first"]["cudnn_benchmark"], false);
  EXPECT_EQ(result.measurements.environment["tf32_matmul"], true);
  EXPECT_EQ(find(result.measurements, "aten::cosh")->mode.at("tf32_matmul"), true);
  EXPECT_EQ(find(result.measurements, "aten::cosh")->mode.at("cudnn_benchmark"), true);
  EXPECT_SAYS(result.err, "cudnn_benchmark changed from false to true in step 1, first seen at");
}

TEST_F(Observe, FlagsThatStayAreNotListed) {
  const Result result = run(kProgram + " train");
  EXPECT_TRUE(result.measurements.flags.empty()) << result.measurements.flags.dump(1);
}

// Steps and calls.

TEST_F(Observe, StepsAreOutermostBackwardPasses) {
  const Result alone = shell(kProgram + " steps");
  const Result result = run(kProgram + " steps", "--skip 1 --steps 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(alone.out, result.out);
  bool backward = false;
  for (const Measurement& entry : result.measurements.entries)
    if (entry.op == "aten::sigmoid" || entry.op == "aten::sigmoid_backward") {
      EXPECT_SAYS(entry.signature, "[5,4]");
      EXPECT_EQ(entry.calls, 1u);
      EXPECT_EQ(entry.line, line_of(OBSERVED_SOURCE, "step"));
      backward |= entry.direction == "backward";
    }
  EXPECT_TRUE(backward);
  const Result counted = run(kProgram + " steps", "--skip 1 --steps 1 --ops aten::sigmoid");
  EXPECT_EQ(counted.measurements.entries.size(), 1u);
  EXPECT_EQ(counted.measurements.program["outside_calls"], 2);
  EXPECT_SAYS(counted.err, "2 calls outside of the steps and ranges asked for were not examined");
}

TEST_F(Observe, TheProgramsOwnMarksOfStepsCount) {
  const Result marked = run(kProgram + " marked-steps", "--skip 2 --ops aten::sigmoid");
  ASSERT_EQ(marked.measurements.entries.size(), 1u) << marked.err;
  EXPECT_SAYS(marked.measurements.entries[0].signature, "[6,4]");
  EXPECT_EQ(marked.measurements.program["outside_calls"], 2);
}

TEST_F(Observe, EachManyethCallOfASignature) {
  const auto verdict = [&](const std::string& options) {
    return find(run(kProgram + " late", options).measurements, "scripted::late")->verdict;
  };
  EXPECT_EQ(verdict(""), "stable");
  EXPECT_EQ(verdict("--per-signature 3"), "varies");
  EXPECT_EQ(verdict("--per-signature 2"), "stable");
  EXPECT_EQ(verdict("--per-signature 2 --every 2"), "varies");
  EXPECT_EQ(verdict("--per-signature 2 --every 3"), "stable");
}

// Selection.

TEST_F(Observe, FindingsSelectTheirLines) {
  write_finding("programs/observed_program.cpp", line_of(OBSERVED_SOURCE, "step"));
  const Result result = run(kProgram + " steps", "--from findings.json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(operators_of(result.measurements), (Names{"aten::sigmoid", "aten::sigmoid_backward"})) << result.err;
}

TEST_F(Observe, FindingsSelectTheirOperatorsElsewhereToo) {
  write_finding("elsewhere.cpp", 1, {"aten::matmul"});
  const Result result = run(kProgram + " steps", "--from findings.json");
  EXPECT_EQ(operators_of(result.measurements), Names{"aten::matmul"}) << result.err;
}

TEST_F(Observe, NothingThatMatchesIsAnError) {
  const Result globbed = run(kProgram + " sin", "--ops no::such");
  EXPECT_EQ(globbed.exit_code, 3);
  EXPECT_SAYS(globbed.err, "nothing was examined: no operation of the program matches --ops no::such");
  EXPECT_TRUE(globbed.measurements.entries.empty());
  write_finding("elsewhere.cpp", 1);
  const Result from = run(kProgram + " sin", "--from findings.json");
  EXPECT_EQ(from.exit_code, 3);
  EXPECT_SAYS(from.err, "matches --from findings.json");
  const Result skipped = run(kProgram + " sin", "--skip 100");
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_SAYS(skipped.err, "outside of the steps and ranges");
  EXPECT_SAYS(skipped.err, "the program ended in step 0");
  const Result window = run(kProgram + " sin", "--window nowhere");
  EXPECT_EQ(window.exit_code, 3);
  EXPECT_SAYS(window.err, "no range named nowhere was entered");
  EXPECT_EQ(run(kProgram + " exit", "--ops no::such").exit_code, 7); // the program's own code wins
}

TEST_F(Observe, NothingSelectedLeavesLibTorchAlone) {
  EXPECT_EQ(run(kProgram + " callbacks", "--ops no::such").out, "0\n");
  EXPECT_EQ(run(kProgram + " callbacks", "--ops aten::sin").out, "1\n");
}

// Ranges.

TEST_F(Observe, NamedRanges) {
  const Result alone = shell(kProgram + " ranges");
  const Result result = run(kProgram + " ranges", "--window chosen");
  EXPECT_EQ(alone.out, result.out);
  const Names names = operators_of(result.measurements);
  EXPECT_TRUE(names.count("aten::cos"));
  EXPECT_FALSE(names.count("aten::tan"));
  bool backward = false;
  for (const Measurement& entry : result.measurements.entries) {
    backward |= entry.direction == "backward";
    EXPECT_TRUE(entry.op != "aten::sin" || entry.direction == "backward");
  }
  EXPECT_TRUE(backward); // the gradient of what was called inside
#ifdef HAVE_NVTX
  EXPECT_TRUE(names.count("aten::exp")) << result.err;
#endif
  const Result region = run(kProgram + " steps", "--window second --ops aten::sigmoid");
  ASSERT_EQ(region.measurements.entries.size(), 1u) << region.err;
  EXPECT_SAYS(region.measurements.entries[0].signature, "[5,4]");
}

TEST_F(Observe, SwitchedBySignal) {
  const Result result = shell(
      kReprobe + " run --signal USR1 -o m.json -- " + kProgram + " until-told >told & pid=$!; "
                 "until grep -q ready told; do sleep 0.05; done; sleep 0.3; "
                 "kill -USR1 $pid; sleep 0.2; touch on; sleep 0.3; kill -USR1 $pid; sleep 0.2; touch off; wait $pid");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(find(result.measurements, "aten::cos"));
  EXPECT_FALSE(find(result.measurements, "aten::sin"));
  EXPECT_FALSE(find(result.measurements, "aten::tan"));
}

TEST_F(Observe, ProgramsThatTheProgramStarts) {
  const Result traced = run(kProgram + " start-another", "--ops aten::cos");
  EXPECT_EQ(traced.exit_code, 0);
  EXPECT_TRUE(find(traced.measurements, "aten::cos"));
  const Result alone = run(kProgram + " start-another", "--no-trace-children --ops aten::cos --ops aten::sin");
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_EQ(operators_of(alone.measurements), Names{"aten::sin"});
}

// Without a launcher of ours.

TEST_F(Observe, ThroughTheEnvironmentAlone) {
  const std::string preloaded = "LD_PRELOAD='" PRELOAD "' REPROBE_OUTPUT=m.json REPROBE_OPS='!aten::cos,aten::*' "
                                "REPROBE_ROUNDS=4 ";
  const Result alone = shell(kProgram + " sin");
  const Result result = shell(preloaded + kProgram + " sin");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, alone.out);
  ASSERT_TRUE(find(result.measurements, "aten::sin")) << result.err;
  EXPECT_EQ(find(result.measurements, "aten::sin")->rounds, 4u);
  EXPECT_EQ(shell(preloaded + kProgram + " exit").exit_code, 7);
  const Result killed = shell(preloaded + kProgram + " kill");
  EXPECT_EQ(killed.exit_code, 128 + 9);
  EXPECT_FALSE(killed.measurements.complete);
  EXPECT_TRUE(find(killed.measurements, "aten::sin"));
  EXPECT_EQ(shell(preloaded + "sh -c 'echo one'").out, "one\n"); // knows nothing of LibTorch
}

TEST_F(Observe, AProgramObservesItself) {
  const Result result = shell("REPROBE_EXECUTABLE=" + kReprobe + " " + kProgram + " observes-itself");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("observed\n", 0), 0u) << result.out << result.err;
  const Measurements measurements = read("self.json");
  ASSERT_EQ(operators_of(measurements).count("aten::cos"), 1u);
  EXPECT_FALSE(find(measurements, "aten::sin"));
  EXPECT_FALSE(find(measurements, "aten::tan"));
  const Measurement& cosine = *find(measurements, "aten::cos");
  EXPECT_EQ(cosine.rounds, 5u);
  EXPECT_EQ(cosine.calls, 2u);
  EXPECT_EQ(cosine.line, line_of(OBSERVED_SOURCE, "observed by itself"));
  EXPECT_FALSE(fs::exists(folder_ / "self.json.run"));
}

TEST_F(Observe, AProgramThatCannotObserveItselfSaysWhyAndRuns) {
  const Result result = shell("REPROBE_EXECUTABLE=/no/such/file " + kProgram + " observes-itself");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_SAYS(result.out, "/no/such/file cannot be started: No such file or directory");
  EXPECT_FALSE(fs::exists(folder_ / "self.json"));
  EXPECT_FALSE(fs::exists(folder_ / "self.json.run"));
  const Result under_run = run(kProgram + " observes-itself", "--window reprobe::Observe");
  EXPECT_EQ(find(under_run.measurements, "aten::cos")->rounds, 20u);
  EXPECT_FALSE(find(under_run.measurements, "aten::sin"));
}

// Ranks.

TEST_F(Observe, RanksNeverShareAFile) {
  std::string command;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string environment = "RANK=" + std::to_string(rank) + " WORLD_SIZE=3 ";
    command += rank == 1 ? environment + kReprobe + " run -o m.json -- sh -c 'echo $$ >pid; exec " + kProgram +
                               " wait >waits' & "
                         : environment + kReprobe + " run -o m.json -- " + kProgram + " cos & ";
  }
  const Result result = shell(command + "until grep -q sin waits 2>/dev/null; do sleep 0.05; done; "
                                        "kill -9 $(cat pid); wait");
  EXPECT_FALSE(result.measured);
  for (const char* name : {"m.rank0.json", "m.rank2.json"}) {
    const Measurements measurements = read(name);
    EXPECT_TRUE(measurements.complete) << name << ": " << measurements.reason << result.err;
    EXPECT_TRUE(find(measurements, "aten::cos")) << name;
  }
  const Measurements killed = read("m.rank1.json");
  EXPECT_FALSE(killed.complete);
  EXPECT_SAYS(killed.reason, "killed by signal 9");
  ASSERT_TRUE(find(killed, "aten::sin"));
  EXPECT_EQ(find(killed, "aten::sin")->verdict, "stable");
}

TEST_F(Observe, RanksInsideOneRun) {
  const Result result =
      shell(kReprobe + " run -o 'm-%r-%%.json' -- sh -c '" "OMPI_COMM_WORLD_RANK=0 " + kProgram +
            " sin & PMI_RANK=1 " + kProgram + " cos; wait'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(find(read("m-0-%.json"), "aten::cos"));
  EXPECT_TRUE(find(read("m-0-%.json"), "aten::sin"));
  EXPECT_TRUE(find(read("m-1-%.json"), "aten::cos"));
}

TEST_F(Observe, WhatAKilledLauncherLeavesCanBeCollected) {
  const Result result =
      shell("mkdir t; TMPDIR=$PWD/t " + kReprobe + " run -o m.json -- sh -c 'echo $$ >pid; exec " + kProgram +
            " wait >waits' & until grep -q sin waits 2>/dev/null; do sleep 0.05; done; kill -9 $!; wait; "
            // The program goes with its launcher.
            "while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done; " +
            kReprobe + " run --collect t/reprobe-run-* -o m.json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(result.measurements.complete);
  EXPECT_TRUE(find(result.measurements, "aten::sin"));
}

// Source lines.

void expect_lines(const Result& result) {
  const std::pair<const char*, const char*> marks[] = {
      {"aten::sigmoid", "inlined"}, {"aten::add", "operator"}, {"aten::erf", "lambda"}, {"aten::cosh", "named"}};
  for (const auto& [op, mark] : marks) {
    const Measurement* entry = find(result.measurements, op);
    ASSERT_NE(entry, nullptr) << op;
    EXPECT_EQ(fs::path(entry->file).filename(), "optimized_program.cpp") << op;
    EXPECT_EQ(entry->line, line_of(OPTIMIZED_SOURCE, mark)) << op;
  }
}

TEST_F(Observe, LinesOfAnOptimizedProgram) { expect_lines(run(OPTIMIZED_PROGRAM)); }

#ifdef PROGRAM_OF_CLANG
TEST_F(Observe, LinesOfAProgramOfClangWithLineTablesOnly) { expect_lines(run(PROGRAM_OF_CLANG)); }
#endif

TEST_F(Observe, WithoutLinesFunctionsAreNamed) {
  const Result result = run(PROGRAM_WITHOUT_LINES);
  const auto function = [&](const char* op) { return find(result.measurements, op)->function; };
  EXPECT_EQ(function("aten::cosh"), "named_function(at::Tensor const&)");
  EXPECT_EQ(function("aten::sigmoid"), "main");
  EXPECT_EQ(find(result.measurements, "aten::cosh")->line, 0u);
  EXPECT_SAYS(result.err, "has no line table (build it with -g1 or -g): operations in it are placed by function");
}

} // namespace
