// Family `splits`: sums whose grouping follows the machine's size.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool mentions(const Value& value, const char* name) {
  bool found = false;
  for_each_value(value, [&](const Value& part) { found = found || last_part(part.text) == name; });
  return found;
}

// The property of the machine that decides `value`, or nothing.
std::string machine_property(const Context& context, FunctionRef in, const Value& value) {
  const json& names = context.registry.table("splits").at(0).at("names");
  std::string found;
  const auto look = [&](const std::string& name) {
    if (found.empty() && std::find(names.begin(), names.end(), name) != names.end())
      found = name;
  };
  walk(context.project, in, value, {.parameters = true}, [&](const Visit& visit) {
    look(last_part(visit.value->text));
    // f(&x): what the function writes there.
    if (visit.value->kind == Value::Kind::variable && !visit.value->id.empty())
      for (const Event& event : visit.in.function->events)
        for (const Value& argument : event.arguments)
          if (argument.kind == Value::Kind::compound && argument.text == "&" && !argument.operands.empty() &&
              argument.operands[0].id == visit.value->id)
            look(last_part(event.callee));
    return found.empty();
  });
  return found;
}

// A step by the whole grid's width: `i += blockDim.x * gridDim.x`.
bool is_grid_stride(const Context& context, FunctionRef kernel, const Event& event) {
  if (event.kind != Event::Kind::assign || event.arguments.empty() || (event.text != "+=" && event.text != "="))
    return false;
  bool found = false;
  walk(context.project, kernel, event.arguments[0], {.calls = false, .results = false}, [&](const Visit& visit) {
    found = found || mentions(*visit.value, "gridDim");
    return !found;
  });
  return found;
}

// What a thread sums over its share of the grid: another grid, other partial sums. A variable that is declared
// inside the loop starts anew with each element.
const Event* grid_sum(const Context& context, FunctionRef kernel) {
  const Function& function = *kernel.function;
  for (const Event& stride : function.events) {
    const Block* step = is_grid_stride(context, kernel, stride) ? block_of(function, stride) : nullptr;
    if (!step)
      continue;
    for (const Event& sum : function.events) {
      if (sum.kind != Event::Kind::assign || sum.text != "+=" || !sum.receiver ||
          sum.receiver->kind != Value::Kind::variable || !is_floating_type(sum.receiver->type))
        continue;
      const Block* adds = block_of(function, sum);
      const auto declared = std::find_if(function.events.begin(), function.events.end(), [&](const Event& event) {
        return event.kind == Event::Kind::declare && event.variable_id == sum.receiver->id;
      });
      const Block* start = declared == function.events.end() ? nullptr : block_of(function, *declared);
      if (adds && start && share_loop(function, *adds, *step) && !share_loop(function, *start, *step))
        return &sum;
    }
  }
  return nullptr;
}

} // namespace

void judge_splits(const Context& context, Findings& findings) {
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      if (!event.launch || event.configuration.empty())
        continue;
      const FunctionRef kernel = context.project.definition(event.callee_usr, *ref.unit);
      const Event* sum = kernel ? grid_sum(context, kernel) : nullptr;
      const std::string property =
          sum ? machine_property(context, ref, event.configuration[0]) : std::string();
      if (property.empty())
        continue;
      Draft draft;
      draft.site = {ref, &event};
      draft.message = fmt::format("the grid follows {}, and {} sums over it: another GPU groups the sum otherwise",
                                  property, last_part(event.callee));
      draft.fix = findings.rule().fix;
      draft.kernels = {last_part(event.callee)};
      draft.devices = {"cuda"};
      draft.notes.emplace_back(Site{kernel, sum}, "summed here");
      findings.add(std::move(draft));
    }
}

} // namespace reprobe::scan
