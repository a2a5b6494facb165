// `reprobe run` from the outside: what it does to a program, and what it finds in one.
#include "analyzer/report/findings.h"
#include "tests/runtime/run_fixture.h"

#include <csignal>

namespace {

using namespace reprobe::test;

// Programs that cannot be observed.

TEST_F(Run, ProgramThatDoesNotExist) {
  const Result result = run("./missing-program");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_SAYS(result.err, "./missing-program: the program cannot be started: there is no such file");
  EXPECT_FALSE(result.measured);
}

TEST_F(Run, ProgramOfAnotherFormat) {
  std::ofstream(folder_ / "broken", std::ios::binary) << std::string("\x7f"
                                                                     "ELF\x02\x01\x01\0\0\0",
                                                                     10);
  fs::permissions(folder_ / "broken", fs::perms::owner_all);
  const Result result = run("./broken");
  EXPECT_NE(result.exit_code, 0);
}

TEST_F(Run, ForeignProgramSucceedsButNothingIsObserved) {
  const Result result = run("echo one two");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "one two\n");
  EXPECT_SAYS(result.err, "not linked to LibTorch");
  EXPECT_FALSE(result.measurements.complete);
}

TEST_F(Run, ForeignProgramsOwnCodeWins) {
  EXPECT_EQ(run("sh -c 'exit 9'").exit_code, 9);
  EXPECT_EQ(run("sh -c 'kill -TERM $$'").exit_code, 128 + SIGTERM);
}

TEST_F(Run, StaticallyLinkedProgram) {
  const Result result = run(STATIC_PROGRAM);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "plain C\n");
  EXPECT_SAYS(result.err, "statically linked");
}

TEST_F(Run, AddressSanitizedProgramRunsWithoutPreload) {
  const Result result = run(SANITIZED_PROGRAM);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "plain C\n");
  EXPECT_SAYS(result.err, "the program runs unobserved: the program is built with AddressSanitizer");
  EXPECT_EQ(result.err.find("ASan runtime does not come first"), std::string::npos);
}

TEST_F(Run, OutputThatCannotBeWrittenIsFoundBeforeTheProgramStarts) {
  const Result result = shell("'" REPROBE_EXECUTABLE "' run -o no/such/folder/m.json -- touch started");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_SAYS(result.err, "the measurements cannot be written");
  EXPECT_FALSE(fs::exists(folder_ / "started"));
}

TEST_F(Run, OptionsThatMakeNoSense) {
  for (const char* options : {"--rounds 1", "--budget 0", "--budget -1", "--memory 3X",
                              "--error-exitcode 256", "--error-exitcode 0", "--per-signature 0",
                              "--rounds many", "--from missing.json", "--no-such-option"})
    EXPECT_EQ(run("true", options).exit_code, 2) << options;
  EXPECT_EQ(shell("'" REPROBE_EXECUTABLE "' run -o - -- true").exit_code, 2);
  EXPECT_EQ(shell("'" REPROBE_EXECUTABLE "' run").exit_code, 2);
}

TEST_F(Run, StandardStreamsAreTheProgramsAlone) {
  const Result result = shell("printf 'a\\0b\\n' | '" REPROBE_EXECUTABLE "' run -o m.json -- cat");
  EXPECT_EQ(result.out, std::string("a\0b\n", 4));
}

TEST_F(Run, PreloadOfTheUserStays) {
  const Result result =
      shell("LD_PRELOAD=libm.so.6 '" REPROBE_EXECUTABLE "' run -o m.json -- sh -c 'echo $LD_PRELOAD'");
  EXPECT_SAYS(result.out, "libreprobe-preload.so:libm.so.6");
}

TEST_F(Run, SignalsArePassedOn) {
  const Result result =
      shell("'" REPROBE_EXECUTABLE "' run -o m.json -- sh -c 'trap \"echo got it; exit 4\" TERM; echo ready "
                                   ">ready; while :; do sleep 0.05; done' & "
            "pid=$!; while [ ! -s ready ]; do sleep 0.05; done; kill -TERM $pid; wait $pid");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "got it\n");
}

