#include "analyzer/cli/config_set.h"

#include "analyzer/report/findings.h"
#include "analyzer/report/path_globs.h"
#include "rules/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <set>
#include <yaml-cpp/yaml.h>

namespace reprobe::cli {
namespace {

namespace fs = std::filesystem;

// Relative to the folder of the file that says so; empty when it lies elsewhere.
std::string relative_to(const Config& config, const fs::path& file) {
  const fs::path relative = file.lexically_relative(config.path.parent_path());
  return relative.empty() || *relative.begin() == ".." ? "" : relative.generic_string();
}

bool leaves_out(const Config& config, const std::vector<std::string>& paths,
                const std::vector<std::string>& exclude, const fs::path& file) {
  const std::string relative = relative_to(config, file);
  if (relative.empty())
    return false;
  return (!paths.empty() && !report::matches_any(paths, relative)) || report::matches_any(exclude, relative);
}

std::optional<fs::path> config_above(const fs::path& config) {
  const fs::path folder = fs::weakly_canonical(config).parent_path();
  return folder == folder.parent_path() ? std::nullopt : find_config(folder.parent_path());
}

// A glob may name rules with other options.
nlohmann::json options_of(const RuleSetting& setting, const rules::Rule& rule) {
  nlohmann::json options = nlohmann::json::object();
  for (const auto& [key, value] : setting.options.items())
    if (rule.options.contains(key))
      options[key] = value;
  return options;
}

std::string at_stage(const rules::Rule& rule, const std::string& stage) {
  const auto severity = rule.severity.find(stage);
  return severity == rule.severity.end() ? "off" : severity->second;
}

void emit(YAML::Emitter& out, const nlohmann::json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, inner] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, inner);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const auto& inner : value)
      emit(out, inner);
    out << YAML::EndSeq;
  } else if (value.is_boolean()) {
    out << value.get<bool>();
  } else if (value.is_number_integer()) {
    out << value.get<std::int64_t>();
  } else {
    out << (value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void emit_words(YAML::Emitter& out, const char* key, const std::set<std::string>& words) {
  if (!words.empty())
    out << YAML::Key << key << YAML::Value << YAML::Flow
        << std::vector<std::string>(words.begin(), words.end());
}

} // namespace

std::string EffectiveConfig::stage(const std::string& otherwise) const {
  std::string stage = otherwise;
  for (const Config* config : files)
    stage = config->stage.value_or(stage);
  return stage;
}

std::string EffectiveConfig::severity(const rules::Rule& rule, const fs::path& file,
                                      const std::string& given_stage, bool stage_is_forced) const {
  const std::string base = stage_is_forced ? given_stage : stage(given_stage);
  std::string severity = at_stage(rule, base);
  for (const Config* config : files)
    for (const RuleSetting& setting : config->rules) {
      if (::fnmatch(setting.glob.c_str(), rule.id.c_str(), 0) != 0)
        continue;
      if (leaves_out(*config, setting.paths, setting.exclude, file))
        severity = "off";
      else if (!setting.severity.empty())
        severity = setting.severity;
      else if (!setting.stage.empty())
        severity = at_stage(rule, setting.stage);
    }
  return severity;
}

bool EffectiveConfig::is_excluded(const fs::path& file) const {
  return std::any_of(files.begin(), files.end(), [&](const Config* config) {
    return leaves_out(*config, config->paths, config->exclude, file);
  });
}

std::optional<fs::path> EffectiveConfig::baseline() const {
  std::optional<fs::path> path;
  for (const Config* config : files)
    if (config->baseline)
      path = config->baseline;
  return path;
}

const Config& ConfigSet::load(const fs::path& path) {
  const auto known = files_.find(path);
  if (known != files_.end())
    return known->second;
  return files_.emplace(path, parse_config(report::read_file(path), path, registry_)).first->second;
}

const EffectiveConfig& ConfigSet::for_file(const fs::path& file) {
  return for_folder(file.parent_path());
}

const EffectiveConfig& ConfigSet::for_folder(const fs::path& folder) {
  const auto known = folders_.find(folder);
  if (known != folders_.end())
    return known->second;
  EffectiveConfig effective;
  for (auto next = only_ ? only_ : find_config(folder); next;) {
    const Config& config = load(*next);
    effective.files.insert(effective.files.begin(), &config);
    next = config.inherit ? config_above(config.path) : std::nullopt;
  }
  return folders_.emplace(folder, std::move(effective)).first->second;
}

std::vector<const Config*> ConfigSet::beyond(const EffectiveConfig& top) const {
  std::vector<const Config*> others;
  for (const auto& [path, config] : files_) {
    const bool has_knowledge =
        !config.tables.empty() || !config.deterministic.empty() ||
        std::any_of(config.rules.begin(), config.rules.end(),
                    [](const RuleSetting& setting) { return !setting.options.empty(); });
    if (has_knowledge && std::find(top.files.begin(), top.files.end(), &config) == top.files.end())
      others.push_back(&config);
  }
  return others;
}

rules::Registry customized(const rules::Registry& registry, const EffectiveConfig& effective) {
  rules::Registry out = registry;
  for (const Config* config : effective.files) {
    for (const auto& [table, rows] : config->tables)
      out.add_rows(table, rows);
    for (const RuleSetting& setting : config->rules)
      for (const rules::Rule& rule : registry.rules())
        if (::fnmatch(setting.glob.c_str(), rule.id.c_str(), 0) == 0)
          out.set_options(rule.id, options_of(setting, rule));
  }
  return out;
}

std::string dump(const EffectiveConfig& effective, const fs::path& file, const rules::Registry& registry,
                 const std::string& stage, bool stage_is_forced) {
  YAML::Emitter out;
  std::set<std::string> deterministic;
  std::string origins;
  std::map<std::string, nlohmann::json> tables;
  for (const Config* config : effective.files) {
    origins += (origins.empty() ? "" : ", ") + report::printable(config->path.string());
    deterministic.insert(config->deterministic.begin(), config->deterministic.end());
    for (const auto& [name, rows] : config->tables)
      for (nlohmann::json row : rows) {
        row.erase("project");
        tables[name].push_back(std::move(row));
      }
  }
  out << YAML::Comment("for " + report::printable(file.string()) + ", from " +
                       (origins.empty() ? "no file" : origins));
  if (effective.is_excluded(file))
    out << YAML::Newline << YAML::Comment("this file is excluded");
  out << YAML::BeginMap;
  out << YAML::Key << "stage" << YAML::Value << (stage_is_forced ? stage : effective.stage(stage));
  if (const auto baseline = effective.baseline())
    out << YAML::Key << "baseline" << YAML::Value << baseline->string();
  out << YAML::Key << "rules" << YAML::Value << YAML::BeginMap;
  for (const rules::Rule& rule : registry.rules())
    out << YAML::Key << rule.id << YAML::Value << effective.severity(rule, file, stage, stage_is_forced);
  out << YAML::EndMap;
  emit_words(out, "deterministic", deterministic);
  if (!tables.empty()) {
    out << YAML::Key << "tables" << YAML::Value;
    emit(out, nlohmann::json(tables));
  }
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

} // namespace reprobe::cli
