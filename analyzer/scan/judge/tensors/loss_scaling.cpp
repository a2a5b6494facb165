// Family `loss-scaling`: losses multiplied by hand before backward(), as half precision needs it. LibTorch's
// C++ has no class that does it.
//
// Rows of the table: finite-check (looks for infinities and NaN), unscale (divides the gradients again),
// clip.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;
using Names = std::set<std::string, std::less<>>;

Names names_with_role(const json& table, std::string_view role) {
  Names names;
  for (const json& row : table)
    if (row.at("role") == role)
      for (const json& name : row.at("members"))
        names.insert(name.get<std::string>());
  return names;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_scale(const Value& value) {
  if (value.kind == Value::Kind::variable) {
    const std::string name = lower(last_part(value.text));
    return name.find("scale") != std::string::npos && name.find("factor") == std::string::npos;
  }
  return std::any_of(value.operands.begin(), value.operands.end(), is_scale);
}

bool multiplies_by_scale(const Event& event) {
  static const Names products = {"operator*", "mul", "mul_", "multiply", "operator*="};
  return products.contains(last_part(event.callee)) &&
         std::any_of(event.arguments.begin(), event.arguments.end(), is_scale);
}

// `(loss * scale).backward()`, or a variable that was made so.
bool is_scaled(const Codebase& project, FunctionRef in, const Value& loss) {
  if (loss.kind == Value::Kind::call) {
    const Event* event = event_of(*in.function, loss.event);
    return event && multiplies_by_scale(*event);
  }
  if (loss.kind != Value::Kind::variable)
    return false;
  const std::vector<Site> definitions = project.definitions(loss.id, in);
  return std::any_of(definitions.begin(), definitions.end(), [&](const Site& site) {
    return site.in == in &&
           std::any_of(site.event->arguments.begin(), site.event->arguments.end(), [&](const Value& v) {
             const Event* event = v.kind == Value::Kind::call ? event_of(*in.function, v.event) : nullptr;
             return event && multiplies_by_scale(*event);
           });
  });
}

bool names_one_of(const Event& event, const Names& names) {
  return event.kind == Event::Kind::call && names.contains(last_part(event.callee));
}

bool program_calls(const Context& context, FunctionRef in, const Names& names) {
  for (const Program* program : context.evidence.programs_of(in.function))
    for (const Function* function : program->functions)
      for (const Event& event : function->events)
        if (names_one_of(event, names))
          return true;
  return false;
}

void add(Findings& findings, const Site& site, std::string message, std::string fix) {
  Draft draft;
  draft.site = site;
  draft.message = std::move(message);
  draft.fix = std::move(fix);
  findings.add(std::move(draft));
}

void judge_backward(const Context& context, const json& table, const Site& backward, Findings& findings) {
  if (!program_calls(context, backward.in, names_with_role(table, "finite-check")))
    add(findings, backward,
        "the loss is scaled by hand, and nothing looks for infinite gradients before the step: one overflow "
        "ruins the "
        "weights in one run and not in another",
        findings.rule().fix);
  const Names unscale = names_with_role(table, "unscale"), clip = names_with_role(table, "clip");
  bool unscaled = false;
  for (const Event& event : backward.in.function->events) {
    if (event.id <= backward.event->id)
      continue;
    unscaled |=
        names_one_of(event, unscale) || lower(last_part(event.callee)).find("unscale") != std::string::npos;
    if (!unscaled && names_one_of(event, clip))
      add(findings, {backward.in, &event},
          fmt::format("{} clips gradients that are still multiplied by the loss scale: how much it clips "
                      "depends on the "
                      "scale",
                      shown_name(event)),
          "divide the gradients by the scale before clipping them");
  }
}

} // namespace

void judge_loss_scaling(const Context& context, Findings& findings) {
  const json& table = context.registry.table(findings.rule().options.at("table").get<std::string>());
  for (const FunctionRef& ref : context.project.functions()) {
    if (!context.evidence.may_be_half(ref.function))
      continue;
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call && (event.external || !event.resolved) && event.receiver &&
          last_part(event.callee) == "backward" && is_scaled(context.project, ref, *event.receiver))
        judge_backward(context, table, {ref, &event}, findings);
  }
}

} // namespace reprobe::scan
