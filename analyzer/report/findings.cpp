#include "analyzer/report/findings.h"

#include "analyzer/report/json_access.h"

#include <nlohmann/json.hpp>

namespace reprobe::report {
namespace {

constexpr const char* kSchema = "reprobe-findings/1";

Json to_object(const SourceRange& source) {
  Json object{{"file", source.file}, {"line", source.line}, {"column", source.column}};
  if (source.end_line) object["end_line"] = source.end_line;
  if (source.end_column) object["end_column"] = source.end_column;
  put_unless_empty(object, "text", source.text);
  return object;
}

Json to_object(const Finding& finding) {
  Json object{{"rule", finding.rule},       {"severity", finding.severity}, {"confidence", finding.confidence},
              {"message", finding.message}, {"fix", finding.fix},           {"source", to_object(finding.source)}};
  put_unless_empty(object, "function", finding.function);
  put_unless_empty(object, "operators", finding.operators);
  put_unless_empty(object, "direction", finding.direction);
  put_unless_empty(object, "devices", finding.devices);
  put_unless_empty(object, "kernels", finding.kernels);
  put_unless_empty(object, "tags", finding.tags);
  for (const Replacement& replacement : finding.replacements)
    object["replacements"].push_back({{"source", to_object(replacement.source)},
                                      {"offset", replacement.offset},
                                      {"length", replacement.length},
                                      {"before", replacement.before},
                                      {"after", replacement.after},
                                      {"digest", replacement.digest}});
  for (const Note& note : finding.notes)
    object["notes"].push_back({{"source", to_object(note.source)}, {"message", note.message}});
  put_unless_empty(object, "fingerprint", finding.fingerprint);
  if (finding.suppression) {
    Json& suppression = object["suppression"] = Json{{"kind", finding.suppression->kind}};
    put_unless_empty(suppression, "reason", finding.suppression->reason);
    if (finding.suppression->source.line) suppression["source"] = to_object(finding.suppression->source);
  }
  return object;
}

SourceRange source_from(const JsonReader& reader) {
  return {reader.text("file"), reader.number<std::uint32_t>("line"), reader.number<std::uint32_t>("column", 0),
          reader.number<std::uint32_t>("end_line", 0), reader.number<std::uint32_t>("end_column", 0), reader.text("text", "")};
}

Finding finding_from(const JsonReader& reader) {
  Finding finding;
  finding.rule = reader.text("rule");
  finding.severity = reader.text("severity");
  finding.confidence = reader.text("confidence");
  finding.message = reader.text("message");
  finding.fix = reader.text("fix", "");
  finding.source = source_from(reader.object("source"));
  finding.function = reader.text("function", "");
  finding.operators = reader.texts("operators");
  finding.direction = reader.text("direction", "");
  finding.devices = reader.texts("devices");
  finding.kernels = reader.texts("kernels");
  finding.tags = reader.texts("tags");
  for (const JsonReader& entry : reader.objects("replacements"))
    finding.replacements.push_back({source_from(entry.object("source")), entry.number<std::uint32_t>("offset"),
                                    entry.number<std::uint32_t>("length"), entry.text("before"), entry.text("after"),
                                    entry.text("digest", "")});
  for (const JsonReader& note : reader.objects("notes"))
    finding.notes.push_back({source_from(note.object("source")), note.text("message")});
  finding.fingerprint = reader.text("fingerprint", "");
  if (reader.has("suppression")) {
    const JsonReader suppression = reader.object("suppression");
    finding.suppression = Suppression{suppression.text("kind"), suppression.text("reason", ""), {}};
    if (suppression.has("source")) finding.suppression->source = source_from(suppression.object("source"));
  }
  return finding;
}

} // namespace

std::string to_json(const Findings& findings) {
  Json document{{"schema", kSchema},
                {"complete", findings.complete},
                {"stage", findings.stage},
                {"findings", Json::array()},
                {"examined", Json::array()}};
  for (const Finding& finding : findings.findings) document["findings"].push_back(to_object(finding));
  for (const Finding& finding : findings.suppressed) document["suppressed"].push_back(to_object(finding));
  for (const ExaminedFile& file : findings.examined) {
    Json object{{"file", file.file}, {"status", file.status}};
    put_unless_empty(object, "reason", file.reason);
    put_unless_empty(object, "missing_headers", file.missing_headers);
    document["examined"].push_back(std::move(object));
  }
  for (const NotJudged& entry : findings.not_judged)
    document["not_judged"].push_back({{"rule", entry.rule}, {"reason", entry.reason}});
  put_unless_empty(document, "remarks", findings.remarks);
  return dump(document);
}

Findings findings_from_json(const std::string& text, const std::string& origin) {
  return findings_from_document(parse_json(text, origin), origin);
}

Findings findings_from_document(const Json& document, const std::string& origin) {
  check_schema(document, origin, kSchema);
  const JsonReader reader(document, origin);
  Findings findings;
  findings.complete = reader.boolean("complete");
  findings.stage = reader.text("stage", "paper");
  for (const JsonReader& finding : reader.objects("findings")) findings.findings.push_back(finding_from(finding));
  for (const JsonReader& finding : reader.objects("suppressed")) findings.suppressed.push_back(finding_from(finding));
  for (const JsonReader& file : reader.objects("examined"))
    findings.examined.push_back({file.text("file"), file.text("status"), file.text("reason", ""), file.texts("missing_headers")});
  for (const JsonReader& entry : reader.objects("not_judged"))
    findings.not_judged.push_back({entry.text("rule"), entry.text("reason")});
  findings.remarks = reader.texts("remarks");
  return findings;
}

} // namespace reprobe::report
