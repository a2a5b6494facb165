// `reprobe run` on CUDA programs.
#include "tests/runtime/run_fixture.h"

#include <cuda_runtime_api.h>

namespace {

namespace report = reprobe::report;
using namespace reprobe::test;

const std::string kProgram = GPU_PROGRAM;

class GpuRun : public Run {
protected:
  void SetUp() override {
    Run::SetUp();
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU here";
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1);
  }
};

TEST_F(GpuRun, TrainingIsBitIdenticalUnderObservation) {
  const Result alone = shell(kProgram + " train");
  const Result observed = run(kProgram + " train", "--per-signature 3 --rounds 4");
  EXPECT_EQ(observed.exit_code, 0) << observed.err;
  EXPECT_EQ(alone.out, observed.out);
  EXPECT_TRUE(observed.measurements.complete) << observed.measurements.reason;
  EXPECT_EQ(listing(observed.measurements), "");
  ASSERT_NE(find(observed.measurements, "aten::dropout"), nullptr);
  EXPECT_EQ(find(observed.measurements, "aten::conv2d")->device, "cuda:0");
  EXPECT_EQ(observed.err.find("compared on the host"), std::string::npos) << observed.err;
}

TEST_F(GpuRun, FloatAtomicsVaryAndIntegerAtomicsDoNot) {
  const Result result = run(kProgram + " own-kernels", "--error-exitcode 42");
  EXPECT_EQ(result.exit_code, 42) << result.err;
  const auto floats = find(result.measurements, "own::float_sums"),
             integers = find(result.measurements, "own::integer_sums");
  ASSERT_NE(floats, nullptr);
  ASSERT_NE(integers, nullptr);
  EXPECT_EQ(floats->verdict, "varies");
  EXPECT_GT(floats->distinct, 1u);
  EXPECT_GT(floats->max_ulp, 0);
  EXPECT_TRUE(floats->blamed);
  EXPECT_EQ(floats->line, line_of(GPU_SOURCE, "dispatch"));
  EXPECT_EQ(integers->verdict, "stable") << integers->reason;
}

TEST_F(GpuRun, IndexAddVariesUntilDeterministic) {
  const Result varying = run(kProgram + " index-add");
  const auto entry = find(varying.measurements, "aten::index_add_");
  ASSERT_NE(entry, nullptr) << varying.err;
  EXPECT_EQ(entry->verdict, "varies") << entry->reason;
  EXPECT_EQ(entry->line, line_of(GPU_SOURCE, "index_add"));
  const Result strict = run(kProgram + " index-add-deterministic");
  const auto fixed = find(strict.measurements, "aten::index_add_");
  ASSERT_NE(fixed, nullptr) << strict.err;
  EXPECT_EQ(fixed->verdict, "stable") << fixed->reason;
}

TEST_F(GpuRun, BackwardOperatorsCarryTheirForwardLine) {
  const Result convolution = run(kProgram + " convolution");
  const auto gradient = find(convolution.measurements, "aten::convolution_backward");
  ASSERT_NE(gradient, nullptr) << convolution.err;
  EXPECT_EQ(gradient->line, line_of(GPU_SOURCE, "convolution"));
  EXPECT_EQ(gradient->direction, "backward");
  const Result embedding = run(kProgram + " embedding");
  const auto selected = find(embedding.measurements, "aten::index_select_backward");
  ASSERT_NE(selected, nullptr) << embedding.err;
  EXPECT_EQ(selected->line, line_of(GPU_SOURCE, "index_select"));
  EXPECT_EQ(selected->verdict, "varies") << selected->reason;
}

// Backward nodes run on a thread of the device, and the thread that called backward() waits meanwhile.
TEST_F(GpuRun, AStepEndsWithItsBackwardPass) {
  const Result result = run(kProgram + " train", "--skip 2 --steps 1 --ops aten::conv2d --ops aten::convolution_backward");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::size_t forward = 0, backward = 0;
  for (const Measurement& entry : result.measurements.entries) {
    EXPECT_EQ(entry.calls, 1u) << entry.op;
    EXPECT_EQ(entry.mode.at("autocast"), "none") << entry.op; // as of the third step
    ++(entry.direction == "backward" ? backward : forward);
  }
  EXPECT_EQ(forward, 2u) << result.err;
  EXPECT_EQ(backward, 2u) << result.err;
  EXPECT_EQ(result.measurements.program["outside_calls"], 20);
}

