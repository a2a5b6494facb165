// Family `order`: loops over sequences whose order the program does not decide, where the order reaches a
// result.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/host/loops.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

struct Sequence {
  const json* row = nullptr;
  std::string type; // as the facts have it
};

std::string without_reference(std::string type) {
  while (!type.empty() && (type.back() == '&' || type.back() == ' ' || type.back() == '*'))
    type.pop_back();
  if (type.rfind("const ", 0) == 0)
    type.erase(0, 6);
  return type;
}

const json* row_of_type(const json& table, const std::vector<std::string>& orders, const std::string& type) {
  const std::string name = plain_name(without_reference(type));
  for (const json& row : table) {
    if (std::find(orders.begin(), orders.end(), row.at("order").get<std::string>()) == orders.end())
      continue;
    for (const json& candidate : row.at("types"))
      if (candidate == name)
        return &row;
  }
  return nullptr;
}

bool yields_elements(const json& row, const Event& event) {
  const json functions = row.value("functions", json::array());
  return event.kind == Event::Kind::call &&
         std::any_of(functions.begin(), functions.end(),
                     [&](const json& f) { return f == last_part(event.callee); });
}

bool is_pointer_key(const std::string& type) {
  const std::vector<std::string> arguments = template_arguments_of(type);
  if (arguments.empty())
    return false;
  const std::string& key = arguments[0];
  return key.find('*') != std::string::npos || key.find("std::thread::id") != std::string::npos ||
         key.find("shared_ptr<") != std::string::npos || key.find("unique_ptr<") != std::string::npos;
}

// What the loop walks over: the range, the object of begin(), a directory iterator of its own, or readdir().
Sequence sequence_of(FunctionRef in, const Event& iterate, const json& table,
                     const std::vector<std::string>& orders) {
  std::vector<std::string> types;
  if (iterate.receiver) {
    types.push_back(iterate.receiver->type);
    if (const Value* root = root_variable(*in.function, *iterate.receiver);
        root && iterate.receiver->kind != Value::Kind::call)
      types.push_back(root->type);
  }
  for (const std::string& type : types)
    if (const json* row = row_of_type(table, orders, type))
      return {row, without_reference(type)};
  if (iterate.text == "range-for")
    return {};
  for (const Event* event : body_of(*in.function, iterate)) {
    for (const json& row : table)
      if (std::find(orders.begin(), orders.end(), row.at("order").get<std::string>()) != orders.end() &&
          yields_elements(row, *event))
        return {&row, last_part(event->callee)};
    // `for (auto it = directory_iterator(p); it != end; ++it)`
    if (event->receiver && last_part(event->callee) == "operator++")
      if (const json* row = row_of_type(table, orders, event->receiver->type);
          row && row->at("order") == "directory")
        return {row, without_reference(event->receiver->type)};
  }
  return {};
}

std::string described(const Sequence& sequence) {
  const std::string order = sequence.row->at("order");
  if (order == "directory")
    return "directory entries come in an order that the file system chooses";
  const std::string name = last_part(plain_name(sequence.type));
  if (order == "address" || is_pointer_key(sequence.type))
    return fmt::format("{} with pointer keys is walked in an order that depends on addresses", name);
  return fmt::format("{} is walked in an order that depends on the standard library and on hash values",
                     name);
}

// A set of pointers with an order of its own is in that order.
bool is_in_own_order(const Sequence& sequence) {
  if (!sequence.row->value("only-pointer-keys", false))
    return false;
  const std::vector<std::string> arguments = template_arguments_of(sequence.type);
  const std::size_t comparison = plain_name(sequence.type).find("map") != std::string::npos ? 2 : 1;
  return !is_pointer_key(sequence.type) ||
         (arguments.size() > comparison && arguments[comparison].find("std::less<") == std::string::npos);
}

Draft draft_of(const Site& site, const Sequence& sequence, const std::string& effect, const Findings& findings) {
  Draft draft;
  draft.site = site;
  draft.message = fmt::format("{}, and {}", described(sequence), effect);
  draft.fix = findings.rule().fix;
  draft.tags = {sequence.row->at("catalog").get<std::string>()};
  draft.confidence = findings.rule().confidence;
  const bool varies = sequence.row->at("order") != "hash" || is_pointer_key(sequence.type) ||
                      sequence.row->value("seeded", false);
  if (!varies)
    draft.confidence = "low"; // the same in every run of one binary
  return draft;
}

