#include "analyzer/report/measurements.h"

#include "analyzer/report/json_access.h"

namespace reprobe::report {
namespace {

constexpr const char* kSchema = "reprobe-measurements/1";

Json to_object(const MeasuredOutput& output) {
  return {{"name", output.name},
          {"dtype", output.dtype},
          {"shape", output.shape},
          {"distinct", output.distinct},
          {"differing_share", number_or_special(output.differing_share)},
          {"max_ulp", number_or_special(output.max_ulp)},
          {"max_absolute", number_or_special(output.max_absolute)},
          {"max_relative", number_or_special(output.max_relative)}};
}

Json to_object(const Measurement& entry) {
  Json object;
  if (entry.kernel.empty()) {
    object["operator"] = entry.op;
    put_unless_empty(object, "overload", entry.overload);
  } else {
    object["kernel"] = entry.kernel;
  }
  object["signature"] = entry.signature;
  if (!entry.file.empty() || !entry.function.empty()) {
    Json source{{"file", entry.file}, {"line", entry.line}};
    put_unless_empty(source, "function", entry.function);
    object["source"] = std::move(source);
  }
  object["direction"] = entry.direction;
  put_unless_empty(object, "backward_node", entry.backward_node);
  put_unless_empty(object, "device", entry.device);
  object["verdict"] = entry.verdict;
  put_unless_empty(object, "reason", entry.reason);
  if (entry.rounds) {
    object["rounds"] = entry.rounds;
    object["distinct"] = entry.distinct;
    object["differing_share"] = number_or_special(entry.differing_share);
    object["max_ulp"] = number_or_special(entry.max_ulp);
    object["max_absolute"] = number_or_special(entry.max_absolute);
    object["max_relative"] = number_or_special(entry.max_relative);
    object["microseconds"] = number_or_special(entry.microseconds);
  }
  object["calls"] = entry.calls;
  if (entry.verdict == "varies") object["blamed"] = entry.blamed;
  put_unless_empty(object, "path", entry.path);
  for (const MeasuredOutput& output : entry.outputs) object["outputs"].push_back(to_object(output));
  for (const auto& [key, value] : entry.mode) object["mode"][key] = value;
  return object;
}

MeasuredOutput output_from(const JsonReader& reader) {
  MeasuredOutput output;
  output.name = reader.text("name");
  output.dtype = reader.text("dtype", "");
  if (reader.has("shape")) {
    const Json& shape = reader.raw("shape");
    if (!shape.is_array()) reader.fail("shape", "a list of whole numbers");
    for (const Json& size : shape) {
      if (!size.is_number_integer()) reader.fail("shape", "a list of whole numbers");
      output.shape.push_back(size.get<std::int64_t>());
    }
  }
  output.distinct = reader.number<std::uint32_t>("distinct", 1);
  output.differing_share = reader.number<double>("differing_share", 0);
  output.max_ulp = reader.number<double>("max_ulp", 0);
  output.max_absolute = reader.number<double>("max_absolute", 0);
  output.max_relative = reader.number<double>("max_relative", 0);
  return output;
}

Measurement entry_from(const JsonReader& reader) {
  Measurement entry;
  entry.op = reader.text("operator", "");
  entry.kernel = reader.text("kernel", "");
  if (entry.op.empty() == entry.kernel.empty()) reader.fail("operator", "there, or \"kernel\", and not both");
  entry.overload = reader.text("overload", "");
  entry.signature = reader.text("signature", "");
  if (reader.has("source")) {
    const JsonReader source = reader.object("source");
    entry.file = source.text("file", "");
    entry.line = source.number<std::uint32_t>("line", 0);
    entry.function = source.text("function", "");
  }
  entry.direction = reader.text("direction", "forward");
  entry.backward_node = reader.text("backward_node", "");
  entry.device = reader.text("device", "");
  entry.verdict = reader.text("verdict");
  if (entry.verdict != "varies" && entry.verdict != "stable" && entry.verdict != "not-examined")
    reader.fail("verdict", "\"varies\", \"stable\" or \"not-examined\"");
  entry.reason = reader.text("reason", "");
  entry.rounds = reader.number<std::uint32_t>("rounds", 0);
  entry.distinct = reader.number<std::uint32_t>("distinct", 0);
  entry.differing_share = reader.number<double>("differing_share", 0);
  entry.max_ulp = reader.number<double>("max_ulp", 0);
  entry.max_absolute = reader.number<double>("max_absolute", 0);
  entry.max_relative = reader.number<double>("max_relative", 0);
  entry.microseconds = reader.number<double>("microseconds", 0);
  entry.calls = reader.number<std::uint64_t>("calls", 0);
  // Whoever writes only verdicts knows no children to blame instead.
  entry.blamed = reader.boolean("blamed", entry.verdict == "varies");
  if (entry.verdict == "stable" && (entry.rounds == 0 || entry.distinct != 1))
    reader.fail("distinct", "1, of at least 1 round, for a stable operation");
  if (entry.verdict == "varies" && entry.distinct < 2) reader.fail("distinct", "2 or more for one that varies");
  if (entry.differing_share < 0 || entry.differing_share > 1) reader.fail("differing_share", "from 0 to 1");
  entry.path = reader.texts("path");
  for (const JsonReader& output : reader.objects("outputs")) entry.outputs.push_back(output_from(output));
  if (reader.has("mode"))
    for (const auto& [key, value] : reader.raw("mode").items()) entry.mode[key] = value;
  return entry;
}

} // namespace

std::string to_json(const Measurements& measurements) {
  Json document{{"schema", kSchema}, {"complete", measurements.complete}};
  put_unless_empty(document, "reason", measurements.reason);
  document["environment"] = measurements.environment;
  document["program"] = measurements.program;
  if (!measurements.flags.empty()) document["flags"] = measurements.flags;
  document["entries"] = Json::array();
  for (const Measurement& entry : measurements.entries) document["entries"].push_back(to_object(entry));
  return dump(document);
}

Measurements measurements_from_json(const std::string& text, const std::string& origin) {
  return measurements_from_document(parse_json(text, origin), origin);
}

Measurements measurements_from_document(const Json& document, const std::string& origin) {
  check_schema(document, origin, kSchema);
  const JsonReader reader(document, origin);
  Measurements measurements;
  measurements.complete = reader.boolean("complete");
  measurements.reason = reader.text("reason", "");
  if (reader.has("environment")) measurements.environment = reader.raw("environment");
  if (reader.has("program")) measurements.program = reader.raw("program");
  if (reader.has("flags")) {
    if (!reader.raw("flags").is_array()) reader.fail("flags", "a list");
    measurements.flags = reader.raw("flags");
  }
  if (!reader.has("entries")) reader.fail("entries", "a list");
  for (const JsonReader& entry : reader.objects("entries")) measurements.entries.push_back(entry_from(entry));
  return measurements;
}

} // namespace reprobe::report
