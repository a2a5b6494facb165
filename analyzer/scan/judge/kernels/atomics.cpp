// Family `atomics`: atomic updates of floating-point memory, directly or through the user's own wrappers.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/kernels/kernel.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <regex>

namespace reprobe::scan {
namespace {

using nlohmann::json;

enum class Operand { other, floating, dependent };

// `T*` of an uninstantiated template may become anything, so may the type that clang could not tell.
Operand operand_of(const std::string& type, bool in_template) {
  if (is_floating_type(type))
    return Operand::floating;
  if (is_integer_type(type))
    return Operand::other;
  return in_template && !type.empty() ? Operand::dependent : Operand::other;
}

bool calls_any(const Function& function, const json& names) {
  return std::any_of(function.events.begin(), function.events.end(), [&](const Event& event) {
    return event.kind == Event::Kind::call && std::any_of(names.begin(), names.end(), [&](const json& name) {
             return last_part(event.callee) == name;
           });
  });
}

struct Update {
  Site site;
  std::string operand; // type as shown
  bool dependent = false, host = false;
  std::string catalog;
  bool whole = false; // whole numbers are added: exact as long as the sum stays small
  int address = 0;    // the argument that names the memory; -1: the object
};

bool is_whole(const Value& value) {
  return value.kind == Value::Kind::integer || is_integer_type(value.type) ||
         (value.kind == Value::Kind::floating && value.floating == std::floor(value.floating));
}

std::optional<Update> function_update(const Site& site, const json& row) {
  if (site.event->arguments.empty())
    return std::nullopt;
  const Value& address = site.event->arguments[0];
  std::string type = address.type;
  Operand operand = operand_of(type, site.in.function->is_template_pattern || !site.event->resolved);
  // The value added tells when the address does not.
  const std::size_t value = row.value("value", 1);
  if (operand != Operand::floating && site.event->arguments.size() > value && !is_integer_type(type) &&
      is_floating_type(site.event->arguments[value].type) && !type.empty())
    operand = Operand::floating, type = site.event->arguments[value].type;
  // A template that nothing here instantiates: clang gives `T*` no type.
  const bool of_template = type.empty() && site.in.function->is_template_pattern &&
                           site.event->arguments.size() > value && !is_whole(site.event->arguments[value]);
  if (operand == Operand::other && of_template)
    operand = Operand::dependent, type = "a template's type";
  if (operand == Operand::other)
    return std::nullopt;
  const bool whole = site.event->arguments.size() > value && is_whole(site.event->arguments[value]);
  return Update{site, type, operand == Operand::dependent, row.value("host", false), row.at("catalog"),
                whole};
}

// The parameter that a variable of the function points into: `int* bits = (int*)address;`
int parameter_below(const Function& function, const Value& address) {
  const Value* root = root_variable(function, address);
  if (!root)
    return -1;
  std::string id = root->id;
  for (int step = 0; step < 4 && parameter_index(function, id) < 0; ++step) {
    std::string next;
    for (const Event& definition : function.events)
      if (definition.kind == Event::Kind::declare && definition.variable_id == id &&
          !definition.arguments.empty())
        if (const Value* from = root_variable(function, definition.arguments[0]))
          next = from->id;
    if (next.empty())
      return -1;
    id = next;
  }
  return parameter_index(function, id);
}

// Sums and products of floating-point numbers, not only comparisons.
bool computes(const Function& function) {
  static const std::set<std::string> operators = {"+", "-", "*", "/", "+=", "-=", "*=", "/="};
  bool found = false;
  for (const Event& event : function.events) {
    const std::string name = last_part(event.callee);
    found = found || (event.kind == Event::Kind::call && name.starts_with("operator") &&
                      operators.contains(name.substr(8)));
    for (const Value& argument : event.arguments)
      for_each_value(argument, [&](const Value& value) {
        found = found || (value.kind == Value::Kind::compound && operators.contains(value.text) &&
                          is_floating_type(value.type));
      });
  }
  return found;
}

// A compare-and-swap on integers that are the bits of floating-point values. A maximum or minimum is the same
// in any order.
bool swaps_floating(const Site& site, const json& row) {
  static const json kOrderless = {"fmaxf", "fmax", "max", "fminf", "fmin", "min", "__hmax", "__hmin"};
  const Function& function = *site.in.function;
  if (calls_any(function, kOrderless) || site.event->arguments.empty())
    return false;
  if (calls_any(function, row.at("bit-casts")))
    return true;
  const int parameter = parameter_below(function, site.event->arguments[0]);
  return parameter >= 0 && is_floating_type(function.parameters[parameter].type) && computes(function);
}

std::optional<Update> member_update(const Site& site, const json& row) {
  const Event& event = *site.event;
  if (!event.receiver)
    return std::nullopt;
  const std::string member = last_part(event.callee);
  const json& members = row.at("members");
  if (std::none_of(members.begin(), members.end(), [&](const json& m) { return m == member; }))
    return std::nullopt;
  const std::string type = plain_name(event.receiver->type);
  const json& types = row.at("types");
  if (std::none_of(types.begin(), types.end(), [&](const json& t) { return t == type; }))
    return std::nullopt;
  const std::vector<std::string> arguments = template_arguments_of(event.receiver->type);
  if (arguments.empty() || !is_floating_type(arguments[0]))
    return std::nullopt;
  return Update{site, arguments[0], false, row.value("host", false), row.at("catalog"), false, -1};
}

bool adds_in_assembly(const Event& event, const json& row) {
  return !event.arguments.empty() &&
         std::regex_search(event.arguments[0].text, std::regex(row.at("assembly").get<std::string>()));
}

std::vector<Update> direct_updates(const Context& context) {
  const json& table = context.registry.table("atomics");
  const SymbolIndex index(table);
  std::vector<Update> updates;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      if (event.kind != Event::Kind::call)
        continue;
      const Site site{ref, &event};
      for (const SymbolIndex::Match& match : index.find(event)) {
        const json& row = *match.row;
        if (row.at("kind") == "function")
          if (auto update = function_update(site, row))
            updates.push_back(std::move(*update));
        if (row.at("kind") == "compare-and-swap" && swaps_floating(site, row))
          updates.push_back({site, "floating-point bits", false, false, row.at("catalog")});
      }
      for (const json& row : table) {
        if (row.at("kind") == "member")
          if (auto update = member_update(site, row))
            updates.push_back(std::move(*update));
        if (row.at("kind") == "assembly" && event.callee == "asm" && adds_in_assembly(event, row))
          updates.push_back({site, "floating-point numbers", false, false, row.at("catalog"), false, 1});
      }
    }
  return updates;
}

// The parameter whose memory an update changes, or -1.
int updated_parameter(const Update& update) {
  const Event& event = *update.site.event;
  if (update.address < 0)
    return event.receiver ? parameter_below(*update.site.in.function, *event.receiver) : -1;
  const auto index = static_cast<std::size_t>(update.address);
  return index < event.arguments.size() ? parameter_below(*update.site.in.function, event.arguments[index])
                                        : -1;
}

// Calls of device functions that do nothing but update what they are given: the call is where the order is
// decided.
std::vector<Update> wrapped_updates(const Context& context, const std::vector<Update>& direct) {
  std::vector<Update> out, open = direct;
  std::set<const Event*> known;
  for (int depth = 0; depth < 4 && !open.empty(); ++depth) {
    std::vector<Update> next;
    for (const Update& update : open) {
      const Function& wrapper = *update.site.in.function;
      if (wrapper.is_kernel || updated_parameter(update) < 0 || wrapper.events.size() > 40)
        continue;
      for (const Site& caller : context.project.callers(&wrapper)) {
        if (caller.event->kind != Event::Kind::call || caller.event->launch ||
            !known.insert(caller.event).second)
          continue;
        if (context.project.definition(caller.event->callee_usr, *caller.in.unit).function != &wrapper)
          continue;
        next.push_back({caller, update.operand, update.dependent, update.host, update.catalog, false,
                        updated_parameter(update)});
      }
    }
    out.insert(out.end(), next.begin(), next.end());
    open = std::move(next);
  }
  return out;
}

// `blockIdx.x * blockDim.x + threadIdx.x`, or a multiple of it.
bool is_thread_number(const Linear& form) {
  const auto thread = form.threads.find("threadIdx.x"), block = form.threads.find("blockIdx.x*blockDim.x");
  return form.threads.size() == 2 && thread != form.threads.end() && block != form.threads.end() &&
         thread->second == block->second;
}

// `if (threadIdx.x == 0 && blockIdx.x == 0)`: one thread adds, in the order of its own program.
bool is_one_thread(const Kernel& kernel, const Event& event) {
  std::set<std::string> fixed;
  for (const Guard& guard : kernel.guards(event)) {
    const Value& condition = *guard.condition;
    const bool equal = condition.kind == Value::Kind::compound && condition.operands.size() == 2 &&
                       condition.text == (guard.when ? "==" : "!=");
    if (!equal)
      continue;
    const std::optional<Linear> left = kernel.linear(condition.operands[0]), right = kernel.linear(condition.operands[1]);
    if (!left || !right || !right->threads.empty() || !left->symbols.empty())
      continue;
    if (left->threads.size() == 1)
      fixed.insert(left->threads.begin()->first);
    if (is_thread_number(*left))
      fixed.insert({"threadIdx.x", "blockIdx.x"});
  }
  // Grids of several dimensions name the others somewhere.
  Dimensions used = 0;
  for (const Event& other : kernel.ref().function->events)
    for (const Value& argument : other.arguments)
      used |= kernel.spread(argument).dimensions;
  constexpr Dimensions kFirst = 0b001001;
  return fixed.contains("threadIdx.x") && fixed.contains("blockIdx.x") && (used & ~kFirst) == 0;
}

// `sum[i]`, i being the number of the thread in the grid: each element is added to once a launch.
bool is_once_an_element(const Kernel& kernel, const Update& update, const std::vector<Update>& all) {
  const Function& function = *update.site.in.function;
  const Event& event = *update.site.event;
  if (update.address != 0 || event.arguments.empty())
    return false;
  const Value* address = &event.arguments[0];
  while (address->kind == Value::Kind::compound && (address->text == "&" || address->text == "cast") &&
         address->operands.size() == 1)
    address = &address->operands[0];
  if (address->kind != Value::Kind::compound || (address->text != "[]" && address->text != "+") ||
      address->operands.size() != 2)
    return false;
  const Value* root = root_variable(function, *address);
  const std::optional<Linear> index = kernel.linear(address->operands[1]);
  const Block* block = kernel.block_of(event);
  if (!root || !index || !index->symbols.empty() || !is_thread_number(*index) || !block || block->in_loop ||
      parameter_index(function, root->id) < 0)
    return false;
  return std::none_of(all.begin(), all.end(), [&](const Update& other) {
    const Event& call = *other.site.event;
    const Value* target = &call != &event && other.site.in == update.site.in && !call.arguments.empty()
                              ? root_variable(function, call.arguments[0])
                              : nullptr;
    return target && target->id == root->id;
  });
}

std::string shown_operand(const Update& update) {
  std::string type = update.operand;
  while (!type.empty() && (type.back() == '*' || type.back() == ' '))
    type.pop_back();
  if (type.rfind("volatile ", 0) == 0)
    type.erase(0, 9);
  return update.dependent ? type + " (which may be floating-point)" : type;
}

} // namespace

