// Family `allocations`: tensors whose memory is read before anything is written to it.
//
// Rows of the table say what the functions do: allocates, writes (all or part of the tensor), views (or
// copies it), describes (shape, dtype …). Every other ATen operator reads. What leaves the function, is
// captured, or is given to code that is not ATen's counts as written.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace reprobe::scan {
namespace {

using nlohmann::json;

enum class Use : std::uint8_t { none, reads, writes };

std::set<std::string, std::less<>> names_with_role(const json& table, std::string_view role) {
  std::set<std::string, std::less<>> names;
  for (const json& row : table)
    if (row.at("role") == role)
      for (const json& name : row.value("members", json::array()))
        names.insert(name.get<std::string>());
  return names;
}

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.rfind(prefix, 0) == 0;
}

struct Table {
  explicit Table(const json& rows)
      : writes(names_with_role(rows, "writes")), views(names_with_role(rows, "views")),
        describes(names_with_role(rows, "describes")), allocators(rows) {}
  std::set<std::string, std::less<>> writes, views, describes;
  SymbolIndex allocators;
};

// One allocation in a function: the call, and the local variable that holds its result, if any.
class Memory {
public:
  Memory(const Table& table, const Function& function, const Event& allocation)
      : table_(table), function_(function), allocation_(allocation) {
    for (const Event& event : function_.events)
      if (!holder_ && holds_result(event)) {
        holder_ = &event;
        variable_ = event.kind == Event::Kind::declare ? event.variable_id : event.receiver->id;
      }
  }

  const std::string& variable() const { return variable_; }
  bool is_mentioned(const Value& value) const {
    if (value.kind == Value::Kind::variable && !variable_.empty() && value.id == variable_)
      return true;
    if (value.kind == Value::Kind::call) {
      if (value.event == allocation_.id)
        return true;
      const Event* event = event_of(function_, value.event);
      return event && table_.views.contains(last_part(event->callee)) && event->receiver &&
             is_mentioned(*event->receiver);
    }
    return value.kind != Value::Kind::variable &&
           std::any_of(value.operands.begin(), value.operands.end(),
                       [&](const Value& operand) { return is_mentioned(operand); });
  }

  Use use_in(const Event& event) const {
    if (&event == holder_ || event.id == allocation_.id || event.kind == Event::Kind::destroy)
      return Use::none;
    const bool as_object = event.receiver && is_mentioned(*event.receiver);
    const bool as_argument = std::any_of(event.arguments.begin(), event.arguments.end(),
                                         [&](const Value& argument) { return is_mentioned(argument); });
    if (!as_object && !as_argument)
      return Use::none;
    if (event.kind != Event::Kind::call || event.launch)
      return Use::writes; // handed on
    if (as_object)
      return use_as_object(event);
    return use_as_argument(event);
  }

private:
  bool is_local(const std::string& text) const { return starts_with(text, function_.name + "::"); }

  // `auto x = torch::empty(…);`, `x = torch::empty(…);`, also through `.to(device)`.
  bool holds_result(const Event& event) const {
    if (event.arguments.size() != 1 || !is_mentioned(event.arguments[0]))
      return false;
    if (event.kind == Event::Kind::declare)
      return event.text != "static" && event.arguments[0].kind == Value::Kind::call;
    return is_object_assignment(event) && event.receiver->kind == Value::Kind::variable &&
           is_local(event.receiver->text) && event.receiver->operands.empty() &&
           parameter_index(function_, event.receiver->id) < 0;
  }

  Use use_as_object(const Event& event) const {
    const std::string name = last_part(event.callee);
    if (table_.views.contains(name) || table_.describes.contains(name))
      return Use::none; // what is done with the view is seen where it is used
    if (table_.writes.contains(name) || !starts_with(plain_name(event.callee), "at::Tensor::"))
      return Use::writes;
    return Use::reads;
  }

  Use use_as_argument(const Event& event) const {
    const std::string name = last_part(event.callee), callee = plain_name(event.callee);
    const bool aten = event.resolved && event.external &&
                      (starts_with(callee, "at::") || starts_with(callee, "torch::nn::functional::") ||
                       (starts_with(callee, "torch::") && callee.find("::", 7) == std::string::npos));
    if (!aten || table_.writes.contains(name) || name.ends_with("_out") || name.ends_with("_outf"))
      return Use::writes;
    if (table_.views.contains(name))
      return Use::writes; // an alias that is not followed
    return table_.describes.contains(name) ? Use::none : Use::reads;
  }

