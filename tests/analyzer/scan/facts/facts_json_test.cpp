#include "analyzer/scan/facts/bytes.h"
#include "analyzer/scan/facts/facts_binary.h"
#include "rules/error.h"
#include "snippet.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace reprobe::scan {
namespace {

TranslationUnit full_unit() {
  TranslationUnit unit;
  unit.main_file = "a.cpp", unit.language = "cuda", unit.status = "partial", unit.reason = "r \"q\"\n";
  unit.missing_headers = {"x.h"}, unit.errors = 3, unit.flags = {"-ffast-math"},
  unit.libtorch_version = "2.11.0";
  unit.cuda_version = "13.0", unit.inferred_flags = true, unit.includes = {"torch/torch.h"};
  unit.files = {{"a.cpp", true, "0123456789abcdef"}, {"/usr/x.h", false, ""}};
  unit.pragmas = {{{1, 2, 3, 4}, "omp parallel", {{1, 3, 1, 9}, {1, 4, 2, 20}}}};
  Value value;
  value.kind = Value::Kind::compound, value.text = "+", value.id = "u", value.type = "int",
  value.integer = -7;
  value.floating = 0.1, value.event = 2, value.source = "a+b", value.at = {1, 2, 3, 4}, value.length = 3, value.operands.resize(2);
  value.operands[1].integer = std::numeric_limits<std::int64_t>::min();
  Event event;
  event.kind = Event::Kind::access, event.range = {{1, 2, 3, 4}, {1, 2, 9, 10}}, event.name = {0, 5, 6, 7};
  event.callee = "c", event.callee_usr = "cu", event.resolved = false, event.external = true;
  event.template_arguments = {"int"}, event.receiver = value, event.arguments = {value, {}},
  event.result_type = "float";
  event.result_used = true, event.launch = true, event.configuration = {value}, event.variable = "v";
  event.variable_id = "vi", event.text = "=", event.macro = "M";
  Function function;
  function.usr = "fu", function.name = "f", function.range = event.range,
  function.parameters = {{"p", "int", "pu", true}};
  function.result_type = "void", function.is_main = function.is_constructor = function.is_lambda = true;
  function.is_kernel = function.is_device = function.is_template_pattern = true, function.owner = "o";
  function.overrides = {"bu"};
  function.entry = 1, function.events = {event};
  function.blocks.resize(2);
  function.blocks[1].id = 1, function.blocks[1].events = {0}, function.blocks[1].in_loop = true;
  function.blocks[1].successors = {{0, value, false, "3"}, {1, std::nullopt, true, ""}};
  unit.functions = {function};
  return unit;
}

TEST(FactsJson, EveryFieldSurvives) {
  const std::string once = to_json(full_unit());
  EXPECT_EQ(to_json(from_json(once, "test")), once);
  const TranslationUnit unit = from_json(once, "test");
  const Event& event = unit.functions.at(0).events.at(0);
  EXPECT_FALSE(event.resolved);
  EXPECT_EQ(event.receiver->operands.at(1).integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(event.range.end.column, 9u);
  EXPECT_EQ(unit.functions.at(0).blocks.at(1).successors.at(0).when, false);
  EXPECT_EQ(unit.files.at(1).user, false);
  EXPECT_EQ(unit.pragmas.at(0).statement.end.offset, 20u);
  EXPECT_EQ(unit.functions.at(0).overrides, std::vector<std::string>{"bu"});
}

TEST(FactsJson, DefaultsAreLeftOut) {
  const auto json = nlohmann::json::parse(to_json(TranslationUnit{}));
  EXPECT_FALSE(json.contains("functions"));
  EXPECT_EQ(json.at("schema"), kFactsSchema);
}

TEST(FactsJson, NumbersThatJsonLacksSurvive) {
  TranslationUnit unit = full_unit();
  Value& value = unit.functions[0].events[0].arguments[0];
  for (double number :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), -0.0, 5e-324}) {
    value.floating = number;
    EXPECT_EQ(from_json(to_json(unit), "t").functions[0].events[0].arguments[0].floating, number);
  }
  value.floating = std::nan("");
  EXPECT_TRUE(std::isnan(from_json(to_json(unit), "t").functions[0].events[0].arguments[0].floating));
}

TEST(FactsJson, BytesThatAreNoUtf8DoNotFail) {
  TranslationUnit unit = full_unit();
  unit.reason = "\xff\xfe";
  EXPECT_NO_THROW(from_json(to_json(unit), "t"));
}

TEST(FactsJson, MalformedInputIsRefusedWithItsOrigin) {
  const std::string head = R"({"schema":"reprobe-facts/1",)";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"schema":"reprobe-facts/2"})"), head + R"("unknown":1})", head + R"("errors":-1})",
        head + R"("errors":"1"})", head + R"("errors":4294967296})", head + R"("functions":{}})",
        head + R"("functions":[{"events":[{"k":8}]}]})",
        head + R"("functions":[{"events":[{"n":[1,2,3]}]}]})",
        head + R"("functions":[{"events":[{"n":[9,1,1,0]}]}]})",
        head + R"("functions":[{"blocks":[{"e":[0]}]}]})",
        head + R"("functions":[{"blocks":[{"to":[{"b":1}]}]}]})",
        head + R"("functions":[{"in":3,"blocks":[{}]}]})"}) {
    try {
      from_json(text, "origin.json");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("origin.json"), std::string::npos) << error.what();
    }
  }
}

TEST(FactsJson, DeepNestingIsRefused) {
  std::string text = R"({"schema":"reprobe-facts/1","functions":[{"events":[{"a":[)", tail = "]}]}]}";
  for (int i = 0; i < 5000; ++i)
    text += R"({"o":[)", tail = "]}" + tail;
  EXPECT_THROW(from_json(text + tail, "deep"), Error);
}

TEST(FactsBinary, EveryFieldSurvives) {
  TranslationUnit unit = full_unit();
  unit.functions[0].events[0].arguments[1].floating = -0.0;
  unit.functions[0].events[0].arguments[1].text = std::string("\0\xff", 2);
  const std::optional<TranslationUnit> again = from_binary(to_binary(unit));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(unit));
  EXPECT_TRUE(std::signbit(again->functions[0].events[0].arguments[1].floating));
  EXPECT_EQ(again->functions[0].events[0].arguments[1].text, std::string("\0\xff", 2));
  EXPECT_EQ(to_json(*from_binary(to_binary(TranslationUnit{}))), to_json(TranslationUnit{}));
}

TEST(Bytes, WhatReachesPastTheEndIsRefused) {
  EXPECT_EQ(ByteReader(std::string_view("\1x", 2)).text(), "x");
  EXPECT_THROW(ByteReader(std::string_view("\1", 1)).text(), BadBytes);
  EXPECT_THROW(ByteReader(std::string_view("\2x", 2)).text(), BadBytes);
  EXPECT_THROW(ByteReader(std::string_view("\1xyz", 4)).count(4), BadBytes);
  EXPECT_EQ(ByteReader(std::string_view("\1wxyz", 5)).count(4), 1u);
}

TEST(FactsBinary, DamageIsNotRead) {
  const std::string bytes = to_binary(full_unit());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(from_binary(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(from_binary(bytes + '\0'));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    if (const auto unit = from_binary(damaged)) // then it is sound at least
      from_json(to_json(*unit), "test");
  }
}

} // namespace
} // namespace reprobe::scan