#ifdef OBSERVED_PROGRAM

const std::string kProgram = OBSERVED_PROGRAM;

void expect_at(const Measurement* entry, const std::string& mark) {
  ASSERT_NE(entry, nullptr) << mark;
  EXPECT_EQ(entry->line, line_of(OBSERVED_SOURCE, mark)) << entry->op << ' ' << entry->file;
  EXPECT_EQ(fs::path(entry->file).filename(), "observed_program.cpp");
}

TEST_F(Run, TrainingIsBitIdenticalUnderObservation) {
  const Result alone = shell(kProgram + " train");
  const Result observed = run(kProgram + " train", "--per-signature 3 --rounds 3");
  EXPECT_EQ(observed.exit_code, 0);
  EXPECT_EQ(alone.out, observed.out);
  EXPECT_TRUE(observed.measurements.complete);
  EXPECT_GT(observed.measurements.entries.size(), 40u);
  EXPECT_EQ(listing(observed.measurements), "");
  const auto dropout = find(observed.measurements, "aten::dropout");
  ASSERT_NE(dropout, nullptr);
  EXPECT_EQ(dropout->verdict, "stable"); // drew the same numbers again
  bool autocast = false;
  for (const Measurement& entry : observed.measurements.entries)
    if (entry.mode.count("autocast") && entry.mode.at("autocast") == "bfloat16")
      autocast = true;
  EXPECT_TRUE(autocast);
  expect_at(find(observed.measurements, "aten::conv2d"), "convolution");
  expect_at(find(observed.measurements, "aten::convolution_backward"), "convolution");
  expect_at(find(observed.measurements, "aten::addmm"), "linear");
  expect_at(find(observed.measurements, "aten::embedding_backward"), "embedding");
  expect_at(find(observed.measurements, "aten::nll_loss_backward"), "loss");
}

TEST_F(Run, SharedGeneratorKeepsItsSequence) {
  const Result alone = shell(kProgram + " share-generator");
  const Result observed = run(kProgram + " share-generator", "--per-signature 200 --rounds 3");
  EXPECT_EQ(observed.exit_code, 0);
  EXPECT_EQ(alone.out, observed.out);
  const auto drawn = find(observed.measurements, "aten::randint");
  ASSERT_NE(drawn, nullptr);
  EXPECT_NE(drawn->verdict, "varies");
}

TEST_F(Run, ArgumentsOfEveryForm) {
  const Result alone = shell(kProgram + " arguments");
  const Result observed = run(kProgram + " arguments");
  EXPECT_EQ(observed.exit_code, 0);
  EXPECT_EQ(alone.out, observed.out);
  EXPECT_EQ(listing(observed.measurements), "");
  const auto norm = find(observed.measurements, "aten::batch_norm");
  expect_at(norm, "batch norm");
  std::vector<std::string> outputs;
  for (const auto& output : norm->outputs)
    outputs.push_back(output.name);
  EXPECT_EQ(outputs, (std::vector<std::string>{"output 0", "argument running_mean", "argument running_var"}));
  for (const char* view : {"aten::select", "aten::t", "aten::view", "aten::as_strided", "aten::empty"})
    EXPECT_EQ(find(observed.measurements, view), nullptr) << view;
}

TEST_F(Run, BackwardOperatorsCarryTheirForwardLine) {
  const Result result = run(kProgram + " backward-lines");
  EXPECT_EQ(result.exit_code, 0);
  const auto selected = find(result.measurements, "aten::index_select_backward");
  expect_at(selected, "index_select");
  EXPECT_EQ(selected->direction, "backward");
  EXPECT_EQ(selected->backward_node, "IndexSelectBackward0");
  expect_at(find(result.measurements, "aten::sigmoid_backward"), "sigmoid");
  const auto exponential = find(result.measurements, "aten::logsumexp");
  expect_at(exponential, "logsumexp");
  bool function = false;
  for (const Measurement& entry : result.measurements.entries)
    if (entry.backward_node.find("CppNode") != std::string::npos) {
      function = true;
      expect_at(&entry, "function");
    }
  EXPECT_TRUE(function);
}