const report::MeasuredMode* mode_of(const Measurement* entry, const std::string& name) {
  for (const auto& mode : entry->modes)
    if (mode.name == name)
      return &mode;
  return nullptr;
}

TEST_F(GpuRun, StrictModesOfACaseInFreshProcesses) {
  const Result result = run(kProgram + " index-add", "--strict --processes 2 --ops 'aten::index_add_'");
  const auto entry = find(result.measurements, "aten::index_add_");
  ASSERT_NE(entry, nullptr) << result.err;
  const auto off = mode_of(entry, "deterministic-off"), on = mode_of(entry, "deterministic-on");
  ASSERT_TRUE(off && on) << result.err;
  EXPECT_EQ(off->verdict, "varies") << off->reason;
  EXPECT_EQ(on->verdict, "stable") << on->reason;
  EXPECT_FALSE(off->kernels.empty());
  EXPECT_NE(off->kernels, on->kernels); // another kernel does it
  ASSERT_TRUE(on->processes);
  EXPECT_EQ(on->processes->count, 2u);
  EXPECT_EQ(on->processes->distinct, 1u);
}

TEST_F(GpuRun, OwnKernelStillVariesUnderDeterministicAlgorithms) {
  const Result result = run(kProgram + " own-kernels", "--strict --ops 'own::*'");
  const auto floats = find(result.measurements, "own::float_sums"),
             integers = find(result.measurements, "own::integer_sums");
  ASSERT_TRUE(floats && integers) << result.err;
  ASSERT_TRUE(mode_of(floats, "deterministic-on") && mode_of(integers, "deterministic-on")) << result.err;
  EXPECT_EQ(mode_of(floats, "deterministic-on")->verdict, "varies") << mode_of(floats, "deterministic-on")->reason;
  EXPECT_EQ(mode_of(integers, "deterministic-on")->verdict, "stable") << mode_of(integers, "deterministic-on")->reason;
  EXPECT_SAYS(result.err, "still varies under deterministic algorithms: own::float_sums");
}

TEST_F(GpuRun, PrecisionOfModesIsApartFromNondeterminism) {
  const Result alone = shell(kProgram + " linear");
  const Result result = run(kProgram + " linear", "--amp --ops aten::linear");
  EXPECT_EQ(result.out, alone.out); // the program itself sees no other flag
  const auto entry = find(result.measurements, "aten::linear");
  ASSERT_NE(entry, nullptr) << result.err;
  const std::vector<std::pair<std::string, std::string>> modes = {{"fp32", "float32"},
                                                                  {"tf32", "float32"},
                                                                  {"autocast-float16", "float16"},
                                                                  {"autocast-bfloat16", "bfloat16"}};
  for (const auto& [name, dtype] : modes) {
    const auto mode = mode_of(entry, name);
    ASSERT_NE(mode, nullptr) << name;
    EXPECT_EQ(mode->verdict, "stable") << name << mode->reason;
    EXPECT_EQ(mode->dtype, dtype);
    EXPECT_EQ(mode->max_ulp, 0) << name;
    EXPECT_FALSE(mode->kernels.empty()) << name;
    if (name != "fp32") {
      ASSERT_TRUE(mode->precision) << name;
      EXPECT_GT(mode->precision->max_absolute, 0) << name;
    }
  }
  EXPECT_NE(mode_of(entry, "fp32")->kernels, mode_of(entry, "autocast-float16")->kernels);
}

TEST_F(GpuRun, CasesOfTrainingGiveTheProgramsOwnResults) {
  const Result alone = shell(kProgram + " train");
  const Result observed = run(kProgram + " train", "--save-case cases --rounds 3");
  EXPECT_EQ(observed.out, alone.out);
  const Result replayed = shell("'" REPROBE_EXECUTABLE "' replay -o m.json cases --rounds 3");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_EQ(listing(replayed.measurements), "");
  EXPECT_EQ(find(replayed.measurements, "aten::conv2d")->device, "cuda:0");
  EXPECT_NE(find(replayed.measurements, "aten::dropout"), nullptr);
}

} // namespace
