// SARIF 2.1.0 as code scanning services read it.
#include "analyzer/report/json_access.h"
#include "analyzer/report/renderer.h"

#include <algorithm>
#include <map>

namespace reprobe::report {
namespace {

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* kRoot = "SRCROOT";

Json text_object(const std::string& text) {
  return {{"text", printable_lines(text)}};
}

Json artifact(const std::string& file) {
  Json location{{"uri", uri_of(file)}};
  if (!file.starts_with('/'))
    location["uriBaseId"] = kRoot;
  return location;
}

// SARIF counts characters, Clang bytes: without the line's text the two are taken for equal.
std::uint32_t column_of(const SourceRange& at, std::uint32_t column) {
  if (at.text.empty() || column == 0)
    return column;
  return static_cast<std::uint32_t>(characters_before(at.text, column - 1)) + 1;
}

Json region(const SourceRange& at) {
  Json object{{"startLine", at.line}};
  if (at.column)
    object["startColumn"] = column_of(at, at.column);
  if (at.end_line)
    object["endLine"] = at.end_line;
  if (at.end_column && at.end_line) // the text is that of the first line only
    object["endColumn"] = at.end_line == at.line ? column_of(at, at.end_column) : at.end_column;
  if (!at.text.empty())
    object["snippet"] = {{"text", printable_lines(at.text)}};
  return object;
}

Json location(const SourceRange& at, const std::string& message = {}) {
  Json object;
  object["physicalLocation"]["artifactLocation"] = artifact(at.file);
  if (at.line)
    object["physicalLocation"]["region"] = region(at);
  if (!message.empty())
    object["message"] = text_object(message);
  return object;
}

// --- rules ---

std::string level(const std::string& severity) {
  return severity == "off" ? "none" : severity;
}

Json describe(const rules::Rule& rule, const std::string& stage) {
  const auto found = rule.severity.find(stage);
  const std::string severity = found == rule.severity.end() ? "warning" : found->second;
  Json object{
      {"id", rule.id},
      {"shortDescription", text_object(rule.title)},
      {"fullDescription", text_object(rule.summary)},
      {"help", {{"text", printable_lines(rule.summary + "\nFix: " + rule.fix)}, {"markdown", rule.page}}}};
  object["defaultConfiguration"] = {{"enabled", severity != "off"}, {"level", level(severity)}};
  Json& properties = object["properties"];
  properties["precision"] = rule.confidence;
  properties["problem.severity"] = severity == "error"     ? "error"
                                   : severity == "warning" ? "warning"
                                                           : "recommendation";
  properties["tags"] = Json::array({"reproducibility"});
  for (const std::string& tag : rule.tags)
    properties["tags"].push_back(tag);
  return object;
}

// --- results ---

/// How the fault comes about, where that takes several places: a seed or flag here, its effect there. In one
/// file in source order; otherwise the first note leads to the finding, the others follow.
Json code_flow(const Finding& finding) {
  std::vector<Json> steps;
  std::vector<std::uint32_t> lines;
  const auto add = [&](const SourceRange& at, const std::string& message) {
    steps.push_back({{"location", location(at, message)}});
    lines.push_back(at.line);
  };
  bool one_file = true;
  for (std::size_t i = 0; i < finding.notes.size(); ++i) {
    if (i == 1)
      add(finding.source, finding.message);
    add(finding.notes[i].source, finding.notes[i].message);
    one_file &= finding.notes[i].source.file == finding.source.file;
  }
  if (finding.notes.size() == 1)
    add(finding.source, finding.message);
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (one_file)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lines[a] < lines[b]; });
  Json locations = Json::array();
  for (const std::size_t step : order)
    locations.push_back(std::move(steps[step]));
  return {{"threadFlows", Json::array({Json{{"locations", std::move(locations)}}})}};
}

bool has_code_flow(const Finding& finding, const rules::Rule* rule) {
  const bool family = rule && (rule->family == "seeding" || rule->family == "knobs");
  return family && !finding.notes.empty() &&
         std::all_of(finding.notes.begin(), finding.notes.end(),
                     [](const Note& note) { return note.source.line > 0; });
}

Json suppression_of(const Suppression& suppression) {
  Json object{{"kind", suppression.kind == "in-source" ? "inSource" : "external"}, {"status", "accepted"}};
  if (!suppression.reason.empty())
    object["justification"] = printable_lines(suppression.reason);
  if (suppression.source.line)
    object["location"] = location(suppression.source);
  return object;
}

// One fix: each file once, with all that is replaced in it.
Json fix_of(const Finding& finding) {
  std::map<std::string, Json> replacements; // by file
  for (const Replacement& replacement : finding.replacements)
    replacements[replacement.source.file].push_back(
        {{"deletedRegion", region(replacement.source)}, {"insertedContent", {{"text", replacement.after}}}});
  Json changes = Json::array();
  for (auto& [file, list] : replacements)
    changes.push_back({{"artifactLocation", artifact(file)}, {"replacements", std::move(list)}});
  return {{"description", text_object(finding.fix)}, {"artifactChanges", std::move(changes)}};
}