TEST_F(Run, ScriptedVarianceIsCountedExactly) {
  const Result result = run(kProgram + " wobble", "--error-exitcode 42");
  EXPECT_EQ(result.exit_code, 42);
  const auto entry = find(result.measurements, "scripted::wobble");
  expect_at(entry, "wobble");
  EXPECT_EQ(entry->verdict, "varies");
  EXPECT_EQ(entry->rounds, 20u);
  EXPECT_EQ(entry->distinct, 3u);
  EXPECT_EQ(entry->differing_share, 1.0);
  EXPECT_EQ(entry->max_absolute, 2.0);
  EXPECT_TRUE(entry->blamed);
  EXPECT_EQ(entry->calls, 1u);
  EXPECT_SAYS(result.err, "scripted::wobble");
  EXPECT_EQ(run(kProgram + " wobble").exit_code, 0);
}

TEST_F(Run, DistanceInUlpAndShareOfElements) {
  const auto result = run(kProgram + " one-ulp", "--rounds 6");
  const auto entry = find(result.measurements, "scripted::one_ulp");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->rounds, 6u);
  EXPECT_EQ(entry->distinct, 2u);
  EXPECT_EQ(entry->differing_share, 0.125);
  EXPECT_EQ(entry->max_ulp, 1);
  ASSERT_EQ(entry->outputs.size(), 1u);
  const reprobe::report::MeasuredOutput& output = entry->outputs[0];
  EXPECT_EQ(output.shape, std::vector<std::int64_t>{8});
  EXPECT_EQ(output.v_c, 3.0 / 48); // one element of eight in three of six rounds
  EXPECT_EQ(output.mean_absolute, 3.0 / 48 / (1 << 23));
  EXPECT_EQ(output.v_ermv, 3.0 / 48 / (1 << 23));
  EXPECT_EQ(output.ulp_histogram, (std::vector<std::uint64_t>{0, 3}));
  EXPECT_EQ(output.first_differing, std::vector<std::int64_t>{3});
  EXPECT_FALSE(output.same_values.has_value());
}

TEST_F(Run, IndicesInAnotherOrder) {
  const Result result = run(kProgram + " ties", "--rounds 4");
  const auto entry = find(result.measurements, "scripted::ties");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->distinct, 2u);
  EXPECT_EQ(entry->differing_share, 0.25);
  EXPECT_EQ(entry->max_ulp, 0);
  ASSERT_EQ(entry->outputs.size(), 1u);
  EXPECT_EQ(entry->outputs[0].same_values, true);
  EXPECT_EQ(entry->outputs[0].first_differing, (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(entry->outputs[0].mean_absolute, 2 * 2 * 2.0 / 32); // 5 against 3 and 3 against 5, in two of four rounds
  EXPECT_SAYS(result.err, "indices the same in another order");
}

TEST_F(Run, BlameGoesToTheDeepestThatVaries) {
  const Result result = run(kProgram + " call-wobble");
  const auto outer = find(result.measurements, "scripted::call_wobble"),
             inner = find(result.measurements, "scripted::wobble");
  ASSERT_NE(outer, nullptr);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(outer->verdict, "varies");
  EXPECT_EQ(outer->distinct, 4u);
  EXPECT_FALSE(outer->blamed);
  EXPECT_EQ(inner->verdict, "varies");
  EXPECT_TRUE(inner->blamed);
  EXPECT_EQ(inner->path, std::vector<std::string>{"scripted::call_wobble"});
  EXPECT_EQ(inner->line, outer->line);
}

TEST_F(Run, UndeclaredMutationIsUndone) {
  const Result alone = shell(kProgram + " sneaky");
  const Result observed = run(kProgram + " sneaky");
  EXPECT_EQ(alone.out, observed.out);
  const auto entry = find(observed.measurements, "scripted::sneaky");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->verdict, "stable");
  ASSERT_EQ(entry->outputs.size(), 2u);
  EXPECT_EQ(entry->outputs[1].name, "argument x");
}

