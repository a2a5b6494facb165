#include "rules/error.h"
#include "tests/analyzer/report/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace reprobe::report {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(FindingsJson, RoundTripKeepsEverything) {
  Findings findings;
  findings.complete = false;
  findings.stage = "tuning";
  findings.findings = {examples::index_add_at("src/train.cpp", 41)};
  findings.findings[0].devices = {"cuda"};
  findings.examined = {{"src/train.cpp", "partial", "missing headers", {"opencv2/opencv.hpp"}}};
  findings.remarks = {"no compilation database: flags inferred"};
  const std::string text = to_json(findings);
  EXPECT_EQ(to_json(findings_from_json(text, "f.json")), text);
  const Findings back = findings_from_json(text, "f.json");
  EXPECT_EQ(back.findings[0].operators, findings.findings[0].operators);
  EXPECT_EQ(back.findings[0].notes[0].message, "determinism is switched off here");
  EXPECT_EQ(back.examined[0].missing_headers[0], "opencv2/opencv.hpp");
}

TEST(MeasurementsJson, RoundTripKeepsEverything) {
  Measurements measurements;
  measurements.environment = {{"device", "NVIDIA H200"}};
  Measurement entry = examples::measured("aten::index_add", "train.cpp", 41, 7);
  entry.overload = "out";
  entry.direction = "backward";
  entry.backward_node = "GatherBackward0";
  entry.path = {"aten::outer"};
  entry.mode = {{"autocast", "bfloat16"}, {"strict", false}};
  MeasuredOutput output;
  output.name = "output 0";
  output.dtype = "float32";
  output.shape = {64, 16};
  output.distinct = 7;
  output.differing_share = 0.25;
  output.max_ulp = 3;
  output.max_absolute = 1e-7;
  output.max_relative = 2e-6;
  output.mean_absolute = 1e-9;
  output.v_ermv = 1e-8;
  output.v_c = 0.125;
  output.nan_mismatches = 2;
  output.infinity_mismatches = 1;
  output.ulp_histogram = {0, 5, 2};
  output.first_differing = std::vector<std::int64_t>{3, 0};
  output.same_values = false;
  entry.outputs = {output};
  measurements.entries = {entry, examples::not_examined("c10d::allreduce_", "collective")};
  const std::string text = to_json(measurements);
  EXPECT_EQ(to_json(measurements_from_json(text, "m.json")), text);
}

TEST(MeasurementsJson, InfiniteDistancesSurvive) {
  Measurements measurements;
  measurements.entries = {examples::measured("aten::log", "a.cpp", 1, 2)};
  measurements.entries[0].max_absolute = std::numeric_limits<double>::infinity();
  measurements.entries[0].max_relative = std::numeric_limits<double>::quiet_NaN();
  const Measurements back = measurements_from_json(to_json(measurements), "m.json");
  EXPECT_TRUE(std::isinf(back.entries[0].max_absolute));
  EXPECT_TRUE(std::isnan(back.entries[0].max_relative));
}

TEST(MeasurementsJson, TheDocumentedFormIsRead) {
  const Measurements read = measurements_from_json(R"({"schema": "reprobe-measurements/1", "complete": true, "environment": {}, "entries": [
    {"operator": "aten::index_add", "signature": "s", "source": {"file": "train.cpp", "line": 41}, "verdict": "varies",
     "rounds": 20, "distinct": 7, "differing_share": 0.02, "max_ulp": 3, "mode": {"autocast": "none", "strict": false}},
    {"operator": "c10d::allreduce_", "verdict": "not-examined", "reason": "collective"}]})", "m.json");
  ASSERT_EQ(read.entries.size(), 2u);
  EXPECT_EQ(read.entries[0].line, 41u);
  EXPECT_EQ(read.entries[0].distinct, 7u);
  EXPECT_EQ(read.entries[1].reason, "collective");
}

TEST(MeasurementsJson, WhatVariesIsToBlameUnlessItSaysOtherwise) {
  const auto blamed = [](const std::string& key) {
    return measurements_from_json(R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b",
      "verdict": "varies", "rounds": 20, "distinct": 7)" + key + "}]}", "m.json").entries[0].blamed;
  };
  EXPECT_TRUE(blamed(""));
  EXPECT_FALSE(blamed(R"(, "blamed": false)"));
  Measurements measurements;
  measurements.entries = {examples::measured("a::b", "a.cpp", 1, 7)};
  measurements.entries[0].blamed = false;
  EXPECT_FALSE(measurements_from_json(to_json(measurements), "m.json").entries[0].blamed);
}

struct BadInput {
  const char *text, *expected;
  friend void PrintTo(const BadInput& input, std::ostream* out) { *out << input.expected; } // names the test
};

class BadMeasurements : public testing::TestWithParam<BadInput> {};
TEST_P(BadMeasurements, AreRefusedNamingFileAndKey) {
  const std::string message = message_of([] { measurements_from_json(GetParam().text, "m.json"); });
  EXPECT_NE(message.find("m.json"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(
    All, BadMeasurements,
    testing::Values(BadInput{"", "not JSON"}, BadInput{"[1, 2", "not JSON"}, BadInput{"[]", "another schema"},
                    BadInput{R"({"schema": "reprobe-measurements/2"})", "reprobe-measurements/2"},
                    BadInput{R"({"schema": "reprobe-measurements/1"})", "complete"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true})", "entries"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [3]})", "entries[0]"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "stable", "rounds": 20, "distinct": 7}]})", "1, of at least 1 round"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "stable", "rounds": 0, "distinct": 1}]})", "of at least 1 round,"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "varies", "rounds": 20, "distinct": 1}]})", "2 or more"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "varies", "rounds": 20, "distinct": 2, "differing_share": -5}]})", "from 0 to 1"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"verdict": "stable"}]})", "operator"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "maybe"}]})", "verdict"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "stable", "rounds": -1}]})", "rounds"},
                    BadInput{R"({"schema": "reprobe-measurements/1", "complete": true, "entries": [{"operator": "a::b", "verdict": "stable", "rounds": 99999999999}]})", "rounds"}));

} // namespace
} // namespace reprobe::report