void judge_loop(const Context& context, FunctionRef in, const Event& iterate, const json& table,
                const std::vector<std::string>& orders, Findings& findings) {
  const Sequence sequence = sequence_of(in, iterate, table, orders);
  if (!sequence.row)
    return;
  if (is_in_own_order(sequence))
    return;
  for (const OrderEffect& effect : order_effects(context, in, iterate)) {
    if (is_sorted_later(context, in, effect))
      continue;
    Draft draft = draft_of({in, &iterate}, sequence, effect.what, findings);
    draft.notes.emplace_back(Site{in, effect.event}, effect.what);
    return findings.add(std::move(draft));
  }
}

// What an algorithm of the library makes of a range: `std::accumulate(c.begin(), c.end(), 0.0)`.
struct Use {
  std::string what;
  std::string container_id; // of the sequence that is filled
  const Value* container = nullptr;
};

std::optional<Use> use_of(const Context& context, const Site& site, const json& row) {
  const Event& event = *site.event;
  const Function& function = *site.in.function;
  const std::string use = row.at("use");
  if (use == "sums" && is_floating_type(event.result_type))
    return Use{"its elements are added up in that order", {}, nullptr};
  if (use == "each")
    for (const FunctionRef& body : context.project.callees(site.in, event))
      for (const OrderEffect& effect : order_effects(context, body))
        if (!effect.container || !is_sorted_later(context, site.in, {site.event, {}, effect.container_id, effect.container}))
          return Use{effect.what, {}, nullptr};
  if (use == "copies") {
    const std::size_t index = row.at("output");
    if (index >= event.arguments.size())
      return std::nullopt;
    const Value* root = root_variable(function, event.arguments[index]);
    if (root && is_sequence(root->type))
      return Use{fmt::format("`{}` is filled in that order", last_part(root->text)), root->id, root};
  }
  return std::nullopt;
}

// `std::vector<T> v(c.begin(), c.end())`, `v.assign(…)`, `v.insert(v.end(), c.begin(), c.end())`
std::optional<Use> filled_from(const Site& site) {
  const Event& event = *site.event;
  const std::string name = last_part(event.callee);
  if (event.kind == Event::Kind::construct && !event.variable_id.empty() && is_sequence(event.result_type))
    return Use{fmt::format("`{}` is filled in that order", last_part(event.variable)), event.variable_id, nullptr};
  if (event.kind != Event::Kind::call || !event.receiver || (name != "assign" && name != "insert") ||
      !is_sequence(event.receiver->type))
    return std::nullopt;
  const Value* root = root_variable(*site.in.function, *event.receiver);
  if (!root)
    return std::nullopt;
  return Use{fmt::format("`{}` is filled in that order", last_part(root->text)), root->id, root};
}

void judge_whole(const Context& context, const Site& site, const SymbolIndex& algorithms, const json& table,
                 const std::vector<std::string>& orders, Findings& findings) {
  const Event& event = *site.event;
  Sequence sequence;
  for (const Value& argument : event.arguments) {
    const Value* root = root_variable(*site.in.function, argument);
    const bool iterates = argument.kind == Value::Kind::call || argument.type.find("terator") != std::string::npos;
    const json* row = row_of_type(table, orders, argument.type); // a directory iterator is its own range
    if (row && row->at("order") == "directory")
      sequence = {row, without_reference(argument.type)};
    else if ((row = root && iterates ? row_of_type(table, orders, root->type) : nullptr))
      sequence = {row, without_reference(root->type)};
    if (sequence.row)
      break;
  }
  if (!sequence.row || is_in_own_order(sequence))
    return;
  std::optional<Use> use = event.arguments.size() >= 2 ? filled_from(site) : std::nullopt;
  for (const SymbolIndex::Match& match : algorithms.find(event))
    if (!use)
      use = use_of(context, site, *match.row);
  if (!use || (!use->container_id.empty() &&
               is_sorted_later(context, site.in, {&event, {}, use->container_id, use->container})))
    return;
  findings.add(draft_of(site, sequence, use->what, findings));
}

} // namespace

void judge_order(const Context& context, Findings& findings) {
  const json& table = context.registry.table("containers");
  const SymbolIndex algorithms(context.registry.table("algorithms"));
  const auto orders = findings.rule().options.at("orders").get<std::vector<std::string>>();
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::iterate)
        judge_loop(context, ref, event, table, orders, findings);
      else if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
        judge_whole(context, {ref, &event}, algorithms, table, orders, findings);
  if (findings.rule().options.value("uses", false))
    judge_uses(context, findings);
}

} // namespace reprobe::scan
