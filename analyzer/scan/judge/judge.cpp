#include "analyzer/scan/judge/judge.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/tensors/operator_rows.h"
#include "analyzer/scan/judge/suppressions.h"
#include "rules/error.h"

#include <algorithm>
#include <chrono>
#include <fnmatch.h>
#include <tuple>

namespace reprobe::scan {
namespace {

constexpr const char* kNeedsWholeProject = "needs the whole project, of which only a part was examined";

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
                                                           {"blobs", judge_blobs},
                                                           {"splits", judge_splits},
                                                           {"barriers", judge_barriers},
                                                           {"allocations", judge_allocations},
                                                           {"loss-scaling", judge_loss_scaling},
                                                           {"order", judge_order},
                                                           {"uses", judge_uses},
                                                           {"threads", judge_threads},
                                                           {"timing", judge_timing},
                                                           {"build", judge_build}};

std::string stage_severity(const rules::Rule& rule, const std::string& file, const Options& options) {
  if (options.severity)
    return options.severity(rule, file);
  const auto severity = rule.severity.find(options.stage);
  if (severity == rule.severity.end())
    throw Error("no such stage", options.stage, "", "one of prototype, tuning, paper, deploy");
  return severity->second;
}

// Of a rule's findings in a file; "off" also where the options leave the rule out.
std::string severity_of(const rules::Rule& rule, const std::string& file, const Options& options) {
  return is_selected(rule, options.rules) ? stage_severity(rule, file, options) : "off";
}

// Whether some file may want the rule: where files have severities of their own every selected rule is
// judged.
bool is_wanted(const rules::Rule& rule, const Options& options) {
  return options.severity ? is_selected(rule, options.rules) : severity_of(rule, {}, options) != "off";
}

// A rule whose option `yields-to` names others is silent where one of them speaks: they say the same, and
// more.
void leave_to_others(const rules::Registry& registry, std::vector<report::Finding>& findings) {
  std::set<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>> spoken;
  for (const report::Finding& f : findings)
    spoken.insert({f.rule, f.source.file, f.source.line, f.source.column});
  std::erase_if(findings, [&](const report::Finding& f) {
    const auto& others = registry.find(f.rule)->options.value("yields-to", std::vector<std::string>{});
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
      return spoken.contains({other, f.source.file, f.source.line, f.source.column});
    });
  });
}