Json result(const Finding& finding, const rules::Registry& registry,
            const std::map<std::string, std::size_t>& indices) {
  Json object{{"ruleId", finding.rule}};
  if (const auto index = indices.find(finding.rule); index != indices.end())
    object["ruleIndex"] = index->second;
  object["level"] = level(finding.severity);
  object["message"] = text_object(finding.message + (finding.fix.empty() ? "" : "\nFix: " + finding.fix));
  Json& at = object["locations"].emplace_back(location(finding.source));
  if (!finding.function.empty())
    at["logicalLocations"] =
        Json::array({Json{{"fullyQualifiedName", printable(finding.function)}, {"kind", "function"}}});
  if (!finding.fingerprint.empty())
    object["partialFingerprints"] = {{"primaryLocationLineHash", finding.fingerprint},
                                     {"reprobe/v1", finding.fingerprint}};
  for (const Note& note : finding.notes) {
    Json related = location(note.source, note.message);
    related["id"] = object.contains("relatedLocations") ? object["relatedLocations"].size() + 1 : 1;
    object["relatedLocations"].push_back(std::move(related));
  }
  if (has_code_flow(finding, registry.find(finding.rule)))
    object["codeFlows"] = Json::array({code_flow(finding)});
  if (!finding.replacements.empty())
    object["fixes"] = Json::array({fix_of(finding)});
  // An empty list says that suppressions were looked for.
  object["suppressions"] = Json::array();
  if (finding.suppression)
    object["suppressions"].push_back(suppression_of(*finding.suppression));
  Json& properties = object["properties"] = Json{{"confidence", finding.confidence}};
  put_unless_empty(properties, "tags", finding.tags);
  put_unless_empty(properties, "operators", finding.operators);
  put_unless_empty(properties, "kernels", finding.kernels);
  put_unless_empty(properties, "direction", finding.direction);
  put_unless_empty(properties, "devices", finding.devices);
  return object;
}

// --- the run ---

Json notification(const ExaminedFile& file) {
  const bool failed = file.status == "failed";
  std::string message = failed ? "not examined" : "examined only in part";
  if (!file.reason.empty())
    message += ": " + file.reason;
  Json object{{"level", failed ? "error" : "warning"}, {"message", text_object(message)}};
  object["locations"] = Json::array({location({file.file})});
  object["descriptor"] = {{"id", failed ? "not-examined" : "partly-examined"}};
  return object;
}

Json invocation(const RenderInput& input) {
  Json object;
  const auto& examined = input.findings.examined;
  object["executionSuccessful"] =
      std::none_of(examined.begin(), examined.end(), [&](const ExaminedFile& file) {
        return file.status == "failed" || (file.status == "partial" && input.partial_is_failure);
      });
  object["toolExecutionNotifications"] = Json::array();
  for (const ExaminedFile& file : examined)
    if (file.status != "full")
      object["toolExecutionNotifications"].push_back(notification(file));
  for (const std::string& remark : input.findings.remarks)
    object["toolExecutionNotifications"].push_back(
        {{"level", "note"}, {"message", text_object(remark)}, {"descriptor", {{"id", "remark"}}}});
  return object;
}

Json descriptors_of_notifications() {
  return Json::array(
      {Json{{"id", "not-examined"}, {"shortDescription", {{"text", "A file could not be examined."}}}},
       Json{{"id", "partly-examined"}, {"shortDescription", {{"text", "A file was examined only in part."}}}},
       Json{{"id", "remark"}, {"shortDescription", {{"text", "What was inferred or left out."}}}}});
}

} // namespace

std::string render_sarif(const RenderInput& input) {
  Json run;
  Json& driver = run["tool"]["driver"] = Json{{"name", "Reprobe"}};
  if (!input.version.empty())
    driver["version"] = driver["semanticVersion"] = input.version;
  driver["rules"] = Json::array();
  std::map<std::string, std::size_t> indices;
  for (const rules::Rule& rule : input.registry.rules()) {
    indices[rule.id] = driver["rules"].size();
    driver["rules"].push_back(describe(rule, input.findings.stage));
  }
  driver["notifications"] = descriptors_of_notifications();
  // The id ends with "/": what stands before it is the category, what follows would name one run.
  run["automationDetails"] = {
      {"id", (input.category.empty() ? "reprobe/" + input.findings.stage : input.category) + "/"}};
  if (!input.findings.root.empty())
    run["originalUriBaseIds"][kRoot] = {{"uri", uri_of(input.findings.root.generic_string() + "/")}};
  run["columnKind"] = "unicodeCodePoints";
  run["invocations"] = Json::array({invocation(input)});
  run["results"] = Json::array();
  for (const auto* findings : {&input.findings.findings, &input.findings.suppressed})
    for (const Finding& finding : *findings)
      run["results"].push_back(result(finding, input.registry, indices));
  return dump(Json{{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}});
}

} // namespace reprobe::report
