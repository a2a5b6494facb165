// Family `enumerators`: constants and functions of C libraries that choose a non-deterministic algorithm.
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

// The value itself, or a branch of a conditional: not what it is compared with.
const Value* chosen(const Value& value, const json& names) {
  if (value.kind == Value::Kind::enumerator && contains(names, last_part(value.text)))
    return &value;
  if (value.kind == Value::Kind::variable && contains(names, value.text))
    return &value; // undeclared: the header is missing
  if (value.kind != Value::Kind::compound)
    return nullptr;
  const bool passes = value.text == "?:" || value.text == "cast" || value.text == "{}";
  if (!passes)
    return nullptr;
  for (std::size_t i = value.text == "?:" && value.operands.size() == 3 ? 1 : 0; i < value.operands.size();
       ++i)
    if (const Value* found = chosen(value.operands[i], names))
      return found;
  return nullptr;
}

bool is_used(const Context& context, const json& functions) {
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call && contains(functions, last_part(event.callee)))
        return true;
  return false;
}

// All given windows and strides are constants, and no window reaches into the next.
bool windows_apart(const Context& context, const Site& site, const json& windows) {
  if (last_part(site.event->callee) != windows.at("call"))
    return false;
  const json &window = windows.at("window"), &stride = windows.at("stride");
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::size_t w = window[i], s = stride[i];
    if (std::max(w, s) >= site.event->arguments.size())
      return false;
    const auto width = constant_integer(context.project, site.in, site.event->arguments[w]);
    const auto step = constant_integer(context.project, site.in, site.event->arguments[s]);
    if (!width || !step || *step < *width)
      return false;
  }
  return true;
}

void add(const Site& site, const json& row, const std::string& name, Findings& findings) {
  Draft draft;
  draft.site = site;
  draft.message = fmt::format("{}: {}", name, row.at("what").get<std::string>());
  draft.fix = row.at("fix");
  draft.confidence = row.value("confidence", findings.rule().confidence);
  draft.tags = {row.at("catalog").get<std::string>()};
  findings.add(std::move(draft));
}

void judge_event(const Context& context, const Site& site, const json& row, Findings& findings) {
  const Event& event = *site.event;
  if (event.kind == Event::Kind::call &&
      contains(row.value("functions", json::array()), last_part(event.callee)))
    return add(site, row, last_part(event.callee), findings);
  const bool carries = event.kind == Event::Kind::call || event.kind == Event::Kind::construct ||
                       event.kind == Event::Kind::declare || event.kind == Event::Kind::assign;
  if (!carries || event.callee.find("operator==") != std::string::npos ||
      event.callee.find("operator!=") != std::string::npos)
    return;
  for (const Value& argument : event.arguments)
    if (const Value* enumerator = chosen(argument, row.at("names"))) {
      if (row.contains("windows") && windows_apart(context, site, row["windows"]))
        return;
      return add(site, row, last_part(enumerator->text), findings);
    }
}

} // namespace

void judge_enumerators(const Context& context, Findings& findings) {
  for (const json& row : context.registry.table(findings.rule().options.value("table", "enumerators"))) {
    if (row.contains("used-by") && !is_used(context, row["used-by"]))
      continue;
    for (const FunctionRef& ref : context.project.functions())
      for (const Event& event : ref.function->events)
        judge_event(context, {ref, &event}, row, findings);
  }
}

} // namespace reprobe::scan
