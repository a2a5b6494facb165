#include "analyzer/cli/config.h"

#include "analyzer/cli/config_tables.h"
#include "analyzer/cli/yaml_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>

namespace reprobe::cli {
namespace {

constexpr const char* kName = ".reprobe.yaml";
const std::vector<std::string> kSeverities = {"off", "note", "warning", "error"};
const std::vector<std::string> kStages(std::begin(rules::kStageNames), std::end(rules::kStageNames));

class ConfigReader {
public:
  ConfigReader(const std::filesystem::path& path, const rules::Registry& registry)
      : yaml_(path), registry_(registry) {
    config_.path = path;
  }

  Config read(const std::string& text) {
    const YAML::Node root = yaml_.load(text);
    if (root.IsNull())
      return config_; // an empty file says nothing
    yaml_.mapping(
        root, kName, {"inherit", "stage", "paths", "exclude", "baseline", "rules", "deterministic", "tables"},
        [&](const std::string& key, const YAML::Node&, const YAML::Node& value) { read_key(key, value); });
    return config_;
  }

private:
  void read_key(const std::string& key, const YAML::Node& value) {
    if (key == "inherit")
      config_.inherit = yaml_.boolean(value, key);
    else if (key == "stage")
      config_.stage = yaml_.one_of(value, kStages, key);
    else if (key == "paths")
      config_.paths = yaml_.words(value, key);
    else if (key == "exclude")
      config_.exclude = yaml_.words(value, key);
    else if (key == "baseline")
      config_.baseline = config_.path.parent_path() / yaml_.word(value, key);
    else if (key == "deterministic")
      config_.deterministic = yaml_.words(value, key);
    else if (key == "rules")
      read_rules(value);
    else
      read_tables(value);
  }

  void read_rules(const YAML::Node& node) {
    if (!node.IsMap())
      yaml_.refuse(node.Mark(), "\"rules\" must map rules to severities", "rules: {float-atomic: off}");
    yaml_.mapping(node, "rules", {},
                  [&](const std::string& glob, const YAML::Node& key, const YAML::Node& value) {
                    const std::vector<const rules::Rule*> matching = rules_like(glob);
                    if (matching.empty()) {
                      const std::vector<std::string> near = registry_.nearest_rules(glob, 1);
                      yaml_.refuse(key.Mark(), "no rule is named \"" + glob + "\"",
                                   near.empty() ? "see reprobe scan --list-rules"
                                                : "did you mean " + near.front() + "?");
                    }
                    config_.rules.push_back(value.IsMap() ? read_setting(glob, value, matching)
                                                          : severity(glob, value));
                  });
  }

  std::vector<const rules::Rule*> rules_like(const std::string& glob) const {
    std::vector<const rules::Rule*> matching;
    for (const rules::Rule& rule : registry_.rules())
      if (::fnmatch(glob.c_str(), rule.id.c_str(), 0) == 0)
        matching.push_back(&rule);
    return matching;
  }

  RuleSetting severity(const std::string& glob, const YAML::Node& value) const {
    RuleSetting setting;
    setting.glob = glob;
    setting.severity = yaml_.one_of(value, kSeverities, glob);
    return setting;
  }

  RuleSetting read_setting(const std::string& glob, const YAML::Node& node,
                           const std::vector<const rules::Rule*>& matching) const {
    RuleSetting setting;
    setting.glob = glob;
    yaml_.mapping(node, glob, {"severity", "stage", "paths", "exclude", "options"},
                  [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
                    if (key == "severity")
                      setting.severity = yaml_.one_of(value, kSeverities, key);
                    else if (key == "stage")
                      setting.stage = yaml_.one_of(value, kStages, key);
                    else if (key == "paths")
                      setting.paths = yaml_.words(value, key);
                    else if (key == "exclude")
                      setting.exclude = yaml_.words(value, key);
                    else
                      setting.options = read_options(value, matching);
                  });
    return setting;
  }

  // An option has the name and type that the rule's own file gives it.
  nlohmann::json read_options(const YAML::Node& node, const std::vector<const rules::Rule*>& matching) const {
    std::vector<std::string> known;
    for (const rules::Rule* rule : matching)
      for (const auto& [key, value] : rule->options.items())
        known.push_back(key);
    if (known.empty())
      yaml_.refuse(node.Mark(), "this rule has no options");
    nlohmann::json options = nlohmann::json::object();
    yaml_.mapping(node, "options", known,
                  [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
                    for (const rules::Rule* rule : matching)
                      if (rule->options.contains(key))
                        options[key] = option(value, rule->options[key], key);
                  });
    return options;
  }

  nlohmann::json option(const YAML::Node& node, const nlohmann::json& builtin, const std::string& key) const {
    if (builtin.is_boolean())
      return yaml_.boolean(node, key);
    int whole = 0;
    if (builtin.is_number() && node.IsScalar() && YAML::convert<int>::decode(node, whole))
      return whole;
    if (builtin.is_string())
      return yaml_.word(node, key);
    if (builtin.is_array() && node.IsSequence())
      return yaml_.words(node, key);
    yaml_.refuse(node.Mark(), "\"" + key + "\" must be of the type that the rule gives it",
                 "as " + builtin.dump());
  }

  void read_tables(const YAML::Node& node) {
    yaml_.mapping(node, "tables", registry_.table_names(),
                  [&](const std::string& table, const YAML::Node&, const YAML::Node& rows) {
                    config_.tables[table] = read_rows(yaml_, table, rows, registry_);
                  });
  }

  YamlReader yaml_;
  const rules::Registry& registry_;
  Config config_;
};

} // namespace

Config parse_config(const std::string& text, const std::filesystem::path& path,
                    const rules::Registry& registry) {
  return ConfigReader(path, registry).read(text);
}

std::optional<std::filesystem::path> find_config(const std::filesystem::path& start) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::weakly_canonical(start, error);
  if (error)
    return std::nullopt;
  if (!std::filesystem::is_directory(folder, error))
    folder = folder.parent_path();
  for (;; folder = folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / kName, error))
      return folder / kName;
    if (folder == folder.parent_path())
      return std::nullopt;
  }
}

} // namespace reprobe::cli
