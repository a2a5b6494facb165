#include "analyzer/scan/judge/judge.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/operator_rows.h"
#include "rules/error.h"

#include <algorithm>
#include <fnmatch.h>
#include <tuple>

namespace reprobe::scan {
namespace {

using Judge = void (*)(const Context&, Findings&);
const std::map<std::string, Judge, std::less<>> kJudges = {{"seeding", judge_seeding},
                                                           {"knobs", judge_knobs},
                                                           {"operators", judge_operators},
                                                           {"atomics", judge_atomics},
                                                           {"calls", judge_calls},
                                                           {"kernel-races", judge_kernel_races},
                                                           {"consumed-atomics", judge_consumed_atomics},
                                                           {"clock-values", judge_clock_values},
                                                           {"uninitialised", judge_uninitialised},
                                                           {"streams", judge_streams},
                                                           {"barriers", judge_barriers},
                                                           {"order", judge_order},
                                                           {"uses", judge_uses},
                                                           {"threads", judge_threads},
                                                           {"timing", judge_timing},
                                                           {"build", judge_build}};

bool is_selected(const rules::Rule& rule, const std::vector<std::string>& globs) {
  return globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
           return fnmatch(glob.c_str(), rule.id.c_str(), 0) == 0;
         });
}

std::string severity_at(const rules::Rule& rule, const std::string& stage) {
  const auto severity = rule.severity.find(stage);
  if (severity == rule.severity.end())
    throw Error("no such stage", stage, "", "one of prototype, tuning, paper, deploy");
  return severity->second;
}

// One run over all paths: in which states each operator is reached.
std::unordered_map<const Event*, Reached> states_at_operators(const Codebase& project, Execution& execution,
                                                              const SymbolIndex& operators) {
  std::unordered_map<const Event*, Reached> reached;
  const bool any = std::any_of(project.functions().begin(), project.functions().end(), [&](const FunctionRef& ref) {
    return std::any_of(ref.function->events.begin(), ref.function->events.end(),
                       [&](const Event& event) { return !operators.find(event).empty(); });
  });
  if (!any)
    return reached; // all those paths would show nothing
  for (const FunctionRef& root : execution.roots())
    execution.run(root, [&](const Site& site, const World& world) {
      if (operators.find(*site.event).empty())
        return;
      Reached& state = reached[site.event];
      state.with_gradients |= world.may_be("grad", true, true);
      state.without_gradients |= world.may_be("grad", false, true);
      state.strict |= world.may_be("algorithms.deterministic", true);
      state.not_strict |= world.may_be("algorithms.deterministic", false);
      state.warn_only |=
          world.may_be("algorithms.deterministic", true) && world.may_be("algorithms.warn-only", true);
    });
  return reached;
}

} // namespace

report::SourceRange source_of(const Site& site) {
  const TranslationUnit& unit = *site.in.unit;
  if (!site.event) {
    const Range& range = site.in.function->range;
    return {file_of(unit, range.begin), range.begin.line, range.begin.column, 0, 0};
  }
  const Position& name = site.event->name.line ? site.event->name : site.event->range.begin;
  const Position& end = site.event->range.end;
  const bool usable = end.file == name.file && end.offset > name.offset;
  return {file_of(unit, name), name.line, name.column, usable ? end.line : 0, usable ? end.column : 0};
}

std::string lowered(const std::string& confidence) {
  return confidence == "high" ? "medium" : "low";
}

std::string shown_name(const Event& event) {
  std::string name = plain_name(
      event.kind == Event::Kind::construct && !event.result_type.empty() ? event.result_type : event.callee);
  if (name.rfind("torch::nn::", 0) == 0 && name.ends_with("Impl"))
    name.resize(name.size() - 4);
  if (name.rfind("at::Tensor::", 0) == 0)
    name.erase(0, 12);
  else if (name.rfind("at::Context::", 0) == 0)
    name.erase(0, 13);
  else if (name.rfind("at::", 0) == 0)
    name = "torch::" + name.substr(4);
  // libstdc++'s own bases are nobody's names.
  for (const std::string base : {"std::__atomic_float::", "std::__atomic_base::"})
    if (name.rfind(base, 0) == 0)
      name = "std::atomic::" + name.substr(base.size());
  return name;
}

void Findings::add(Draft draft) {
  report::Finding finding;
  finding.source = draft.place ? *draft.place : source_of(draft.site);
  if (!places_.insert({finding.source.file, finding.source.line, finding.source.column}).second)
    return;
  finding.rule = rule_.id;
  finding.severity = severity_;
  finding.confidence = draft.confidence.empty() ? rule_.confidence : draft.confidence;
  finding.message = std::move(draft.message);
  finding.fix = std::move(draft.fix);
  finding.operators = std::move(draft.operators);
  if (const TranslationUnit* unit = draft.site.in.unit) {
    // Unresolved names, and declarations instead of headers, may be something else than they seem.
    if ((unit->status != "full" && draft.by_name) || unit->libtorch_version == "declarations")
      finding.confidence = lowered(finding.confidence);
    finding.function = draft.site.in.function->name;
    // What varies inside an operator of the project's own is measured as that operator.
    if (finding.operators.empty())
      finding.operators = registrations_.operators_run_by(draft.site.in.function);
  }
  finding.direction = std::move(draft.direction);
  finding.kernels = std::move(draft.kernels);
  finding.devices = std::move(draft.devices);
  finding.tags = draft.tags.empty() ? rule_.tags : std::move(draft.tags);
  for (auto& [site, message] : draft.notes)
    finding.notes.push_back({source_of(site), std::move(message)});
  findings_.push_back(std::move(finding));
}

report::Findings judge(const std::vector<TranslationUnit>& units, const rules::Registry& registry,
                       const Options& options, const std::vector<BuildFlag>& build_flags) {
  report::Findings out;
  out.stage = options.stage;
  const Codebase project(units);
  const Effects effects(project, registry);
  const Evidence evidence(project);
  const Registrations registrations(project);
  const SymbolIndex operators(registry.table("operators"));
  Execution execution(project, effects, [&](const Event& event) { return !operators.find(event).empty(); });
  const auto reached = states_at_operators(project, execution, operators);
  const Context context{project, registry, effects, evidence, execution, reached, build_flags};
  for (const rules::Rule& rule : registry.rules()) {
    const std::string severity = severity_at(rule, options.stage);
    if (!is_selected(rule, options.rules) || severity == "off")
      continue;
    const auto judge_family = kJudges.find(rule.family);
    if (judge_family == kJudges.end())
      throw Error("no such family", "rules/checks/" + rule.id + ".yaml", rule.family,
                  "rebuild the analyzer with the rules", 3);
    Findings findings(rule, severity, registrations);
    judge_family->second(context, findings);
    for (report::Finding& finding : findings.take())
      out.findings.push_back(std::move(finding));
  }
  const auto place = [](const report::Finding& f) {
    return std::tie(f.source.file, f.source.line, f.source.column, f.rule);
  };
  std::sort(out.findings.begin(), out.findings.end(),
            [&](const report::Finding& a, const report::Finding& b) { return place(a) < place(b); });
  return out;
}

} // namespace reprobe::scan
