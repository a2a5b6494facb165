// The joined report: each finding with what was measured at its line, and what varies without a finding.
#pragma once

#include "analyzer/report/findings.h"
#include "analyzer/report/measurements.h"

#include <string>
#include <vector>

namespace reprobe::report {

enum class State {
  varies,           // a finding, and its operation was seen to vary
  varies_unflagged, // seen to vary, no finding at its line: a gap of the rules, or unscanned code
  not_run,          // a finding whose operation was not measured
  stable,           // a finding whose operation gave one result in all rounds
};

/// One line of the report. Pointers point into the inputs of `join`, which must outlive it.
struct Item {
  State state;
  const Finding* finding = nullptr;             // absent for varies_unflagged
  std::vector<const Measurement*> measurements;   // varying ones first, largest share of differing elements first
  std::string only_on{};                          // not_run: the other device on which the operation was measured
};

struct Report {
  std::vector<Item> items; // by state in the order above, then severity, file and line
  std::size_t operations = 0, varying = 0, stable = 0, not_examined = 0; // distinct signatures measured
  std::vector<std::pair<std::string, std::size_t>> not_examined_reasons; // most frequent first
  bool complete = true;
  std::vector<std::string> gaps; // what is missing from the inputs, one line each
  std::string verdict;           // one sentence
};

Report join(const Findings*, const std::vector<Measurements>&);

/// Upper bound, at 95 % confidence, on the rate of differing results after `rounds` identical ones. 0 < rate <= 1.
double differing_rate_bound(unsigned rounds);

std::string render_text(const Report&, const std::vector<Measurements>&, bool color);
std::string render_json(const Report&, const std::vector<Measurements>&);
std::string render_html(const Report&, const std::vector<Measurements>&);

/// Of two paths, is one the end of the other, whole components at a time?
bool same_file(std::string_view left, std::string_view right);

// Shared by the renderers.
std::string_view title_of(State);
std::string place_of(const Item&);                    // "train.cpp:41", or a function name where no line is known
std::string distance_of(const Measurement&);          // "7 of 20 results distinct, 2.3 % of elements, up to 3 ULP …"
/// "" or " [line 28 in the line table]", where the compiler put the call on another line than the finding's.
std::string other_line_of(const Finding&, const Measurement&);
std::string name_of(const Measurement&);              // "aten::index_add (backward of IndexAddBackward0)"
std::string environment_line(const Measurements&);    // "NVIDIA H200, LibTorch 2.11.0, CUDA 13.0"

} // namespace reprobe::report
