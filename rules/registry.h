// The registry: rules and knowledge of foreign APIs as data, compiled into the binaries.
//
// A rule is rules/checks/<id>.yaml, its page rules/checks/<id>.md and its test tests/analyzer/scan/rules/<id>.{cpp,cu}.
// Tables (rules/tables/*.yaml) hold what is known of operators, knobs, generators, library calls and containers.
// The build turns YAML into JSON, checks it against rules/schemas and fails when a rule lacks its page or its test.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reprobe::rules {

/// What a rule must have seen to be right: one file, or all of the project.
enum class Scope { file, project };
enum class Stage { prototype, tuning, paper, deploy };
inline constexpr std::string_view kStageNames[] = {"prototype", "tuning", "paper", "deploy"};

struct Rule {
  std::string id, family, title, summary;
  std::string confidence;                      // "high", "medium", "low": before evidence raises or lowers it
  Scope scope = Scope::project;
  std::map<std::string, std::string> severity; // stage name to "off", "note", "warning" or "error"
  std::vector<std::string> tags;               // catalogue ids: "LT-D08"
  std::string fix;
  std::string page;                            // the Markdown page
  nlohmann::json options;                      // what the family's judge reads
};

class Registry {
public:
  /// The registry built into this binary.
  static const Registry& builtin();
  /// From the JSON that the build makes of the YAML files. Throws reprobe::Error naming the file and key.
  static Registry from_json(const nlohmann::json&, const std::string& origin);

  const std::vector<Rule>& rules() const { return rules_; }
  const Rule* find(std::string_view id) const;
  /// Rows of one table: "operators", "knobs", "generators", "replay" … Empty array when there is none.
  const nlohmann::json& table(std::string_view name) const;
  std::vector<std::string> table_names() const;
  /// A project's own knowledge: more rows of a table, which come before the built-in ones.
  void add_rows(const std::string& table, const nlohmann::json& rows);
  /// Options in place of those that the rule's file gives; unknown rules are left out.
  void set_options(const std::string& rule, const nlohmann::json& options);
  /// Ids and table symbols near `word`, best first: for "did you mean".
  std::vector<std::string> nearest(std::string_view word, std::size_t count = 3) const;
  std::vector<std::string> nearest_rules(std::string_view word, std::size_t count = 3) const; // ids only

private:
  std::vector<Rule> rules_;
  nlohmann::json tables_;
};

/// Those of `words` that are near `word`, best first.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& words, std::size_t count);

} // namespace reprobe::rules
