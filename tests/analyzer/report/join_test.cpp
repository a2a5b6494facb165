#include "tests/analyzer/report/examples.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

using examples::index_add_at;
using examples::measured;
using examples::not_examined;

Report join_one(const Findings& findings, std::vector<Measurement> entries) {
  static std::vector<Measurements> all; // the report points into it
  all.assign(1, Measurements{});
  all[0].entries = std::move(entries);
  return join(&findings, all);
}

State state_of(const Finding& finding, const Measurement& entry) {
  Findings findings;
  findings.findings = {finding};
  return join_one(findings, {entry}).items.front().state;
}

TEST(Join, FindingAndMeasurementMeetOnLineAndOperator) {
  EXPECT_EQ(state_of(index_add_at("src/train.cpp", 41), measured("aten::index_add_", "src/train.cpp", 41, 7)), State::varies);
  EXPECT_EQ(state_of(index_add_at("src/train.cpp", 41), measured("aten::index_add", "src/train.cpp", 41, 1)), State::stable);
}

TEST(Join, PathsMeetOnWholeComponents) {
  EXPECT_EQ(state_of(index_add_at("train.cpp", 41), measured("aten::index_add", "/home/user/src/train.cpp", 41, 7)), State::varies);
  EXPECT_EQ(state_of(index_add_at("train.cpp", 41), measured("aten::index_add", "pretrain.cpp", 41, 1)), State::not_run);
}

TEST(Join, AnotherLineOrOperatorDoesNotMeet) {
  EXPECT_EQ(state_of(index_add_at("a.cpp", 41), measured("aten::index_add", "a.cpp", 42, 1)), State::not_run);
  EXPECT_EQ(state_of(index_add_at("a.cpp", 41), measured("aten::mul", "a.cpp", 41, 1)), State::not_run);
}

TEST(Join, AFindingOverSeveralLinesMeetsEachOfThem) {
  Finding finding = index_add_at("a.cpp", 41);
  finding.source.end_line = 44;
  EXPECT_EQ(state_of(finding, measured("aten::index_add", "a.cpp", 44, 7)), State::varies);
  EXPECT_EQ(state_of(finding, measured("aten::index_add", "a.cpp", 45, 7)), State::varies_unflagged);
}

TEST(Join, AnOperatorInsideTheFlaggedOneCounts) {
  Finding finding = index_add_at("a.cpp", 41);
  finding.operators = {"aten::conv2d"};
  Measurement inner = measured("aten::cudnn_convolution", "a.cpp", 41, 3);
  inner.path = {"aten::conv2d", "aten::convolution"};
  EXPECT_EQ(state_of(finding, inner), State::varies);
}

TEST(Join, AFindingInsideAnOperatorsImplementationMeetsItsCalls) {
  Finding finding = index_add_at("voxel_pool.cpp", 43);
  finding.operators = {"voxel::pool"};
  EXPECT_EQ(state_of(finding, measured("voxel::pool", "network.h", 24, 19)), State::varies);
  EXPECT_EQ(state_of(finding, measured("voxel::other", "network.h", 24, 19)), State::varies_unflagged);
  EXPECT_EQ(state_of(index_add_at("a.cpp", 1), measured("aten::index_add", "b.cpp", 2, 1)), State::not_run);
}

TEST(Join, ACallThatTheCompilerPutElsewhereInTheFunctionMeetsTheNearestOpenFinding) {
  Finding first = index_add_at("net.h", 19), second = index_add_at("net.h", 24);
  first.function = second.function = "NetImpl::forward";
  Measurement exact = measured("aten::index_add", "net.h", 24, 1), moved = measured("aten::index_add", "net.h", 28, 5);
  exact.function = moved.function = "(anonymous namespace)::NetImpl::forward(at::Tensor const&)";
  Findings findings;
  findings.findings = {first, second};
  Report report = join_one(findings, {exact, moved});
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].finding->source.line, 19u);
  EXPECT_EQ(report.items[0].state, State::varies);
  EXPECT_EQ(other_line_of(*report.items[0].finding, *report.items[0].measurements[0]), " [line 28 in the program's line table]");
  EXPECT_EQ(report.items[1].state, State::stable);
  EXPECT_EQ(other_line_of(*report.items[1].finding, *report.items[1].measurements[0]), "");
  moved.function = "other()";
  report = join_one(findings, {moved});
  EXPECT_EQ(report.items[0].state, State::varies_unflagged);
}