// One run over all paths: in which states each operator is reached.
std::unordered_map<const Event*, Reached> states_at_operators(const Codebase& project, Execution& execution,
                                                              const SymbolIndex& operators) {
  std::unordered_map<const Event*, Reached> reached;
  const bool any =
      std::any_of(project.functions().begin(), project.functions().end(), [&](const FunctionRef& ref) {
        return std::any_of(ref.function->events.begin(), ref.function->events.end(),
                           [&](const Event& event) { return !operators.find(event).empty(); });
      });
  if (!any)
    return reached; // all those paths would show nothing
  const Execution::Names asked = {"grad", "algorithms.deterministic", "algorithms.warn-only"};
  execution.run_all(asked, [&](const Site& site, const World& world) {
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

// As in clang-tidy the last glob that matches decides; a list that starts with "-glob" starts from all rules.
bool is_selected(const rules::Rule& rule, const std::vector<std::string>& globs) {
  bool selected = globs.empty() || globs.front().starts_with('-');
  for (const std::string& glob : globs) {
    const bool excludes = glob.starts_with('-');
    if (fnmatch(glob.c_str() + excludes, rule.id.c_str(), 0) == 0)
      selected = !excludes;
  }
  return selected;
}

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

// The project says so of the function around it, of what is called, or of the operators and kernels that
// vary.
bool Findings::is_known_deterministic(const Draft& draft) const {
  std::vector<std::string> names;
  if (draft.site.in.function)
    names.push_back(draft.site.in.function->name);
  if (draft.site.event && !draft.site.event->callee.empty())
    names.push_back(plain_name(draft.site.event->callee));
  for (const auto* more : {&draft.operators, &draft.kernels})
    names.insert(names.end(), more->begin(), more->end());
  return std::any_of(deterministic_.begin(), deterministic_.end(), [&](const std::string& glob) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
  });
}

namespace {

// The name alone: a qualifier before it stays.
report::Replacement replacement_of(const TranslationUnit& unit, const Value& value,
                                   const std::string& after) {
  report::Replacement out;
  const std::string name = value.kind == Value::Kind::enumerator ? last_part(value.text) : value.source;
  const auto skipped = static_cast<std::uint32_t>(
      value.length > name.size() && value.source.ends_with(name) ? value.length - name.size() : 0);
  out.source = {file_of(unit, value.at), value.at.line, value.at.column + skipped, value.at.line,
                value.at.column + value.length};
  out.offset = value.at.offset + skipped;
  out.length = value.length - skipped;
  out.before = name;
  out.after = after;
  out.digest = unit.files[value.at.file].digest;
  return out;
}

// All or nothing: half a fix is none.
std::vector<report::Replacement> replacements_of(const TranslationUnit& unit, const Draft& draft) {
  std::vector<report::Replacement> out;
  for (const auto& [value, after] : draft.replace) {
    if (value->length == 0 || value->at.file >= unit.files.size() ||
        unit.files[value->at.file].digest.empty())
      return {};
    out.push_back(replacement_of(unit, *value, after));
    if (out.back().length != out.back().before.size())
      return {}; // written over several lines, or under another name
  }
  return out;
}

} // namespace

void Findings::add(Draft draft) {
  report::Finding finding;
  finding.source = draft.place ? *draft.place : source_of(draft.site);
  if (!places_.insert({finding.source.file, finding.source.line, finding.source.column}).second)
    return;
  if (is_known_deterministic(draft))
    return;
  finding.rule = rule_.id;
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
    finding.replacements = replacements_of(*unit, draft);
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
                       const Options& options, const std::vector<BuildFlag>& build_flags,
                       bool whole_project) {
  report::Findings out;
  out.stage = options.stage;
  const Codebase project(units);
  const Effects effects(project, registry);
  const Evidence evidence(project);
  const Registrations registrations(project);
  const SymbolIndex operators(registry.table("operators"));
  Execution execution(project, effects, [&](const Event& event) {
    return !effects.of(&event).empty() || !operators.find(event).empty();
  });
  const auto reached = states_at_operators(project, execution, operators);
  const Context context{project, registry, effects, evidence, execution, reached, build_flags};
  // Comments are unused only if the rules that they name, shown or not, find nothing.
  const rules::Rule* unused = registry.find("unused-suppression");
  const bool wants_unused = unused && is_wanted(*unused, options);
  if (wants_unused && !whole_project)
    out.not_judged.push_back({unused->id, kNeedsWholeProject}); // what they suppress may lie elsewhere
  if (!wants_unused || !whole_project)
    unused = nullptr;
  for (const rules::Rule& rule : registry.rules()) {
    if (rule.family == "suppressions" || (!unused && !is_wanted(rule, options)))
      continue;
    if (rule.scope == rules::Scope::project && !whole_project) {
      out.not_judged.push_back({rule.id, kNeedsWholeProject});
      continue;
    }
    const auto judge_family = kJudges.find(rule.family);
    if (judge_family == kJudges.end())
      throw Error("no such family", "rules/checks/" + rule.id + ".yaml", rule.family,
                  "rebuild the analyzer with the rules", 3);
    const auto start = std::chrono::steady_clock::now();
    Findings findings(rule, registrations, options.deterministic);
    judge_family->second(context, findings);
    for (report::Finding& finding : findings.take())
      out.findings.push_back(std::move(finding));
    if (options.rule_times)
      (*options.rule_times)[rule.id] += std::chrono::steady_clock::now() - start;
  }
  apply_suppressions(
      units, registry, unused,
      [&](const rules::Rule& rule, const std::string& file) {
        return stage_severity(rule, file, options) != "off";
      },
      out);
  for (auto* findings : {&out.findings, &out.suppressed}) {
    for (report::Finding& finding : *findings)
      finding.severity = severity_of(*registry.find(finding.rule), finding.source.file, options);
    std::erase_if(*findings, [](const report::Finding& finding) { return finding.severity == "off"; });
  }
  leave_to_others(registry, out.findings);
  const auto place = [](const report::Finding& f) {
    return std::tie(f.source.file, f.source.line, f.source.column, f.rule);
  };
  for (auto* findings : {&out.findings, &out.suppressed})
    std::sort(findings->begin(), findings->end(),
              [&](const report::Finding& a, const report::Finding& b) { return place(a) < place(b); });
  return out;
}

} // namespace reprobe::scan
