// What the judges of all rule families share.
#pragma once

#include "analyzer/report/findings.h"
#include "analyzer/scan/flow/effects.h"
#include "analyzer/scan/flow/execution.h"
#include "analyzer/scan/flow/project.h"
#include "analyzer/scan/flow/values.h"
#include "analyzer/scan/judge/evidence.h"
#include "analyzer/scan/judge/registrations.h"
#include "rules/registry.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace reprobe::scan {

/// What one run of the project shows at each event: the states that some path reaches it in.
struct Reached {
  bool with_gradients = false, without_gradients = false;
  bool strict = false, not_strict = false; // deterministic algorithms on, off
  bool warn_only = false;
};

/// A finding before it knows its rule's severity.
struct Draft {
  Site site;
  std::string message, fix, confidence;
  std::vector<std::string> operators, kernels, devices, tags;
  std::string direction;
  std::vector<std::pair<Site, std::string>> notes;
  bool by_name = false; // rests on an unresolved name
  std::optional<report::SourceRange> place; // of what is no code: a line of a build file
  std::vector<std::pair<const Value*, std::string>>
      replace; // what is written, and what mends the finding in its place
};

class Findings {
public:
  Findings(const rules::Rule& rule, const Registrations& registrations,
           const std::vector<std::string>& deterministic)
      : rule_(rule), registrations_(registrations), deterministic_(deterministic) {}
  /// Ignored when the rule has already spoken of this place.
  void add(Draft draft);
  std::vector<report::Finding> take() { return std::move(findings_); }
  const rules::Rule& rule() const { return rule_; }

private:
  bool is_known_deterministic(const Draft&) const;

  const rules::Rule& rule_;
  const Registrations& registrations_;
  const std::vector<std::string>& deterministic_; // globs of names
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> places_; // file, line, column
  std::vector<report::Finding> findings_;
};

struct Context {
  const Codebase& project;
  const rules::Registry& registry;
  const Effects& effects;
  const Evidence& evidence;
  Execution& execution;
  const std::unordered_map<const Event*, Reached>& reached;
  const std::vector<BuildFlag>& build_flags;
};

report::SourceRange source_of(const Site&);
/// "high" → "medium" → "low".
std::string lowered(const std::string& confidence);
/// "the call in train() at line 12" style names would be noise: the callee as the program writes it.
std::string shown_name(const Event&);

// One judge a family; each reads what its rules' options say.
void judge_seeding(const Context&, Findings&);
void judge_knobs(const Context&, Findings&);
void judge_operators(const Context&, Findings&);
void judge_atomics(const Context&, Findings&);
void judge_calls(const Context&, Findings&);
void judge_kernel_races(const Context&, Findings&);
void judge_consumed_atomics(const Context&, Findings&);
void judge_clock_values(const Context&, Findings&);
void judge_uninitialised(const Context&, Findings&);
void judge_streams(const Context&, Findings&);
void judge_blobs(const Context&, Findings&);
void judge_splits(const Context&, Findings&);
void judge_barriers(const Context&, Findings&);
void judge_order(const Context&, Findings&);
void judge_allocations(const Context&, Findings&);
void judge_loss_scaling(const Context&, Findings&);
void judge_uses(const Context&, Findings&);
void judge_threads(const Context&, Findings&);
void judge_timing(const Context&, Findings&);
void judge_build(const Context&, Findings&);

} // namespace reprobe::scan
