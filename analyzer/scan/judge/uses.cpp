// Family `uses`: calls and objects that a table names, under conditions on their arguments.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

// `T**`, `std::vector<T*>::iterator`, `std::vector<T*>`: elements are compared by where they lie in memory.
bool holds_pointers(const std::string& type) {
  if (type.ends_with("**"))
    return true;
  const std::vector<std::string> arguments = template_arguments_of(type);
  if (arguments.empty())
    return false;
  const std::string& first = arguments[0];
  if (plain_name(type).find("iterator") != std::string::npos)
    return first.ends_with("**") || (first.ends_with("*") && first.find("_ptr<") != std::string::npos);
  return first.ends_with("*") || plain_name(first) == "std::shared_ptr" || plain_name(first) == "std::unique_ptr";
}

bool argument_fits(const Context& context, const Site& site, const json& row) {
  const std::size_t index = row.at("argument");
  if (index >= site.event->arguments.size())
    return row.value("default", false); // the default argument is meant as well
  const Value& argument = site.event->arguments[index];
  const auto known = constant_integer(context.project, site.in, argument);
  if (!known)
    return row.value("unknown", false);
  if (row.contains("is"))
    return *known == row["is"].get<std::int64_t>();
  return !row.contains("at-least") || *known >= row["at-least"].get<std::int64_t>();
}

bool fits(const Context& context, const Site& site, const json& row) {
  const Event& event = *site.event;
  if (row.contains("argument") && !argument_fits(context, site, row))
    return false;
  if (row.contains("arguments") && event.arguments.size() != row["arguments"].get<std::size_t>())
    return false;
  if (row.value("pointers", false) &&
      (event.arguments.empty() || !holds_pointers(event.arguments[0].type)))
    return false;
  if (row.contains("receiver-type")) {
    if (!event.receiver)
      return false;
    const json& parts = row["receiver-type"];
    if (std::none_of(parts.begin(), parts.end(), [&](const json& part) {
          return event.receiver->type.find(part.get<std::string>()) != std::string::npos;
        }))
      return false;
  }
  return true;
}

void report(const Site& site, const SymbolIndex::Match& match, Findings& findings) {
  const json& row = *match.row;
  Draft draft;
  draft.site = site;
  draft.message = fmt::format(fmt::runtime(row.at("message").get<std::string>()), shown_name(*site.event));
  draft.fix = row.value("fix", findings.rule().fix);
  draft.confidence = row.value("confidence", "");
  draft.by_name = match.by_name;
  draft.tags = {row.at("catalog").get<std::string>()};
  findings.add(std::move(draft));
}

} // namespace

void judge_uses(const Context& context, Findings& findings) {
  json rows = json::array();
  for (const json& row : context.registry.table("uses"))
    if (row.at("rule") == findings.rule().id)
      rows.push_back(row);
  const SymbolIndex index(rows, {"symbols", "types"});
  const bool once_a_file = findings.rule().options.value("once-a-file", false);
  std::set<std::pair<std::string, std::string>> seen;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
        continue;
      const Site site{ref, &event};
      for (const SymbolIndex::Match& match : index.find(event)) {
        if (!fits(context, site, *match.row))
          continue;
        if (once_a_file && !seen.insert({file_of(ref), match.row->at("symbols")[0]}).second)
          continue;
        report(site, match, findings);
        break;
      }
    }
}

} // namespace reprobe::scan
