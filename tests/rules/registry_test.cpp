// The registry's loader, and what the built-in rules promise.
#include "rules/error.h"
#include "rules/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>

namespace reprobe::rules {
namespace {

using nlohmann::json;

json small_document() {
  return json::parse(R"({"schema": "reprobe-rules/1",
    "rules": [{"id": "late-seed", "family": "seeding", "title": "t", "summary": "s", "confidence": "high",
               "severity": {"prototype": "off", "tuning": "note", "paper": "warning", "deploy": "error"},
               "tags": ["SEED-03"], "fix": "f", "page": "p", "options": {"check": "x"}}],
    "tables": {"operators": [{"operator": "aten::cumsum", "symbols": ["torch::cumsum"]}]}})");
}

std::string refusal(const json& document) {
  try {
    Registry::from_json(document, "test.json");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Registry, ReadsRulesAndTables) {
  const Registry registry = Registry::from_json(small_document(), "test.json");
  ASSERT_EQ(registry.rules().size(), 1u);
  const Rule* rule = registry.find("late-seed");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->severity.at("deploy"), "error");
  EXPECT_EQ(rule->tags, std::vector<std::string>{"SEED-03"});
  EXPECT_EQ(rule->options.at("check"), "x");
  EXPECT_EQ(registry.find("early-seed"), nullptr);
  EXPECT_EQ(registry.table("operators").size(), 1u);
  EXPECT_TRUE(registry.table("no such table").empty());
}

TEST(Registry, RulesNeedTheWholeProjectUnlessTheySayOtherwise) {
  json document = small_document();
  EXPECT_EQ(Registry::from_json(document, "test.json").find("late-seed")->scope, Scope::project);
  document["rules"][0]["scope"] = "file";
  EXPECT_EQ(Registry::from_json(document, "test.json").find("late-seed")->scope, Scope::file);
}

TEST(Registry, RefusesWithFileAndKey) {
  for (const char* key :
       {"id", "family", "title", "summary", "confidence", "severity", "tags", "fix", "page"}) {
    json document = small_document();
    document["rules"][0].erase(key);
    const std::string message = refusal(document);
    EXPECT_NE(message.find("test.json"), std::string::npos) << key << ": " << message;
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
  json stage = small_document();
  stage["rules"][0]["severity"]["paper"] = "fatal";
  EXPECT_NE(refusal(stage).find("severity.paper"), std::string::npos);
  json scope = small_document();
  scope["rules"][0]["scope"] = "folder";
  EXPECT_NE(refusal(scope).find("scope"), std::string::npos);
  json schema = small_document();
  schema["schema"] = "reprobe-rules/2";
  EXPECT_NE(refusal(schema).find("reprobe-rules/2"), std::string::npos);
  json twice = small_document();
  twice["rules"].push_back(twice["rules"][0]);
  EXPECT_NE(refusal(twice).find("twice"), std::string::npos);
  json table = small_document();
  table["tables"]["operators"] = 3;
  EXPECT_NE(refusal(table).find("tables.operators"), std::string::npos);
  EXPECT_FALSE(refusal(json::array()).empty());
}

TEST(Registry, SuggestsByEditDistance) {
  const Registry registry = Registry::from_json(small_document(), "test.json");
  ASSERT_FALSE(registry.nearest("lateseed").empty());
  EXPECT_EQ(registry.nearest("lateseed").front(), "late-seed");
  EXPECT_EQ(registry.nearest("torch::cumsun").front(), "torch::cumsum");
  EXPECT_TRUE(registry.nearest("something else altogether").empty());
  EXPECT_EQ(registry.nearest("late-sead", 1).size(), 1u);
}

TEST(BuiltinRules, AreComplete) {
  const Registry& registry = Registry::builtin();
  EXPECT_GE(registry.rules().size(), 12u);
  for (const char* table :
       {"operators", "knobs", "generators", "atomics", "containers", "library-calls", "replay"})
    EXPECT_FALSE(registry.table(table).empty()) << table;
  for (const Rule& rule : registry.rules()) {
    EXPECT_EQ(rule.severity.size(), 4u) << rule.id;
    EXPECT_NE(rule.severity.at("paper"), "off") << rule.id;
    EXPECT_NE(rule.page.find("## Known false alarms"), std::string::npos) << rule.id;
  }
}

// What the observer may not execute again, and what it must be able to.
TEST(BuiltinRules, ReplayTable) {
  const json& rows = Registry::builtin().table("replay");
  const auto excluded = [&](const std::string& name) {
    return std::any_of(rows.begin(), rows.end(), [&](const json& row) {
      return fnmatch(row.at("operator").get<std::string>().c_str(), name.c_str(), 0) == 0;
    });
  };
  for (const char* name : {"aten::empty", "aten::empty_like", "aten::new_empty", "aten::resize_",
                           "aten::item", "aten::set_", "aten::_local_scalar_dense", "aten::is_nonzero",
                           "c10d::allreduce_", "profiler::_record_function_enter", "aten::requires_grad_",
                           "aten::retain_grad", "aten::_backward", "aten::detach_", "prim::device"})
    EXPECT_TRUE(excluded(name)) << name;
  for (const char* name :
       {"aten::index_add", "aten::index_add_", "aten::convolution_backward", "aten::isnan", "aten::embedding",
        "aten::randn", "aten::dropout", "aten::equal", "aten::sum", "aten::mm", "aten::copy_", "aten::to"})
    EXPECT_FALSE(excluded(name)) << name;
}

#ifdef REPROBE_TEST_TORCH_ROOT
// Each operator of the table has its header in LibTorch, so that no row is about a name that does not exist.
TEST(BuiltinRules, OperatorsExistInLibTorch) {
  const std::filesystem::path operators = std::filesystem::path(REPROBE_TEST_TORCH_ROOT) / "include/ATen/ops";
  if (!std::filesystem::exists(operators))
    GTEST_SKIP() << "LibTorch's headers are not there: " << operators;
  const auto exists = [&](const std::string& name) {
    if (name.rfind("aten::", 0) != 0 && name.rfind("at::", 0) != 0)
      return name.find("::") != std::string::npos; // of another library, named with it
    std::string base = name.substr(name.find("::") + 2);
    if (std::filesystem::exists(operators / (base + ".h")))
      return true;
    while (!base.empty() && base.back() == '_')
      base.pop_back();
    return std::filesystem::exists(operators / (base + ".h"));
  };
  for (const json& row : Registry::builtin().table("operators")) {
    EXPECT_TRUE(exists(row.at("operator").get<std::string>())) << row.at("operator");
    for (const json& name : row.value("backward_operators", json::array()))
      EXPECT_TRUE(exists(name.get<std::string>())) << name;
    for (const json& symbol : row.at("symbols")) {
      const std::string name = symbol;
      if (name.rfind("at::", 0) == 0) {
        EXPECT_TRUE(exists("at::" + name.substr(name.rfind("::") + 2))) << name;
      }
    }
  }
}
#else
TEST(BuiltinRules, OperatorsExistInLibTorch) {
  GTEST_SKIP() << "built without LibTorch";
}
#endif

} // namespace
} // namespace reprobe::rules
