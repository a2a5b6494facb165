#include "analyzer/report/measurements.h"

#include "analyzer/report/json_access.h"

#include <algorithm>

namespace reprobe::report {
namespace {

constexpr const char* kSchema = "reprobe-measurements/1";

Json to_object(const MeasuredOutput& output) {
  Json object{{"name", output.name},
              {"dtype", output.dtype},
              {"shape", output.shape},
              {"distinct", output.distinct},
              {"differing_share", number_or_special(output.differing_share)},
              {"max_ulp", number_or_special(output.max_ulp)},
              {"max_absolute", number_or_special(output.max_absolute)},
              {"max_relative", number_or_special(output.max_relative)}};
  if (!output.first_differing) return object;
  object["mean_absolute"] = number_or_special(output.mean_absolute);
  object["v_ermv"] = number_or_special(output.v_ermv);
  object["v_c"] = number_or_special(output.v_c);
  if (output.nan_mismatches) object["nan_mismatches"] = output.nan_mismatches;
  if (output.infinity_mismatches) object["infinity_mismatches"] = output.infinity_mismatches;
  put_unless_empty(object, "ulp_histogram", output.ulp_histogram);
  object["first_differing"] = *output.first_differing;
  if (output.same_values) object["same_values"] = *output.same_values;
  return object;
}

Json to_object(const ProcessCounts& counts) {
  return {{"count", counts.count}, {"distinct", counts.distinct}, {"within", counts.within}, {"as_program", counts.as_program}};
}

template <class Measured>
void put_distances(Json& object, const Measured& measured) {
  object["differing_share"] = number_or_special(measured.differing_share);
  object["max_ulp"] = number_or_special(measured.max_ulp);
  object["max_absolute"] = number_or_special(measured.max_absolute);
  object["max_relative"] = number_or_special(measured.max_relative);
}

Json to_object(const MeasuredMode& mode) {
  Json object{{"name", mode.name}, {"verdict", mode.verdict}};
  put_unless_empty(object, "reason", mode.reason);
  put_unless_empty(object, "dtype", mode.dtype);
  if (mode.rounds) {
    object["rounds"] = mode.rounds;
    object["distinct"] = mode.distinct;
    put_distances(object, mode);
    object["microseconds"] = number_or_special(mode.microseconds);
  }
  put_unless_empty(object, "kernels", mode.kernels);
  if (mode.precision) put_distances(object["precision"] = Json{{"against", "fp32"}}, *mode.precision);
  if (mode.processes) object["processes"] = to_object(*mode.processes);
  return object;
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
    put_distances(object, entry);
    object["microseconds"] = number_or_special(entry.microseconds);
  }
  object["calls"] = entry.calls;
  if (entry.verdict == "varies") object["blamed"] = entry.blamed;
  put_unless_empty(object, "path", entry.path);
  for (const MeasuredOutput& output : entry.outputs) object["outputs"].push_back(to_object(output));
  for (const auto& [key, value] : entry.mode) object["mode"][key] = value;
  put_unless_empty(object, "case", entry.case_file);
  put_unless_empty(object, "kernels", entry.kernels);
  if (entry.processes) object["processes"] = to_object(*entry.processes);
  for (const MeasuredMode& mode : entry.modes) object["modes"].push_back(to_object(mode));
  return object;
}

template <class Number>
std::vector<Number> whole_numbers(const JsonReader& reader, const char* key) {
  std::vector<Number> numbers;
  if (!reader.has(key)) return numbers;
  const Json& list = reader.raw(key);
  const auto is_whole = [](const Json& number) {
    return std::is_signed_v<Number> ? number.is_number_integer() : number.is_number_unsigned();
  };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_whole)) reader.fail(key, "a list of whole numbers");
  for (const Json& number : list) numbers.push_back(number.get<Number>());
  return numbers;
}

MeasuredOutput output_from(const JsonReader& reader) {
  MeasuredOutput output;
  output.name = reader.text("name");
  output.dtype = reader.text("dtype", "");
  output.shape = whole_numbers<std::int64_t>(reader, "shape");
  output.distinct = reader.number<std::uint32_t>("distinct", 1);
  output.differing_share = reader.number<double>("differing_share", 0);
  output.max_ulp = reader.number<double>("max_ulp", 0);
  output.max_absolute = reader.number<double>("max_absolute", 0);
  output.max_relative = reader.number<double>("max_relative", 0);
  output.mean_absolute = reader.number<double>("mean_absolute", 0);
  output.v_ermv = reader.number<double>("v_ermv", 0);
  output.v_c = reader.number<double>("v_c", 0);
  output.nan_mismatches = reader.number<std::uint64_t>("nan_mismatches", 0);
  output.infinity_mismatches = reader.number<std::uint64_t>("infinity_mismatches", 0);
  output.ulp_histogram = whole_numbers<std::uint64_t>(reader, "ulp_histogram");
  if (reader.has("first_differing")) output.first_differing = whole_numbers<std::int64_t>(reader, "first_differing");
  if (reader.has("same_values")) output.same_values = reader.boolean("same_values");
  return output;
}

ProcessCounts counts_from(const JsonReader& reader) {
  return {reader.number<std::uint32_t>("count"), reader.number<std::uint32_t>("distinct"), reader.number<std::uint32_t>("within"),
          reader.number<std::uint32_t>("as_program", 0)};
}

template <class Measured>
void read_distances(const JsonReader& reader, Measured& measured) {
  measured.differing_share = reader.number<double>("differing_share", 0);
  measured.max_ulp = reader.number<double>("max_ulp", 0);
  measured.max_absolute = reader.number<double>("max_absolute", 0);
  measured.max_relative = reader.number<double>("max_relative", 0);
}

MeasuredMode mode_from(const JsonReader& reader) {
  MeasuredMode mode;
  mode.name = reader.text("name");
  mode.verdict = reader.text("verdict");
  mode.reason = reader.text("reason", "");
  mode.dtype = reader.text("dtype", "");
  mode.rounds = reader.number<std::uint32_t>("rounds", 0);
  mode.distinct = reader.number<std::uint32_t>("distinct", 0);
  read_distances(reader, mode);
  mode.microseconds = reader.number<double>("microseconds", 0);
  mode.kernels = reader.texts("kernels");
  if (reader.has("precision")) read_distances(reader.object("precision"), mode.precision.emplace());
  if (reader.has("processes")) mode.processes = counts_from(reader.object("processes"));
  return mode;
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
  read_distances(reader, entry);
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
  entry.case_file = reader.text("case", "");
  entry.kernels = reader.texts("kernels");
  if (reader.has("processes")) entry.processes = counts_from(reader.object("processes"));
  for (const JsonReader& mode : reader.objects("modes")) entry.modes.push_back(mode_from(mode));
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
