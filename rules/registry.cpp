#include "rules/registry.h"

#include "rules/error.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace reprobe::rules {

using nlohmann::json;

std::vector<std::string_view> embedded_json(); // made by embed.py

namespace {

constexpr const char* kSchema = "reprobe-rules/1";

[[noreturn]] void refuse(const std::string& origin, const std::string& key, const std::string& why) {
  throw Error("the rules cannot be read", origin, key + ": " + why,
              "use rules made by this version's rules/embed.py");
}

std::string text_of(const json& object, const std::string& key, const std::string& origin) {
  if (!object.contains(key))
    refuse(origin, key, "missing");
  if (!object[key].is_string())
    refuse(origin, key, "must be a string");
  return object[key].get<std::string>();
}

std::map<std::string, std::string> severities(const json& rule, const std::string& origin) {
  std::map<std::string, std::string> severity;
  for (std::string_view stage : kStageNames) {
    const std::string name(stage);
    if (!rule.contains("severity") || !rule["severity"].is_object())
      refuse(origin, "severity", "missing");
    const std::string value = text_of(rule["severity"], name, origin + ": severity");
    if (value != "off" && value != "note" && value != "warning" && value != "error")
      refuse(origin, "severity." + name, "`" + value + "` is none of off, note, warning, error");
    severity[name] = value;
  }
  return severity;
}

Scope scope_of(const json& rule, const std::string& origin) {
  if (!rule.contains("scope"))
    return Scope::project; // never guess
  const std::string name = text_of(rule, "scope", origin);
  if (name != "file" && name != "project")
    refuse(origin, "scope", "`" + name + "` is none of file, project");
  return name == "file" ? Scope::file : Scope::project;
}

Rule rule_from(const json& source, const std::string& origin) {
  if (!source.is_object())
    refuse(origin, "rules", "must hold objects");
  Rule rule;
  rule.id = text_of(source, "id", origin);
  const std::string where = origin + ": " + rule.id;
  rule.family = text_of(source, "family", where);
  rule.title = text_of(source, "title", where);
  rule.summary = text_of(source, "summary", where);
  rule.confidence = text_of(source, "confidence", where);
  rule.scope = scope_of(source, where);
  rule.fix = text_of(source, "fix", where);
  rule.page = text_of(source, "page", where);
  rule.severity = severities(source, where);
  if (!source.contains("tags") || !source["tags"].is_array())
    refuse(where, "tags", "must be a list");
  for (const json& tag : source["tags"]) {
    if (!tag.is_string())
      refuse(where, "tags", "must hold strings");
    rule.tags.push_back(tag.get<std::string>());
  }
  rule.options = source.value("options", json::object());
  return rule;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

void add_symbols(const json& tables, std::set<std::string>& words) {
  for (const auto& [name, rows] : tables.items())
    for (const json& row : rows) {
      if (row.contains("operator") && row["operator"].is_string())
        words.insert(row["operator"].get<std::string>());
      if (row.contains("symbols"))
        for (const json& symbol : row["symbols"])
          if (symbol.is_string())
            words.insert(symbol.get<std::string>());
    }
}

} // namespace

const Registry& Registry::builtin() {
  static const Registry registry = [] {
    std::string text;
    for (std::string_view chunk : embedded_json())
      text += chunk;
    return from_json(json::parse(text), "built-in rules");
  }();
  return registry;
}

Registry Registry::from_json(const json& document, const std::string& origin) {
  if (!document.is_object())
    refuse(origin, "document", "must be an object");
  const std::string schema = text_of(document, "schema", origin);
  if (schema != kSchema)
    refuse(origin, "schema", "`" + schema + "` is not `" + kSchema + "`");
  if (!document.contains("rules") || !document["rules"].is_array())
    refuse(origin, "rules", "must be a list");
  Registry registry;
  for (const json& rule : document["rules"]) {
    registry.rules_.push_back(rule_from(rule, origin));
    const std::string& id = registry.rules_.back().id;
    if (registry.find(id) != &registry.rules_.back())
      refuse(origin, id, "is there twice");
  }
  registry.tables_ = document.value("tables", json::object());
  if (!registry.tables_.is_object())
    refuse(origin, "tables", "must be an object");
  for (const auto& [name, rows] : registry.tables_.items())
    if (!rows.is_array())
      refuse(origin, "tables." + name, "must be a list");
  return registry;
}

const Rule* Registry::find(std::string_view id) const {
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return r.id == id; });
  return rule == rules_.end() ? nullptr : &*rule;
}

const json& Registry::table(std::string_view name) const {
  static const json none = json::array();
  const auto rows = tables_.find(std::string(name));
  return rows == tables_.end() ? none : *rows;
}

std::vector<std::string> Registry::table_names() const {
  std::vector<std::string> names;
  for (const auto& [name, rows] : tables_.items())
    names.push_back(name);
  return names;
}

void Registry::add_rows(const std::string& table, const json& rows) {
  json& known = tables_[table];
  if (!known.is_array())
    known = json::array();
  known.insert(known.begin(), rows.begin(), rows.end());
}

void Registry::set_options(const std::string& rule, const json& options) {
  for (Rule& known : rules_)
    if (known.id == rule)
      known.options.update(options);
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& words,
                                       std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    // Further away than half of the longer word is no likeness at all.
    if (distance * 2 <= std::max(word.size(), candidate.size()))
      ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> best;
  for (std::size_t i = 0; i < ranked.size() && i < count; ++i)
    best.push_back(ranked[i].second);
  return best;
}

std::vector<std::string> Registry::nearest(std::string_view word, std::size_t count) const {
  std::set<std::string> words;
  for (const Rule& rule : rules_)
    words.insert(rule.id);
  add_symbols(tables_, words);
  return nearest_words(word, {words.begin(), words.end()}, count);
}

std::vector<std::string> Registry::nearest_rules(std::string_view word, std::size_t count) const {
  std::vector<std::string> ids;
  for (const Rule& rule : rules_)
    ids.push_back(rule.id);
  return nearest_words(word, ids, count);
}

} // namespace reprobe::rules
