#include "analyzer/cli/config.h"

#include "rules/error.h"

#include <gtest/gtest.h>

#include <chrono>

namespace reprobe::cli {
namespace {

Config parse(const std::string& text) { return parse_config(text, "p/.reprobe.yaml", rules::Registry::builtin()); }

std::string message_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code, 2);
    return error.what();
  }
  return "no error";
}

TEST(Config, EveryKey) {
  const Config config = parse("inherit: true\n"
                              "stage: tuning\n"
                              "paths: [src, \"tools/**\"]\n"
                              "exclude: generated\n"
                              "baseline: accepted.json\n"
                              "rules:\n"
                              "  float-atomic: off\n"
                              "  '*-seed': {severity: note, paths: [src], exclude: [src/old]}\n"
                              "  warn-only: {stage: deploy}\n"
                              "deterministic: [\"mylib::*\"]\n");
  EXPECT_TRUE(config.inherit);
  EXPECT_EQ(config.stage, "tuning");
  EXPECT_EQ(config.paths, (std::vector<std::string>{"src", "tools/**"}));
  EXPECT_EQ(config.exclude, (std::vector<std::string>{"generated"}));
  EXPECT_EQ(config.baseline, "p/accepted.json");
  ASSERT_EQ(config.rules.size(), 3u);
  EXPECT_EQ(config.rules[0].severity, "off");
  EXPECT_EQ(config.rules[1].glob, "*-seed");
  EXPECT_EQ(config.rules[1].exclude, (std::vector<std::string>{"src/old"}));
  EXPECT_EQ(config.rules[2].stage, "deploy");
  EXPECT_EQ(config.deterministic, (std::vector<std::string>{"mylib::*"}));
}

TEST(Config, AnEmptyFileSaysNothing) {
  EXPECT_FALSE(parse("# only a comment\n").stage);
  EXPECT_FALSE(parse("").stage);
}

TEST(Config, RowsOfTablesAreMadeCompleteAndTyped) {
  const Config config = parse("tables:\n"
                              "  generators:\n"
                              "    - {role: seeds, generator: torch, symbols: [\"mylib::seed_all\"], argument: 0}\n"
                              "  operators:\n"
                              "    - operator: mylib::scatter\n"
                              "      symbols: [\"mylib::scatter\"]\n"
                              "      direction: forward\n"
                              "      mechanism: float additions in thread order\n"
                              "      fix: use mylib::scatter_sorted\n");
  const nlohmann::json& seed = config.tables.at("generators")[0];
  EXPECT_EQ(seed["argument"], 0);
  EXPECT_EQ(seed["symbols"], nlohmann::json::array({"mylib::seed_all"}));
  const nlohmann::json& scatter = config.tables.at("operators")[0];
  EXPECT_EQ(scatter["devices"], nlohmann::json::array({"cuda"}));
  EXPECT_EQ(scatter["strict"], "silent");
  EXPECT_TRUE(scatter["catalog"].is_string());
}

TEST(Config, EveryBuiltInRowIsAcceptable) {
  // What a project writes has the form of the built-in rows, so each of those must be one.
  for (const std::string& table : rules::Registry::builtin().table_names()) {
    nlohmann::json rows = rules::Registry::builtin().table(table);
    const nlohmann::json read = parse("tables: {" + table + ": " + rows.dump() + "}").tables.at(table);
    for (nlohmann::json& row : rows)
      row["project"] = true;
    EXPECT_EQ(read, rows) << table;
  }
}

TEST(Config, AliasesThatMultiplyAreRefusedQuickly) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'j'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i)
      bomb += "*" + before + (i < 8 ? ", " : "]\n");
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(message_of(bomb), "no error");
  EXPECT_NE(message_of("deterministic: &l [x, y]\ntables: {operators: [{symbols: *l, symbols: *l}]}\n"), "no error");
  std::string rows = "tables:\n  generators:\n    - &row {role: seeds, generator: torch, symbols: [x], argument: 0}\n";
  for (int i = 0; i < 30000; ++i)
    rows += "    - *row\n";
  EXPECT_NE(message_of(rows).find("too many values"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Config, DepthAndSizeAreBounded) {
  EXPECT_NE(message_of("rules: " + std::string(20000, '[')), "no error");
  EXPECT_NE(message_of("rules: " + std::string(20000, '{')), "no error");
  EXPECT_NE(message_of(std::string(100000, '-')), "no error");
  std::string deep;
  for (int i = 0; i < 1000; ++i)
    deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(message_of(deep), "no error");
  EXPECT_NE(message_of("stage: paper #" + std::string(2u << 20, 'x')).find("too large"), std::string::npos);
}

struct Bad {
  const char *text, *expected;
  friend void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.expected; }
};
class BadConfig : public testing::TestWithParam<Bad> {};
TEST_P(BadConfig, IsRefusedNamingThePlace) {
  const std::string message = message_of(GetParam().text);
  EXPECT_NE(message.find("p/.reprobe.yaml"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(
    All, BadConfig,
    testing::Values(
        Bad{"stage: [", "p/.reprobe.yaml:1:1: is not YAML"},
        Bad{"stage: final\n", ":1:8: \"stage\" cannot be \"final\" (one of prototype, tuning, paper, deploy)"},
        Bad{"stages: paper\n", ":1:1: unknown key \"stages\" in \".reprobe.yaml\" (did you mean stage?)"},
        Bad{"x: paper\n", "(one of inherit, stage, paths"}, Bad{"- paper\n", "must hold keys and values"},
        Bad{"stage: paper\nstage: deploy\n", ":2:1: \"stage\" is there twice"},
        Bad{"rules:\n  float-atomics: off\n", ":2:3: no rule is named \"float-atomics\" (did you mean float-atomic?)"},
        Bad{"rules:\n  float-atomic: loud\n", "\"float-atomic\" cannot be \"loud\""},
        Bad{"rules: off\n", "\"rules\" must map"}, Bad{"stage: {a: b}\n", "\"stage\" must be one word"},
        Bad{"inherit: maybe\n", "\"inherit\" must be true or false"}, Bad{"paths: {a: b}\n", "\"paths\" must be a list"},
        Bad{"rules: {float-atomic: {severty: off}}\n", "unknown key \"severty\" in \"float-atomic\" (did you mean severity?)"},
        Bad{"rules: {float-atomic: {options: {no-such: 1}}}\n", "option"},
        Bad{"tables: {generator: []}\n", "unknown key \"generator\" in \"tables\" (did you mean generators?)"},
        Bad{"tables: {generators: {role: seeds}}\n", "\"generators\" must be a list of rows"},
        Bad{"tables: {generators: [{role: sows, symbols: [x]}]}\n", "\"role\" cannot be \"sows\""},
        Bad{"tables:\n  generators:\n    - {role: seeds, symbls: [x]}\n", ":3:21: unknown key \"symbls\" in \"generators\" (did you mean symbols?)"},
        Bad{"tables: {generators: [{role: seeds, generator: torch, argument: 0}]}\n", "\"generators\" lacks \"symbols\""},
        Bad{"tables: {generators: [{role: seeds, generator: torch, symbols: [x], argument: first}]}\n", "\"argument\" must be a whole number"},
        Bad{"tables: {generators: [{role: seeds, generator: torch, symbols: x, argument: 0}]}\n", "\"symbols\" must be a list"},
        Bad{"tables: {knobs: [{knob: cudnn.benchmarks, symbols: [x], argument: 0}]}\n", "(did you mean cudnn.benchmark?)"}));

} // namespace
} // namespace reprobe::cli
