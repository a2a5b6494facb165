// `reprobe explain`: the page of a rule, the rows of an operator or catalogue id, or what a framework's error means.
#include "analyzer/cli/commands.h"
#include "rules/error.h"
#include "rules/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace reprobe::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kAlertMarker = " does not have a deterministic implementation";

std::string text_in(const json& row, const char* key) {
  if (!row.contains(key)) return {};
  const json& value = row[key];
  if (value.is_string()) return value.get<std::string>();
  std::string joined;
  if (value.is_array())
    for (const json& item : value) joined += (joined.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : item.dump());
  return joined.empty() && !value.is_array() ? value.dump() : joined;
}

bool mentions(const json& value, const std::string& word) {
  if (value.is_string()) return value.get_ref<const std::string&>() == word;
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), [&](const json& item) { return mentions(item, word); });
  return false;
}

// An alert names the kernel ("index_add_cuda_"), older and newer builds with other endings: the table's text may be
// part of the message or the message's name part of the table's.
std::vector<const json*> rows_for_alert(const std::string& kernel) {
  std::vector<const json*> rows;
  for (const json& row : rules::Registry::builtin().table("operators")) {
    const std::string alerts = row.contains("strict") ? row["strict"].dump() + text_in(row, "alert") : text_in(row, "alert");
    if (alerts.find(kernel) != std::string::npos) rows.push_back(&row);
  }
  return rows;
}

// Operators first: they are what people ask for.
std::vector<const json*> rows_for_word(const std::string& word) {
  const rules::Registry& registry = rules::Registry::builtin();
  std::vector<std::string> tables = registry.table_names();
  std::stable_partition(tables.begin(), tables.end(), [](const std::string& table) { return table == "operators"; });
  std::vector<const json*> rows;
  for (const std::string& table : tables)
    for (const json& row : registry.table(table))
      if (mentions(row, word)) rows.push_back(&row);
  return rows;
}

// What a row is about, in the words of its table.
std::string heading_of(const json& row) {
  for (const char* key : {"operator", "knob", "symbols", "names", "types", "members", "generator"})
    if (const std::string text = text_in(row, key); !text.empty()) return text;
  return row.dump();
}

void print_row(const json& row) {
  fmt::print("## {}\n\n", heading_of(row));
  for (const auto& [key, value] : row.items())
    if (key != "operator") fmt::print("- {}: {}\n", key, value.is_object() ? value.dump() : text_in(row, key.c_str()));
  fmt::print("\n");
}

std::string alert_kernel(const std::string& text) {
  const std::size_t end = text.find(kAlertMarker);
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of(" \t\n:\"'`", end == 0 ? 0 : end - 1);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1));
}

int explain(const std::string& subject) {
  const rules::Registry& registry = rules::Registry::builtin();
  if (const rules::Rule* rule = registry.find(subject)) {
    fmt::print("{}\n", rule->page);
    return 0;
  }
  const std::string kernel = alert_kernel(subject);
  if (!kernel.empty()) {
    const std::vector<const json*> rows = rows_for_alert(kernel);
    fmt::print("LibTorch throws this because deterministic algorithms are on (setDeterministicAlgorithms(true, false)) and\n"
               "{} has no deterministic version on this device.\n\n", kernel);
    for (const json* row : rows) print_row(*row);
    if (rows.empty()) fmt::print("It is not in Reprobe's table: measure it with `reprobe run`.\n");
    if (const rules::Rule* rule = registry.find("nondeterministic-op")) fmt::print("{}\n", rule->page);
    return 0;
  }
  bool any = false;
  for (const rules::Rule& rule : registry.rules()) {
    if (std::find(rule.tags.begin(), rule.tags.end(), subject) == rule.tags.end()) continue;
    fmt::print("{}\n", rule.page);
    any = true;
  }
  for (const json* row : rows_for_word(subject)) {
    print_row(*row);
    any = true;
  }
  if (any) return 0;
  std::string near;
  for (const std::string& word : registry.nearest(subject)) near += (near.empty() ? "" : ", ") + word;
  throw Error("nothing is known of this", subject, "it is no rule, catalogue id, operator or LibTorch determinism error",
              near.empty() ? "" : "near it: " + near);
}

} // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("explain", "explain a rule, an operator, a catalogue id, or a pasted framework error");
  command->add_option("subject", *words, "rule id, operator, catalogue id, or the error's text")->required();
  command->callback([words, &exit_code] {
    std::string subject;
    for (const std::string& word : *words) subject += (subject.empty() ? "" : " ") + word;
    exit_code = explain(subject);
  });
}

} // namespace reprobe::cli