  const Table& table_;
  const Function& function_;
  const Event& allocation_;
  const Event* holder_ = nullptr;
  std::string variable_;
};

// Which events of a function may come before which.
class Order {
public:
  explicit Order(const Function& function) : function_(function) {
    for (const Block& block : function.blocks)
      for (std::size_t i = 0; i < block.events.size(); ++i)
        places_[block.events[i]] = {block.id, i};
  }
  bool may_precede(const Event& first, const Event& second) const {
    const auto a = places_.find(first.id), b = places_.find(second.id);
    if (a == places_.end() || b == places_.end())
      return first.id < second.id;
    if (a->second.first == b->second.first && a->second.second < b->second.second)
      return true;
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> open = {a->second.first};
    while (!open.empty()) {
      const std::uint32_t id = open.back();
      open.pop_back();
      if (id >= function_.blocks.size())
        continue;
      for (const Edge& edge : function_.blocks[id].successors) {
        if (edge.block == b->second.first)
          return true;
        if (seen.insert(edge.block).second)
          open.push_back(edge.block);
      }
    }
    return false;
  }

private:
  const Function& function_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::size_t>> places_;
};

// `torch::empty({0, 4})` and `torch::empty(0)` hold nothing that could be read.
bool has_no_elements(const Context& context, const Site& site) {
  if (site.event->arguments.empty())
    return false;
  bool zero = false;
  walk(context.project, site.in, site.event->arguments[0],
       {.variables = false, .results = false, .deepest = 4}, [&](const Visit& visit) {
         zero |= visit.value->kind == Value::Kind::integer && visit.value->integer == 0;
         return !zero;
       });
  return zero;
}

bool is_captured(const Codebase& project, const Function& function, const std::string& variable) {
  const auto mentions = [&](const Value& value) {
    bool found = false;
    for_each_value(value,
                   [&](const Value& v) { found |= v.kind == Value::Kind::variable && v.id == variable; });
    return found;
  };
  for (const FunctionRef& ref : project.functions()) {
    if (ref.function == &function || !ref.function->is_lambda)
      continue;
    for (const Event& event : ref.function->events)
      if ((event.receiver && mentions(*event.receiver)) ||
          std::any_of(event.arguments.begin(), event.arguments.end(), mentions))
        return true;
  }
  return false;
}

// `+=` rather than `torch::operator+=`.
std::string shown_operation(const Event& event) {
  const std::string name = last_part(event.callee);
  return starts_with(name, "operator") ? name.substr(8) : shown_name(event);
}

const Event* first_unwritten_read(const Memory& memory, const Site& allocation) {
  const Function& function = *allocation.in.function;
  std::vector<const Event*> reads, writes;
  for (const Event& event : function.events) {
    const Use use = memory.use_in(event);
    if (use == Use::reads)
      reads.push_back(&event);
    else if (use == Use::writes)
      writes.push_back(&event);
  }
  const Order order(function);
  for (const Event* read : reads) {
    const bool written = std::any_of(writes.begin(), writes.end(),
                                     [&](const Event* write) { return order.may_precede(*write, *read); });
    if (!written && order.may_precede(*allocation.event, *read))
      return read;
  }
  return nullptr;
}

void judge_allocation(const Context& context, const Table& table, const Site& site, Findings& findings) {
  if (has_no_elements(context, site))
    return;
  const Memory memory(table, *site.in.function, *site.event);
  if (!memory.variable().empty() && is_captured(context.project, *site.in.function, memory.variable()))
    return;
  const Event* read = first_unwritten_read(memory, site);
  if (!read)
    return;
  Draft draft;
  draft.site = site;
  draft.message =
      fmt::format("{} leaves memory as it is, and {} reads it before anything is written to it: the result "
                  "depends on what was there",
                  shown_name(*site.event), shown_operation(*read));
  draft.fix = findings.rule().fix;
  draft.notes.emplace_back(Site{site.in, read}, "read here");
  findings.add(std::move(draft));
}

} // namespace

void judge_allocations(const Context& context, Findings& findings) {
  const Table table(context.registry.table(findings.rule().options.at("table").get<std::string>()));
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call && !table.allocators.find(event).empty())
        judge_allocation(context, table, {ref, &event}, findings);
}

} // namespace reprobe::scan
