// Family `operators`: calls and modules that reach an ATen operator whose result or gradient varies.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/call_conditions.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/tensors/gradient_flow.h"
#include "analyzer/scan/judge/tensors/operator_rows.h"
#include "analyzer/scan/judge/tensors/tensors.h"
#include "analyzer/scan/judge/versions.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool contains(const json& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(), [&](const json& item) { return item == word; });
}

// The tensors whose type and device decide: the one worked on, and what is added to it.
std::vector<const Value*> operands(const OperatorCall& call) {
  std::vector<const Value*> out;
  if (const Value* self = first_tensor(call))
    out.push_back(self);
  return out;
}

bool only_integers(const Context& context, const OperatorCall& call) {
  const std::vector<const Value*> tensors = operands(call);
  return std::any_of(tensors.begin(), tensors.end(), [&](const Value* tensor) {
    return traits_of(context.project, call.site.in, *tensor, call.site.event->id).data ==
           TensorTraits::Data::integer;
  });
}

bool on_the_cpu(const Context& context, const OperatorCall& call) {
  const std::vector<const Value*> tensors = operands(call);
  return std::any_of(tensors.begin(), tensors.end(), [&](const Value* tensor) {
    return traits_of(context.project, call.site.in, *tensor, call.site.event->id).device ==
           TensorTraits::Device::cpu;
  });
}

bool needs_gradient(const Context& context, const OperatorCall& call) {
  if (!context.evidence.may_train(call.site.in.function))
    return false;
  const auto reached = context.reached.find(call.site.event);
  if (reached != context.reached.end() && !reached->second.with_gradients)
    return false;
  if (is_inside_autograd_function(*call.site.in.function))
    return false;
  // What a layer's constructor makes is called elsewhere.
  if (call.site.event->kind == Event::Kind::call &&
      !may_be_differentiated(context.project, call.site.in, *call.site.event))
    return false;
  const Value* tensor = first_tensor(call);
  return !tensor || traits_of(context.project, call.site.in, *tensor, call.site.event->id).gradient !=
                        TensorTraits::Gradient::none;
}

Applies version_of(const OperatorCall& call, const json& row) {
  return version_applies(*call.site.in.unit, row.value("since", ""), row.value("until", ""));
}

bool applies(const Context& context, const OperatorCall& call, const json& row) {
  if (version_of(call, row) == Applies::no)
    return false;
  const json devices = row.value("devices", json::array());
  if (!contains(devices, "cpu") &&
      (!context.evidence.may_use_cuda(call.site.in.function) || on_the_cpu(context, call)))
    return false;
  const json dtypes = row.value("dtypes", json::array());
  if (!dtypes.empty() && !contains(dtypes, "integer") && only_integers(context, call))
    return false;
  for (const json& condition : row.value("when", json::array()))
    if (!holds(context, call, condition))
      return false;
  for (const json& condition : row.value("unless", json::array()))
    if (holds(context, call, condition))
      return false;
  return row.at("direction") != "backward" || needs_gradient(context, call);
}

Reached state_at(const Context& context, const Event* event) {
  const auto found = context.reached.find(event);
  return found == context.reached.end() ? Reached{true, false, false, true, false} : found->second;
}

std::string consequence(const std::string& strict, const Reached& state, bool& silenced) {
  silenced = false;
  if (state.strict && !state.not_strict && !state.warn_only) {
    if (strict == "throws")
      return "; deterministic algorithms are on, so this call throws";
    silenced = strict == "switches" || strict == "switches-strict-only" || strict == "deterministic";
    return {};
  }
  if (state.warn_only && strict == "throws")
    return "; with warn_only it only warns and still varies";
  if (state.warn_only && strict == "switches") {
    silenced =
        state.strict && !state.not_strict; // warn_only does not keep the deterministic path from being taken
    return {};
  }
  return {};
}

Draft draft_of(const Context& context, const OperatorCall& call, const json& row, const std::string& tail) {
  const std::string direction = row.at("direction");
  Draft draft;
  draft.site = call.site;
  const std::string where = contains(row.at("devices"), "cpu") ? "" : " on CUDA";
  const std::string what = direction == "backward" ? "the gradient of " + shown_name(*call.site.event)
                                                   : "the result of " + shown_name(*call.site.event);
  draft.message = fmt::format("{} varies from run to run{}: {}{}", what, where,
                              row.at("mechanism").get<std::string>(), tail);
  draft.fix = row.at("fix");
  draft.direction = direction;
  draft.operators = operators_of(row);
  for (const json& device : row.at("devices"))
    draft.devices.push_back(device);
  draft.tags = {row.at("catalog").get<std::string>()};
  draft.confidence = row.value("confidence", "high");
  if (!context.evidence.programs_of(call.site.in.function).front()->main)
    draft.confidence = lowered(draft.confidence);
  if (version_of(call, row) == Applies::unsure)
    draft.confidence = "low";
  return draft;
}

} // namespace

std::vector<std::string> operators_of(const json& row) {
  std::vector<std::string> out = {row.at("operator").get<std::string>()};
  if (row.at("direction") != "backward" && !out[0].ends_with("_"))
    out.push_back(out[0] + "_");
  for (const json& name : row.value("backward_operators", json::array()))
    out.push_back(name.get<std::string>());
  return out;
}

bool is_inside_autograd_function(const Function& function) {
  const std::string name = last_part(function.name);
  return (name == "forward" || name == "backward") && !function.parameters.empty() &&
         function.parameters[0].type.find("AutogradContext") != std::string::npos;
}

std::vector<OperatorUse> operator_uses(const Context& context, bool reported_only) {
  const SymbolIndex index(context.registry.table("operators"));
  std::vector<OperatorUse> uses;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
        continue;
      if (event.kind == Event::Kind::construct && event.arguments.size() == 1 &&
          event.arguments[0].kind == Value::Kind::null)
        continue;
      for (const SymbolIndex::Match& match : index.find(event)) {
        const json& row = *match.row;
        if (reported_only && !row.value("report", true))
          continue;
        const OperatorCall call{{ref, &event}, match.method && event.receiver.has_value()};
        if (applies(context, call, row))
          uses.push_back({call, &row, match.by_name});
      }
    }
  return uses;
}

void judge_operators(const Context& context, Findings& findings) {
  for (const OperatorUse& use : operator_uses(context, true)) {
    const std::string strict = use.row->at("strict");
    if (strict == "deterministic")
      continue;
    bool silenced = false;
    const std::string tail = consequence(strict, state_at(context, use.call.site.event), silenced);
    if (silenced)
      continue;
    Draft draft = draft_of(context, use.call, *use.row, tail);
    draft.by_name = use.by_name;
    findings.add(std::move(draft));
  }
}

} // namespace reprobe::scan
