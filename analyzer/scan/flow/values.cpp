#include "analyzer/scan/flow/values.h"

#include "analyzer/scan/flow/names.h"

#include <set>

namespace reprobe::scan {
void for_each_value(const Value& value, const std::function<void(const Value&)>& visit) {
  visit(value);
  for (const Value& operand : value.operands)
    for_each_value(operand, visit);
}

namespace {

class Walk {
public:
  Walk(const Codebase& project, const WalkOptions& options, const std::function<bool(const Visit&)>& visit)
      : project_(project), options_(options), visit_(visit) {}

  void go(FunctionRef in, const Value& value, int depth) {
    if (depth > options_.deepest)
      return;
    const Event* event = value.kind == Value::Kind::call ? event_of(*in.function, value.event) : nullptr;
    if (!visit_({in, &value, event}))
      return;
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
      const bool condition =
          value.kind == Value::Kind::compound && value.text == "?:" && i == 0 && value.operands.size() == 3;
      const bool object = value.kind == Value::Kind::variable; // a field's object is not what flows into it
      if (!condition && !object)
        go(in, value.operands[i], depth + 1);
    }
    if (event)
      from_call(in, *event, depth);
    if (value.kind == Value::Kind::variable && options_.variables)
      from_variable(in, value, depth);
  }

private:
  void from_call(FunctionRef in, const Event& event, int depth) {
    if (options_.calls && seen_.insert({in.function, std::to_string(event.id)}).second) {
      if (event.receiver)
        go(in, *event.receiver, depth + 1);
      for (const Value& argument : event.arguments)
        go(in, argument, depth + 1);
    }
    if (!options_.results)
      return;
    if (const FunctionRef callee = project_.definition(event.callee_usr, *in.unit);
        callee && seen_.insert({callee.function, "returns"}).second)
      for (const Value* returned : returned_values(*callee.function))
        go(callee, *returned, depth + 1);
  }

  void from_variable(FunctionRef in, const Value& variable, int depth) {
    if (variable.id.empty() || !seen_.insert({nullptr, variable.id}).second)
      return;
    for (const Site& site : project_.definitions(variable.id, in))
      from_definition(site, depth);
    if (options_.chained)
      from_methods(in, variable.id, depth);
    const int index = parameter_index(*in.function, variable.id);
    if (index < 0 || !options_.parameters)
      return;
    for (const Site& call : project_.callers(in.function))
      if (static_cast<std::size_t>(index) < call.event->arguments.size() &&
          project_.definition(call.event->callee_usr, *call.in.unit) == in)
        go(call.in, call.event->arguments[index], depth + 1);
  }

  void from_definition(const Site& site, int depth) {
    if (site.event->kind == Event::Kind::declare || site.event->kind == Event::Kind::assign ||
        is_object_assignment(*site.event)) {
      for (const Value& argument : site.event->arguments)
        go(site.in, argument, depth + 1);
      return;
    }
    Value made; // the variable holds what this call or constructor yields
    made.kind = Value::Kind::call;
    made.text = site.event->callee;
    made.type = site.event->result_type;
    made.event = site.event->id;
    go(site.in, made, depth + 1);
  }

  void from_methods(FunctionRef in, const std::string& id, int depth) {
    for (const Event& event : in.function->events)
      // `options.mode(x);` changes the variable; `options.dtype(t)` as an argument makes another object.
      if (event.kind == Event::Kind::call && !event.result_used && event.receiver && event.receiver->id == id)
        for (const Value& argument : event.arguments)
          go(in, argument, depth + 1);
  }

  const Codebase& project_;
  const WalkOptions& options_;
  const std::function<bool(const Visit&)>& visit_;
  std::set<std::pair<const Function*, std::string>> seen_;
};

} // namespace

const Value* root_variable(const Function& function, const Value& value) {
  if (value.kind == Value::Kind::variable)
    return &value;
  if (value.kind == Value::Kind::call) {
    const Event* event = event_of(function, value.event);
    if (!event)
      return nullptr;
    if (event->receiver)
      return root_variable(function, *event->receiver);
    // std::begin(v), std::move(v), std::back_inserter(v)
    return event->arguments.empty() ? nullptr : root_variable(function, event->arguments[0]);
  }
  for (const Value& operand : value.operands)
    if (const Value* root = root_variable(function, operand))
      return root;
  return nullptr;
}

int parameter_index(const Function& function, const std::string& id) {
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    if (!id.empty() && function.parameters[i].id == id)
      return static_cast<int>(i);
  return -1;
}

void walk(const Codebase& project, FunctionRef in, const Value& value, const WalkOptions& options,
          const std::function<bool(const Visit&)>& visit) {
  Walk(project, options, visit).go(in, value, 0);
}

std::vector<const Value*> returned_values(const Function& function) {
  std::vector<const Value*> values;
  for (const Event& event : function.events)
    if (event.kind == Event::Kind::returns)
      for (const Value& argument : event.arguments)
        values.push_back(&argument);
  return values;
}

std::optional<std::int64_t> constant_integer(const Codebase& project, FunctionRef in, const Value& value) {
  std::set<std::int64_t> found;
  bool known = true;
  walk(project, in, value, {.calls = false, .results = false}, [&](const Visit& visit) {
    const Value& v = *visit.value;
    if (v.kind == Value::Kind::integer || v.kind == Value::Kind::boolean || v.kind == Value::Kind::enumerator)
      found.insert(v.integer);
    else if (v.kind == Value::Kind::variable) {
      if (project.definitions(v.id, visit.in).empty() || parameter_index(*visit.in.function, v.id) >= 0)
        known = false;
    } else if (v.kind != Value::Kind::compound || v.text != "cast") {
      known = false;
    }
    return known;
  });
  return known && found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

} // namespace reprobe::scan