void judge_atomics(const Context& context, Findings& findings) {
  std::vector<Update> updates = direct_updates(context);
  const std::vector<Update> wrapped = wrapped_updates(context, updates);
  updates.insert(updates.end(), wrapped.begin(), wrapped.end());
  std::map<const Function*, Kernel> kernels;
  for (const Update& update : updates) {
    if (update.site.in.function->is_kernel) {
      const Kernel& kernel = kernels.try_emplace(update.site.in.function, context, update.site.in).first->second;
      if (is_one_thread(kernel, *update.site.event) || is_once_an_element(kernel, update, updates))
        continue;
    }
    Draft draft;
    draft.site = update.site;
    draft.message = fmt::format(
        "{} adds to {} in the order in which {} arrive, and rounding depends on that order",
        shown_name(*update.site.event), shown_operand(update), update.host ? "host threads" : "GPU threads");
    if (update.whole)
      draft.message += ", unless the sum stays a whole number that the type holds exactly";
    draft.fix = findings.rule().fix;
    draft.tags = {update.catalog};
    draft.devices = {update.host ? "cpu" : "cuda"};
    draft.confidence = update.whole ? "low" : update.dependent ? "medium" : findings.rule().confidence;
    if (update.site.in.function->is_kernel)
      draft.kernels.push_back(update.site.in.function->name);
    draft.by_name = !update.site.event->resolved && !update.site.in.function->is_template_pattern;
    findings.add(std::move(draft));
  }
}

} // namespace reprobe::scan