TEST_F(Run, UnfaithfulReplayIsNeverStable) {
  const Result result = run(kProgram + " drift");
  const auto entry = find(result.measurements, "scripted::drift");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->verdict, "not-examined");
  EXPECT_SAYS(entry->reason, "replay not faithful");
}

TEST_F(Run, OperatorsThatCannotBeReplayedAreListed) {
  const Result refusing = run(kProgram + " refusing");
  EXPECT_EQ(refusing.exit_code, 0);
  EXPECT_SAYS(find(refusing.measurements, "scripted::refusing")->reason, "once only");
  const Result throwing = run(kProgram + " throwing-operator");
  EXPECT_EQ(throwing.exit_code, 0);
  EXPECT_SAYS(throwing.out, "caught");
  const auto entry = find(throwing.measurements, "aten::matmul");
  expect_at(entry, "throws");
  EXPECT_EQ(entry->verdict, "not-examined");
  EXPECT_SAYS(entry->reason, "threw");
  const Result sparse = run(kProgram + " sparse");
  EXPECT_EQ(sparse.exit_code, 0);
  EXPECT_SAYS(listing(sparse.measurements), "sparse");
}

TEST_F(Run, CrashInsideAReplayIsNamedAsOurs) {
  const Result result = run(kProgram + " fragile");
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_FALSE(result.measurements.complete);
  EXPECT_SAYS(result.measurements.reason, "while Reprobe re-executed scripted::fragile");
  EXPECT_EQ(find(result.measurements, "aten::cos")->verdict, "stable");
  const Result without = run(kProgram + " fragile", "--ops '!scripted::fragile'");
  EXPECT_EQ(without.exit_code, 0);
}

TEST_F(Run, WhatWasMeasuredSurvivesTheProgram) {
  const std::vector<std::pair<std::string, int>> ends = {{"segfault", 128 + SIGSEGV},
                                                         {"abort", 128 + SIGABRT},
                                                         {"kill", 128 + SIGKILL},
                                                         {"throw", 128 + SIGABRT},
                                                         {"_exit", 0},
                                                         {"_exit-5", 5}};
  const std::string alone = shell(kProgram + " sin").out;
  for (const auto& [what, exit_code] : ends) {
    const Result result = run(kProgram + " " + what);
    EXPECT_EQ(result.exit_code, exit_code) << what;
    EXPECT_FALSE(result.measurements.complete) << what;
    EXPECT_FALSE(result.measurements.reason.empty()) << what;
    EXPECT_EQ(result.out, alone) << what;
    const auto entry = find(result.measurements, "aten::sin");
    ASSERT_NE(entry, nullptr) << what;
    EXPECT_EQ(entry->verdict, "stable") << what;
    EXPECT_EQ(entry->calls, 1u) << what;
    EXPECT_EQ(result.measurements.reason.find("Reprobe"), std::string::npos) << result.measurements.reason;
  }
  const Result exited = run(kProgram + " exit");
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_TRUE(exited.measurements.complete);
}

TEST_F(Run, ForkedChildIsNotObserved) {
  const Result alone = shell(kProgram + " fork");
  const Result result = run(kProgram + " fork");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, alone.out);
  EXPECT_TRUE(result.measurements.complete);
  EXPECT_EQ(find(result.measurements, "aten::cos"), nullptr);
  EXPECT_SAYS(result.err, "1 forked child of an observed process was not observed");
}

TEST_F(Run, DescriptorsThatTheProgramTakesAreLeftAlone) {
  const Result alone = shell(kProgram + " descriptors");
  const Result result = run(kProgram + " descriptors");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, alone.out);
  std::ifstream file(folder_ / "users-own.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "the user's\n");
  EXPECT_FALSE(result.measurements.complete);
  EXPECT_NE(find(result.measurements, "aten::exp"), nullptr);
}

