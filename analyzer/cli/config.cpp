#include "analyzer/cli/config.h"

#include "rules/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <yaml-cpp/yaml.h>

namespace reprobe::cli {
namespace {

constexpr const char* kName = ".reprobe.yaml";

[[noreturn]] void refuse(const std::filesystem::path& path, const YAML::Mark& mark, const std::string& what,
                         const std::string& remedy = {}) {
  const std::string where = mark.is_null() ? path.string() : fmt::format("{}:{}:{}", path.string(), mark.line + 1, mark.column + 1);
  throw Error(what, where, "", remedy);
}

std::string scalar(const YAML::Node& node, const std::filesystem::path& path, const std::string& key) {
  if (!node.IsScalar()) refuse(path, node.Mark(), "\"" + key + "\" must be one word");
  return node.Scalar();
}

template <class Words>
std::string one_of(const YAML::Node& node, const Words& words, const std::filesystem::path& path, const std::string& key) {
  // YAML reads a bare `off` as false, but keeps it as written.
  const std::string word = scalar(node, path, key);
  if (std::find(std::begin(words), std::end(words), word) != std::end(words)) return word;
  std::string known;
  for (const auto& candidate : words) known += (known.empty() ? "" : ", ") + std::string(candidate);
  refuse(path, node.Mark(), fmt::format("\"{}\" cannot be \"{}\"", key, word), "one of " + known);
}

void read_rules(Config& config, const YAML::Node& node, const rules::Registry& registry) {
  static constexpr std::string_view kSeverities[] = {"off", "note", "warning", "error"};
  if (!node.IsMap()) refuse(config.path, node.Mark(), "\"rules\" must map rules to severities", "rules: {float-atomic: off}");
  for (const auto& entry : node) {
    const std::string glob = scalar(entry.first, config.path, "rules");
    const auto matches = [&](const rules::Rule& rule) { return ::fnmatch(glob.c_str(), rule.id.c_str(), 0) == 0; };
    if (std::none_of(registry.rules().begin(), registry.rules().end(), matches)) {
      const std::vector<std::string> near = registry.nearest(glob, 1);
      refuse(config.path, entry.first.Mark(), "no rule is named \"" + glob + "\"",
             near.empty() ? "see reprobe scan --list-rules" : "did you mean " + near.front() + "?");
    }
    config.severities.emplace_back(glob, one_of(entry.second, kSeverities, config.path, glob));
  }
}

} // namespace

Config parse_config(const std::string& text, const std::filesystem::path& path, const rules::Registry& registry) {
  Config config{path, {}, {}};
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    refuse(path, error.mark, "is not YAML: " + error.msg);
  }
  if (root.IsNull()) return config; // an empty file says nothing
  if (!root.IsMap()) refuse(path, root.Mark(), "must hold keys and values", "the keys are stage and rules");
  for (const auto& entry : root) {
    const std::string key = scalar(entry.first, path, "key");
    if (key == "stage") {
      config.stage = one_of(entry.second, rules::kStageNames, path, key);
    } else if (key == "rules") {
      read_rules(config, entry.second, registry);
    } else {
      refuse(path, entry.first.Mark(), "unknown key \"" + key + "\"", "the keys are stage and rules");
    }
  }
  return config;
}

std::optional<std::filesystem::path> find_config(const std::filesystem::path& start) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::weakly_canonical(start, error);
  if (error) return std::nullopt;
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();
  for (;; folder = folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / kName, error)) return folder / kName;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

void apply_config(const Config& config, report::Findings& findings) {
  const auto severity_of = [&](const report::Finding& finding) {
    std::string severity = finding.severity;
    for (const auto& [glob, wanted] : config.severities)
      if (::fnmatch(glob.c_str(), finding.rule.c_str(), 0) == 0) severity = wanted;
    return severity;
  };
  for (report::Finding& finding : findings.findings) finding.severity = severity_of(finding);
  std::erase_if(findings.findings, [](const report::Finding& finding) { return finding.severity == "off"; });
}

} // namespace reprobe::cli