TEST(Join, TheForwardCallDoesNotRefuteAFindingAboutTheGradient) {
  Finding finding = index_add_at("a.cpp", 41);
  finding.direction = "backward";
  EXPECT_EQ(state_of(finding, measured("aten::index_add", "a.cpp", 41, 1)), State::not_run);
  Measurement backward = measured("aten::index_add", "a.cpp", 41, 7);
  backward.direction = "backward";
  EXPECT_EQ(state_of(finding, backward), State::varies);
}

TEST(Join, AnotherDeviceNeitherShowsNorRefutes) {
  Finding finding = index_add_at("a.cpp", 41);
  finding.devices = {"cuda"};
  Measurement on_cpu = measured("aten::index_add", "a.cpp", 41, 1);
  on_cpu.device = "cpu";
  Findings findings;
  findings.findings = {finding};
  const Report report = join_one(findings, {on_cpu});
  EXPECT_EQ(report.items.front().state, State::not_run);
  EXPECT_EQ(report.items.front().only_on, "cpu");
  EXPECT_EQ(state_of(finding, measured("aten::index_add", "a.cpp", 41, 7)), State::varies);
  Finding host = finding;
  host.devices = {"cpu"};
  EXPECT_EQ(state_of(host, measured("aten::index_add", "a.cpp", 41, 7)), State::varies_unflagged);
}

TEST(Join, VaryingWithoutFindingIsListedOnceAtTheOperatorToBlame) {
  Measurement caller = measured("aten::outer", "a.cpp", 5, 4);
  caller.blamed = false;
  const Report report = join_one({}, {caller, measured("aten::inner", "a.cpp", 5, 4)});
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].state, State::varies_unflagged);
  EXPECT_EQ(report.items[0].measurements[0]->op, "aten::inner");
  EXPECT_EQ(report.varying, 2u);
}

TEST(Join, WhatWasNotExaminedIsCountedByReason) {
  const Report report =
      join_one({}, {not_examined("aten::item", "copies to the host"), not_examined("c10d::allreduce_", "collective"),
                    not_examined("aten::is_nonzero", "copies to the host"), measured("aten::mul", "a.cpp", 1, 1)});
  EXPECT_EQ(report.operations, 1u);
  EXPECT_EQ(report.not_examined, 3u);
  ASSERT_EQ(report.not_examined_reasons.size(), 2u);
  EXPECT_EQ(report.not_examined_reasons[0], std::pair(std::string("copies to the host"), std::size_t{2}));
}

TEST(Join, AFindingWhoseOperationWasNotExaminedIsNotRun) {
  Measurement entry = not_examined("aten::index_add", "memory budget");
  entry.file = "a.cpp";
  entry.line = 41;
  EXPECT_EQ(state_of(index_add_at("a.cpp", 41), entry), State::not_run);
}

TEST(Join, PartialInputsMakeThePartialReport) {
  Findings findings;
  findings.examined = {{"b.cpp", "failed", "the parser crashed", {}}, {"c.cpp", "partial", "missing opencv2/opencv.hpp", {}}};
  std::vector<Measurements> all(1);
  all[0].complete = false;
  all[0].reason = "killed by signal 9";
  const Report report = join(&findings, all);
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.gaps.size(), 3u);
  EXPECT_NE(report.gaps[0].find("killed by signal 9"), std::string::npos);
}

TEST(Join, TheBoundOnTheRateIsTheRuleOfThree) {
  EXPECT_NEAR(differing_rate_bound(20), 0.1391, 1e-4);
  EXPECT_NEAR(differing_rate_bound(300), 0.00994, 1e-5);
  EXPECT_EQ(differing_rate_bound(0), 1.0);
}

TEST(Join, TheVerdictCountsEachKind) {
  Findings findings;
  findings.findings = {index_add_at("a.cpp", 1), index_add_at("a.cpp", 2), index_add_at("a.cpp", 3)};
  const Report report = join_one(findings, {measured("aten::index_add", "a.cpp", 1, 7), measured("aten::index_add", "a.cpp", 2, 1),
                                            measured("aten::cumsum", "a.cpp", 9, 2)});
  EXPECT_EQ(report.verdict, "2 of 3 measured operations varied; of 3 places flagged, 1 measured varying, 1 measured stable, "
                            "1 not run; 1 varied without being flagged.");
}

} // namespace
} // namespace reprobe::report