TEST_F(Run, TheProgramsLimitOnFileSizesDoesNotKillIt) {
  const Result alone = shell(kProgram + " file-size-limit | cat");
  const Result result = run("sh -c '" + kProgram + " file-size-limit | cat'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, alone.out);
  EXPECT_FALSE(result.measurements.complete);
}

TEST_F(Run, OperatorThatDrawsAndWaitsForAThreadIsGivenUp) {
  const Result alone = shell(kProgram + " threaded-operator");
  const Result result = run(kProgram + " threaded-operator");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, alone.out);
  const auto entry = find(result.measurements, "scripted::threaded");
  ASSERT_NE(entry, nullptr) << result.err;
  EXPECT_EQ(entry->verdict, "not-examined");
  EXPECT_SAYS(entry->reason, "it needs another thread");
}

TEST_F(Run, AnotherProgramTakesItsPlace) {
  const Result result = run(kProgram + " exec");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_SAYS(result.out, "another program");
  EXPECT_FALSE(result.measurements.complete);
  EXPECT_EQ(find(result.measurements, "aten::sin")->verdict, "stable");
}

TEST_F(Run, ScriptThatStartsTheTrainer) {
  std::ofstream(folder_ / "start.sh") << "#!/bin/sh\necho before\n"
                                      << kProgram << " wobble\n"
                                      << kProgram << " one-ulp\nexit 6\n";
  fs::permissions(folder_ / "start.sh", fs::perms::owner_all);
  const Result result = run("./start.sh");
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_EQ(result.out.rfind("before\n", 0), 0u);
  EXPECT_NE(find(result.measurements, "scripted::wobble"), nullptr);
  EXPECT_NE(find(result.measurements, "scripted::one_ulp"), nullptr);
  EXPECT_TRUE(result.measurements.complete);
}

TEST_F(Run, InputAndErrorOutputReachAnObservedProgram) {
  const Result result =
      shell("printf 'x\\0y' | '" REPROBE_EXECUTABLE "' run -o m.json -- " + kProgram + " echo");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, std::string("x\0y", 3));
  EXPECT_EQ(result.err.rfind("to standard error\n", 0), 0u) << result.err;
}

TEST_F(Run, ProgramWithoutOperators) {
  const Result result = run(kProgram + " nothing");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "nothing\n");
}

TEST_F(Run, SelectionByGlobAndByFindings) {
  const Result globbed = run(kProgram + " train", "--ops 'conv*' --ops aten::embedding");
  for (const Measurement& entry : globbed.measurements.entries)
    EXPECT_TRUE(entry.op.rfind("aten::conv", 0) == 0 || entry.op == "aten::embedding") << entry.op;
  EXPECT_NE(find(globbed.measurements, "aten::conv2d"), nullptr);
  EXPECT_NE(find(globbed.measurements, "aten::convolution_backward"), nullptr);
  reprobe::report::Findings findings;
  findings.findings.emplace_back();
  findings.findings.back().rule = "nondeterministic-op";
  findings.findings.back().severity = "warning";
  findings.findings.back().confidence = "high";
  findings.findings.back().operators = {"aten::convolution"};
  std::ofstream(folder_ / "findings.json") << reprobe::report::to_json(findings);
  const Result named = run(kProgram + " train", "--from findings.json");
  ASSERT_NE(find(named.measurements, "aten::convolution"), nullptr) << named.err; // called inside conv2d
  for (const Measurement& entry : named.measurements.entries)
    EXPECT_EQ(entry.op, "aten::convolution");
}

TEST_F(Run, BudgetsSayWhatTheyLeftOut) {
  const Result time = run(kProgram + " train", "--budget 0.005");
  EXPECT_EQ(time.exit_code, 0);
  EXPECT_SAYS(time.err, "the time budget was used up");
  EXPECT_SAYS(listing(time.measurements), "the time budget was used up");
  EXPECT_FALSE(time.measurements.program["left_out"].empty());
  const Result memory = run(kProgram + " arguments", "--memory 1K");
  EXPECT_EQ(memory.exit_code, 0);
  EXPECT_SAYS(listing(memory.measurements), "over the memory budget");
}

TEST_F(Run, NothingStaysBehind) {
  const Result result = shell("mkdir t; TMPDIR=$PWD/t '" REPROBE_EXECUTABLE "' run -o m.json -- " + kProgram +
                              " segfault; ls -A t");
  EXPECT_EQ(result.out.substr(result.out.find('\n') + 1), "");
}

#endif

} // namespace
