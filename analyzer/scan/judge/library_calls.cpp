// Family `calls`: calls of libraries, and constants given to them, that let results vary; as rows of a table.
//
// A row speaks of `symbols` (functions, methods, classes that are constructed) or of `names` (enumerators
// that are passed, assigned or returned). Conditions (`when`: all must hold, `unless`: none may):
//
// argument          index, any: the argument may be one of these enumerators or strings
// constants-at-least  left, right: argument numbers in pairs; each left is a constant not below its right
// template-argument any: a template argument of the call or of its object contains this text
// floating          arguments: one of them (none given: any) points to or iterates over floating-point
// numbers mentions          any: a name occurs in what the arguments are made of function-mentions any: a
// name (field, enumerator, variable, function) occurs in the function, its callers or its callees called
// symbols: the program calls one of them; with `several` at two places or in a loop environment variable: the
// program sets it includes          text: the file includes a header whose name contains this
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool contains(const json& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const json& n) { return n == name; });
}

bool contains_part(const json& parts, const std::string& text) {
  return std::any_of(parts.begin(), parts.end(), [&](const json& part) {
    return text.find(part.get<std::string>()) != std::string::npos;
  });
}

bool is_named(const Value& value, const json& names) {
  const bool named = value.kind == Value::Kind::enumerator ||
                     value.kind == Value::Kind::variable; // undeclared where the header is missing
  return named && contains(names, last_part(value.text));
}

// The value itself, or a branch of a conditional: not what it is compared with.
const Value* chosen(const Value& value, const json& names) {
  if (is_named(value, names))
    return &value;
  if (value.kind != Value::Kind::compound)
    return nullptr;
  const bool passes = value.text == "?:" || value.text == "cast" || value.text == "{}" || value.text == "|";
  if (!passes)
    return nullptr;
  for (std::size_t i = value.text == "?:" && value.operands.size() == 3 ? 1 : 0; i < value.operands.size();
       ++i)
    if (const Value* found = chosen(value.operands[i], names))
      return found;
  return nullptr;
}

bool holds_floating(const std::string& type) {
  if (is_floating_type(type))
    return true;
  const std::vector<std::string> arguments = template_arguments_of(type);
  return std::any_of(arguments.begin(), arguments.end(), holds_floating);
}

bool may_be(const Context& context, const Site& site, const Value& argument, const json& names) {
  bool found = false;
  walk(context.project, site.in, argument, {.parameters = true, .calls = false}, [&](const Visit& visit) {
    const Value& value = *visit.value;
    found =
        found || is_named(value, names) || (value.kind == Value::Kind::string && contains(names, value.text));
    return !found;
  });
  return found;
}

bool mentions(const Context& context, const Site& site, const json& names) {
  bool found = false;
  for (const Value& argument : site.event->arguments)
    walk(context.project, site.in, argument, {.results = false}, [&](const Visit& visit) {
      found = found || contains(names, last_part(visit.value->text));
      return !found;
    });
  return found;
}

bool mentions(const Function& function, const json& names) {
  bool found = false;
  const auto look = [&](const Value& value) {
    for_each_value(value, [&](const Value& part) {
      found = found || contains(names, last_part(part.text)) ||
              (part.kind == Value::Kind::unknown && contains_part(names, part.source));
    });
  };
  for (const Event& event : function.events) {
    found = found || contains(names, last_part(event.callee));
    if (event.receiver)
      look(*event.receiver);
    for (const Value& argument : event.arguments)
      look(argument);
  }
  for (const Block& block : function.blocks)
    for (const Edge& edge : block.successors)
      if (edge.condition)
        look(*edge.condition);
  return found;
}

bool nearby_mentions(const Context& context, FunctionRef in, const json& names) {
  if (mentions(*in.function, names))
    return true;
  for (const Site& caller : context.project.callers(in.function))
    if (mentions(*caller.in.function, names))
      return true;
  for (const Event& event : in.function->events)
    for (const FunctionRef& callee : context.project.callees(in, event))
      if (mentions(*callee.function, names))
        return true;
  return false;
}

