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
  double max_absolute = 0;
  double max_relative = 0; // |a - b| / max(|a|, |b|): 0 to 2, 0 where both are 0
  // The rest of one that differed. Means are over all elements (parts of complex numbers) and all rounds, against the
  // program's own result A. V_ermv (mean of |A - B| / |A|, with 1 where A is 0) and V_c (share of the elements that
  // differ) are those of arXiv 2408.05148. Infinite distances and NaN count in no mean.
  double mean_absolute = 0, v_ermv = 0, v_c = 0;
  std::uint64_t nan_mismatches = 0;      // NaN on one side only, in the round with most of them
  std::uint64_t infinity_mismatches = 0; // infinite on one side, or of unlike sign; likewise
  std::vector<std::uint64_t> ulp_histogram; // [0]: differing bits 0 ULP apart, [k]: 2^(k-1) to 2^k - 1, over all rounds
  std::optional<std::vector<std::int64_t>> first_differing; // coordinates of the first in memory that differs
  std::optional<bool> same_values; // of indices: every round has the same values as often, only in another order
};

/// The same case re-executed in several fresh processes.
struct ProcessCounts {
  std::uint32_t count = 0;    // processes
  std::uint32_t distinct = 0; // different results among the first ones of each process
  std::uint32_t within = 0;   // most different results in one process
  std::uint32_t as_program = 0; // processes whose first result is the program's own
};

/// How far a mode's first result is from that of full precision (mode "fp32").
struct PrecisionDistance {
  double differing_share = 0;
  double max_ulp = 0; // in the mode's dtype, from full precision's result rounded to it
  double max_absolute = 0, max_relative = 0;
};

/// A saved case re-executed in a fresh process with other flags.
struct MeasuredMode {
  std::string name;    // "fp32", "tf32", "autocast-float16", "autocast-bfloat16", "deterministic-off", "warn-only",
                       // "deterministic-on"
  std::string verdict; // as of a measurement, or "throws"
  std::string reason;  // of "throws": the framework's text; also what the framework warned of
  std::string dtype;   // of the first result
  std::uint32_t rounds = 0, distinct = 0;
  double differing_share = 0, max_ulp = 0, max_absolute = 0, max_relative = 0;
  double microseconds = 0;
  std::vector<std::string> kernels; // CUDA kernels that ran; empty when not known
  std::optional<PrecisionDistance> precision;
  std::optional<ProcessCounts> processes;
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
  std::string case_file;                      // where the call was saved; key "case"
  std::vector<std::string> kernels;           // CUDA kernels that ran, of a replayed case
  std::optional<ProcessCounts> processes;
  std::vector<MeasuredMode> modes;
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
