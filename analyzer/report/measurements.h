// Measurements: what `run` hands to `report`, as "reprobe-measurements/1" JSON (rules/schemas/measurements.schema.json).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::report {

struct MeasuredOutput {
  std::string name;  // "output 0", "argument self"
  std::string dtype; // "float32", "bfloat16", "int64" …
  std::vector<std::int64_t> shape;
  std::uint32_t distinct = 1;     // different results among the rounds
  double differing_share = 0;     // elements that ever differed, 0 to 1
  double max_ulp = 0;             // in the output's dtype; 0 for integers
  double max_absolute = 0, max_relative = 0;
};

struct Measurement {
  std::string op;        // "aten::index_add", without overload; key "operator"
  std::string overload;  // "out", "" …
  std::string kernel;    // kernels have this instead of an operator
  std::string signature; // "(float32[64,16], int64[4096], …)"
  std::string file;      // source of the first frame in user code; empty when unknown
  std::uint32_t line = 0;
  std::string function;
  std::string direction = "forward"; // "backward": `file` and `line` are those of the forward call
  std::string backward_node;         // "IndexAddBackward0"
  std::string device;                // "cpu", "cuda:0"
  std::string verdict;               // "varies", "stable", "not-examined"
  std::string reason;                // for not-examined; also remarks ("replay not faithful")
  std::uint32_t rounds = 0, distinct = 0;
  double differing_share = 0, max_ulp = 0, max_absolute = 0, max_relative = 0;
  double microseconds = 0; // one execution, median
  std::uint64_t calls = 0; // how often the program made this call
  bool blamed = false;     // varies, while none of the operators it calls does
  std::vector<std::string> path; // callers, outermost first, when it was reached inside another operator
  std::vector<MeasuredOutput> outputs;
  std::map<std::string, nlohmann::json> mode; // "autocast": "none"|"float16"|"bfloat16", "strict": bool, …
};

struct Measurements {
  bool complete = true;
  std::string reason; // why not complete
  nlohmann::json environment = nlohmann::json::object();
  nlohmann::json program = nlohmann::json::object(); // "arguments", "exit_code", "budget", "left_out"
  nlohmann::json flags = nlohmann::json::array(); // changes of process-wide flags while the program ran (see the schema)
  std::vector<Measurement> entries;
};

std::string to_json(const Measurements&);
Measurements measurements_from_json(const std::string& text, const std::string& origin); // throws reprobe::Error
Measurements measurements_from_document(const nlohmann::ordered_json&, const std::string& origin);

} // namespace reprobe::report