bool is_in_loop(const Function& function, const Event& event) {
  return std::any_of(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
    return block.in_loop &&
           std::find(block.events.begin(), block.events.end(), event.id) != block.events.end();
  });
}

// Calls `visit` for each call in the programs that run the function.
void for_each_call_of_programs(const Context& context, const Function* of,
                               const std::function<void(FunctionRef, const Event&)>& visit) {
  const std::vector<const Program*> programs = context.evidence.programs_of(of);
  for (const FunctionRef& ref : context.project.functions()) {
    const bool runs = std::any_of(programs.begin(), programs.end(), [&](const Program* program) {
      return !program->main || program->functions.contains(ref.function);
    });
    if (!runs)
      continue;
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
        visit(ref, event);
  }
}

bool is_called(const Context& context, const Site& site, const json& condition) {
  std::size_t places = 0;
  for_each_call_of_programs(context, site.in.function, [&](FunctionRef in, const Event& event) {
    if (contains(condition.at("symbols"), last_part(event.callee)))
      places += condition.value("several", false) && is_in_loop(*in.function, event) ? 2 : 1;
  });
  return places >= (condition.value("several", false) ? 2u : 1u);
}

bool sets_environment(const Context& context, const Site& site, const std::string& variable) {
  bool found = false;
  for_each_call_of_programs(context, site.in.function, [&](FunctionRef, const Event& event) {
    static const json kSetters = {"setenv", "putenv", "_putenv", "_putenv_s", "SetEnvironmentVariableA"};
    if (!contains(kSetters, last_part(event.callee)) || event.arguments.empty())
      return;
    for_each_value(event.arguments[0],
                   [&](const Value& value) { found = found || value.text.starts_with(variable); });
  });
  return found;
}

// Each constant of `left` is known and not below its constant of `right`.
bool constants_at_least(const Context& context, const Site& site, const json& condition) {
  const json &left = condition.at("left"), &right = condition.at("right");
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t a = left[i], b = right[i];
    if (std::max(a, b) >= site.event->arguments.size())
      return false;
    const auto first = constant_integer(context.project, site.in, site.event->arguments[a]);
    const auto second = constant_integer(context.project, site.in, site.event->arguments[b]);
    if (!first || !second || *first < *second)
      return false;
  }
  return true;
}

// `f(&x); … if (x > limit)`
bool is_compared(const Site& site, std::size_t index) {
  if (index >= site.event->arguments.size())
    return false;
  const Value* variable = root_variable(*site.in.function, site.event->arguments[index]);
  bool found = false;
  for (const Block& block : site.in.function->blocks)
    for (const Edge& edge : block.successors)
      if (edge.condition && variable)
        for_each_value(*edge.condition, [&](const Value& part) {
          found = found || (!part.id.empty() && part.id == variable->id);
        });
  return found;
}

bool is_floating(const Site& site, const json& condition) {
  const std::vector<Value>& arguments = site.event->arguments;
  if (!condition.contains("arguments"))
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const Value& a) { return holds_floating(a.type); });
  return std::any_of(condition["arguments"].begin(), condition["arguments"].end(), [&](const json& index) {
    const std::size_t at = index;
    return at < arguments.size() && holds_floating(arguments[at].type);
  });
}

bool has_template_argument(const Site& site, const json& parts) {
  const Event& event = *site.event;
  const auto& arguments = event.template_arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& argument) { return contains_part(parts, argument); }) ||
         contains_part(parts, event.result_type) ||
         (event.receiver && contains_part(parts, event.receiver->type));
}

bool includes_header(const TranslationUnit& unit, const std::string& text) {
  return std::any_of(unit.includes.begin(), unit.includes.end(),
                     [&](const std::string& name) { return name.find(text) != std::string::npos; });
}

using Test = bool (*)(const Context&, const Site&, const json&);
const std::map<std::string, Test, std::less<>> kTests = {
    {"argument",
     [](const Context& context, const Site& site, const json& condition) {
       const std::size_t index = condition.at("index");
       return index < site.event->arguments.size() &&
              may_be(context, site, site.event->arguments[index], condition.at("any"));
     }},
    {"constants-at-least", constants_at_least},
    {"template-argument",
     [](const Context&, const Site& site, const json& condition) {
       return has_template_argument(site, condition.at("any"));
     }},
    {"floating",
     [](const Context&, const Site& site, const json& condition) { return is_floating(site, condition); }},
    {"mentions", [](const Context& context, const Site& site,
                    const json& condition) { return mentions(context, site, condition.at("any")); }},
    {"function-mentions",
     [](const Context& context, const Site& site, const json& condition) {
       return nearby_mentions(context, site.in, condition.at("any"));
     }},
    {"compared", [](const Context&, const Site& site,
                    const json& condition) { return is_compared(site, condition.at("index")); }},
    {"called", is_called},
    {"environment",
     [](const Context& context, const Site& site, const json& condition) {
       return sets_environment(context, site, condition.at("variable"));
     }},
    {"includes", [](const Context&, const Site& site,
                    const json& condition) { return includes_header(*site.in.unit, condition.at("text")); }},
};

bool holds(const Context& context, const Site& site, const json& condition) {
  const auto test = kTests.find(condition.at("test").get<std::string>());
  return test != kTests.end() && test->second(context, site, condition);
}

bool applies(const Context& context, const Site& site, const json& row) {
  const json none = json::array();
  const json &when = row.contains("when") ? row["when"] : none,
             &unless = row.contains("unless") ? row["unless"] : none;
  return std::all_of(when.begin(), when.end(), [&](const json& c) { return holds(context, site, c); }) &&
         std::none_of(unless.begin(), unless.end(), [&](const json& c) { return holds(context, site, c); });
}

void add(const Site& site, const json& row, const std::string& name, bool by_name, Findings& findings,
         const Value* written = nullptr) {
  Draft draft;
  draft.site = site;
  draft.message = fmt::format("{}: {}", name, row.at("what").get<std::string>());
  draft.fix = row.at("fix");
  draft.confidence = row.value("confidence", findings.rule().confidence);
  draft.tags = {row.at("catalog").get<std::string>()};
  draft.devices = {row.value("device", "cuda")};
  draft.by_name = by_name;
  if (written && row.contains("replace"))
    draft.replace.emplace_back(written, row["replace"].get<std::string>());
  findings.add(std::move(draft));
}

// Methods of a class whose header is missing are known by their last part alone: rows say which header shows
// them.
bool is_member_by_name(const Event& event, const json& row) {
  return !event.resolved && event.receiver && row.value("members", false) &&
         std::any_of(row["symbols"].begin(), row["symbols"].end(), [&](const json& symbol) {
           return last_part(symbol.get<std::string>()) == last_part(event.callee);
         });
}

bool carries_values(const Event& event) {
  const bool compares = event.callee.find("operator==") != std::string::npos ||
                        event.callee.find("operator!=") != std::string::npos;
  return event.kind != Event::Kind::access && event.kind != Event::Kind::iterate && !compares;
}

const Value* named_argument(const Event& event, const json& names) {
  for (const Value& argument : event.arguments)
    if (const Value* found = chosen(argument, names))
      return found;
  return nullptr;
}

void judge_event(const Context& context, const Site& site, const SymbolIndex& symbols, const json& rows,
                 Findings& findings) {
  for (const SymbolIndex::Match& match : symbols.find(*site.event))
    if (applies(context, site, *match.row))
      add(site, *match.row, shown_name(*site.event), match.by_name || !site.event->resolved, findings);
  for (const json& row : rows) {
    if (row.contains("symbols")) {
      if (is_member_by_name(*site.event, row) && applies(context, site, row))
        add(site, row, last_part(site.event->callee), true, findings);
    } else if (carries_values(*site.event)) {
      if (const Value* name = named_argument(*site.event, row.at("names"));
          name && applies(context, site, row))
        add(site, row, last_part(name->text), false, findings, name);
    }
  }
}

} // namespace

void judge_calls(const Context& context, Findings& findings) {
  json rows = json::array();
  for (const json& row : context.registry.table("library-calls"))
    if (row.at("rule") == findings.rule().id)
      rows.push_back(row);
  const SymbolIndex symbols(rows);
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      judge_event(context, {ref, &event}, symbols, rows, findings);
}

} // namespace reprobe::scan
