#include "analyzer/scan/judge/host/loops.h"

#include "analyzer/scan/flow/names.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace reprobe::scan {
namespace {

using Names = std::set<std::string, std::less<>>;

std::set<std::uint32_t> reachable_without(const Function& function, std::uint32_t removed) {
  std::map<std::uint32_t, const Block*> blocks;
  for (const Block& block : function.blocks)
    blocks[block.id] = &block;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open;
  if (function.entry != removed)
    open.push_back(function.entry);
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (!seen.insert(id).second || !blocks.contains(id))
      continue;
    for (const Edge& edge : blocks[id]->successors)
      if (edge.block != removed)
        open.push_back(edge.block);
  }
  return seen;
}

// The natural loop of `head`: everything that reaches a jump back to it without leaving through it.
std::set<std::uint32_t> loop_blocks(const Function& function, std::uint32_t head) {
  const std::set<std::uint32_t> not_dominated = reachable_without(function, head);
  std::map<std::uint32_t, std::vector<std::uint32_t>> predecessors;
  for (const Block& block : function.blocks)
    for (const Edge& edge : block.successors)
      predecessors[edge.block].push_back(block.id);
  std::set<std::uint32_t> loop = {head};
  std::vector<std::uint32_t> open;
  for (std::uint32_t before : predecessors[head])
    if (!not_dominated.contains(before))
      open.push_back(before);
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (!loop.insert(id).second)
      continue;
    for (std::uint32_t before : predecessors[id])
      open.push_back(before);
  }
  return loop;
}

bool is_declared_in(const std::vector<const Event*>& body, const std::string& id) {
  return std::any_of(body.begin(), body.end(), [&](const Event* event) {
    return event->variable_id == id &&
           (event->kind == Event::Kind::declare || event->kind == Event::Kind::construct);
  });
}

bool is_stream(const std::string& type) {
  return type.find("ostream") != std::string::npos || type.find("ofstream") != std::string::npos ||
         type.find("stringstream") != std::string::npos || type.find("fstream") != std::string::npos;
}

const Names kAppends = {"push_back",  "emplace_back",  "append", "push",      "emplace",
                        "push_front", "emplace_front", "insert", "operator+="};
const Names kModuleAppends = {"push_back", "register_module"};

std::string name_of(const Value& variable) {
  return last_part(variable.text);
}

// `std::string(name).append(x)` changes no variable. A copy stands in the facts as what is copied: the call then
// begins before it.
bool changes_a_temporary(const Function& function, const Event& event) {
  const Value* object = event.receiver ? &*event.receiver : nullptr;
  while (object && object->kind == Value::Kind::compound && !object->operands.empty())
    object = &object->operands[0];
  if (!object)
    return false;
  if (object->kind == Value::Kind::variable) {
    const bool plain = event.kind == Event::Kind::call && object == &*event.receiver && object->operands.empty();
    return plain && object->length && object->at.file == event.range.begin.file &&
           object->at.offset > event.range.begin.offset + 1; // (x).f()
  }
  const Event* made = object->kind == Value::Kind::call ? event_of(function, object->event) : nullptr;
  return made && (made->kind == Event::Kind::construct || changes_a_temporary(function, *made));
}

// A tensor or number that is added to, element after element.
bool is_rounded(const std::string& type) {
  return is_floating_type(type) || type.find("at::Tensor") != std::string::npos;
}

// `v[i]`, `v.at(i)`: the index, and `v` as receiver of what is found.
const Value* index_of(const Function& function, const Value& target) {
  if (target.kind == Value::Kind::compound && target.text == "[]" && target.operands.size() == 2)
    return &target.operands[1];
  const Event* event = target.kind == Value::Kind::call ? event_of(function, target.event) : nullptr;
  if (!event || !event->receiver || event->arguments.empty() || !is_sequence(event->receiver->type))
    return nullptr;
  const std::string name = last_part(event->callee);
  return name == "operator[]" || name == "at" ? &event->arguments[0] : nullptr;
}

// `s = s + x`
bool adds_to_itself(const Event& event, const Value& target) {
  if (event.text != "=" || event.arguments.size() != 1 || target.kind != Value::Kind::variable)
    return false;
  const Value& value = event.arguments[0];
  return value.kind == Value::Kind::compound && (value.text == "+" || value.text == "-" || value.text == "*") &&
         std::any_of(value.operands.begin(), value.operands.end(),
                     [&](const Value& operand) { return operand.kind == Value::Kind::variable && operand.id == target.id; });
}

} // namespace

bool is_sequence(const std::string& type) {
  const std::string name = plain_name(type);
  static const Names sequences = {"std::vector",      "std::deque",  "std::list",  "std::basic_string",
                                  "std::string",      "std::queue",  "std::stack", "std::forward_list",
                                  "c10::SmallVector", "QStringList", "std::array"};
  return sequences.contains(name);
}

std::vector<const Event*> body_of(const Function& function, const Event& iterate) {
  std::vector<const Event*> body;
  const auto head = std::find_if(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
    return std::any_of(block.events.begin(), block.events.end(), [&](std::uint32_t index) {
      return index < function.events.size() && function.events[index].id == iterate.id;
    });
  });
  if (head == function.blocks.end())
    return body;
  // A range-based for evaluates its range before the loop: the head is what follows.
  std::uint32_t start = head->id;
  std::set<std::uint32_t> blocks = loop_blocks(function, start);
  const bool follows = iterate.text == "range-for";
  for (int step = 0; step < 8 && (follows || blocks.size() < 2); ++step) {
    const auto block = std::find_if(function.blocks.begin(), function.blocks.end(),
                                    [&](const Block& b) { return b.id == start; });
    if (block == function.blocks.end() || block->successors.size() != 1)
      break;
    start = block->successors[0].block;
    blocks = loop_blocks(function, start);
    if (blocks.size() > 1)
      break;
  }
  if (blocks.size() < 2)
    return body;
  for (std::uint32_t id : blocks)
    for (const Block& block : function.blocks)
      if (block.id == id)
        for (std::uint32_t index : block.events)
          if (index < function.events.size() && function.events[index].id != iterate.id)
            body.push_back(&function.events[index]);
  std::sort(body.begin(), body.end(), [](const Event* a, const Event* b) { return a->id < b->id; });
  return body;
}

namespace {

std::vector<OrderEffect> effects_of_body(const Context& context, FunctionRef in, const std::vector<const Event*>& body) {
  const Function& function = *in.function;
  std::vector<OrderEffect> effects;
  std::set<std::string> counters; // integers that count elements: what they index is ordered by arrival
  for (const Event* event : body)
    if (event->kind == Event::Kind::assign && event->receiver &&
        (event->text == "++" || event->text == "+=") && is_integer_type(event->receiver->type) &&
        !is_declared_in(body, event->receiver->id))
      counters.insert(event->receiver->id);
  // A field of something that the loop made, or of the element itself, is not outside.
  const std::function<bool(const Value*)> outside = [&](const Value* root) {
    if (!root || root->id.empty() || is_declared_in(body, root->id))
      return false;
    for (const Value& object : root->operands)
      if (const Value* base = root_variable(function, object); base && !base->id.empty() && !outside(base))
        return false;
    return true;
  };
  for (const Event* event : body) {
    const Value* root = event->receiver && !changes_a_temporary(function, *event)
                            ? root_variable(function, *event->receiver)
                            : nullptr;
    const std::string name = last_part(event->callee);
    if (event->kind == Event::Kind::call && outside(root) && kAppends.contains(name) &&
        (is_sequence(root->type) || is_sequence(event->receiver->type))) {
      effects.push_back({event, fmt::format("`{}` is filled in that order", name_of(*root)), root->id, root});
    } else if (event->kind == Event::Kind::call && outside(root) && kModuleAppends.contains(name) &&
               root->type.find("torch::nn::") != std::string::npos) {
      effects.push_back({event, fmt::format("`{}` is filled in that order", name_of(*root)), {}, nullptr});
    } else if (event->kind == Event::Kind::call && outside(root) &&
               (name == "operator+=" || name == "add_") && is_rounded(root->type)) {
      effects.push_back({event, fmt::format("`{}` is added up in that order", name_of(*root)), {}, nullptr});
    } else if (event->kind == Event::Kind::assign && outside(root) &&
               (event->text == "+=" || event->text == "-=" || event->text == "*=") &&
               is_floating_type(event->receiver->type)) {
      // One sum for each key is filled once by each key.
      const Value& target = *event->receiver;
      const bool per_element = (target.kind == Value::Kind::compound && target.text == "[]") ||
                               (target.kind == Value::Kind::call && last_part(target.text) == "operator[]");
      // Whole numbers are added exactly in any order.
      const Value* step = event->arguments.empty() ? nullptr : &event->arguments[0];
      const bool whole =
          step && (step->kind == Value::Kind::integer ||
                   (step->kind == Value::Kind::floating && step->floating == std::floor(step->floating)));
      const bool counts = whole && event->text != "*=";
      if (!per_element && !counts)
        effects.push_back(
            {event, fmt::format("`{}` is added up in that order", name_of(*root)), {}, nullptr});
    } else if (event->kind == Event::Kind::assign && outside(root) && adds_to_itself(*event, *event->receiver) &&
               is_floating_type(event->receiver->type)) {
      effects.push_back({event, fmt::format("`{}` is added up in that order", name_of(*root)), {}, nullptr});
    } else if (event->kind == Event::Kind::call && name == "operator<<" && !event->arguments.empty()) {
      const Value& stream = event->receiver ? *event->receiver : event->arguments[0];
      const Value* target = root_variable(function, stream);
      const bool console = target && (target->text == "std::cout" || target->text == "std::cerr" ||
                                      target->text == "std::clog");
      if (target && is_stream(target->type) && !console && outside(target))
        effects.push_back(
            {event, fmt::format("`{}` is written in that order", name_of(*target)), {}, nullptr});
    } else if (event->receiver && (event->kind == Event::Kind::assign || name == "operator=")) {
      const Value* at = index_of(function, *event->receiver);
      const Value* index = at ? root_variable(function, *at) : nullptr;
      if (index && counters.contains(index->id) && outside(root))
        effects.push_back(
            {event, fmt::format("`{}` is filled in that order", name_of(*root)), root->id, root});
    }
    for (const Effect& effect : context.effects.of(event))
      if (effect.kind == Effect::Kind::draw)
        effects.push_back({event, fmt::format("{} draws in that order", shown_name(*event)), {}, nullptr});
  }
  return effects;
}

} // namespace

std::vector<OrderEffect> order_effects(const Context& context, FunctionRef in, const Event& iterate) {
  return effects_of_body(context, in, body_of(*in.function, iterate));
}

std::vector<OrderEffect> order_effects(const Context& context, FunctionRef body) {
  std::vector<const Event*> events;
  for (const Event& event : body.function->events)
    events.push_back(&event);
  return effects_of_body(context, body, events);
}

namespace {

const Names kSorts = {"sort", "stable_sort", "qsort", "sort_by_key", "natural_sort", "parallel_sort"};

bool sorts(const Function& function, const Event& event, const std::string& id) {
  if (event.kind != Event::Kind::call || !(kSorts.contains(last_part(event.callee))))
    return false;
  if (event.receiver)
    if (const Value* root = root_variable(function, *event.receiver); root && root->id == id)
      return true;
  return std::any_of(event.arguments.begin(), event.arguments.end(), [&](const Value& argument) {
    const Value* root = root_variable(function, argument);
    return root && root->id == id;
  });
}

bool sorted_in(const Function& function, const std::string& id, std::uint32_t after) {
  return std::any_of(function.events.begin(), function.events.end(),
                     [&](const Event& event) { return event.id > after && sorts(function, event, id); });
}

// The variable that a call's result goes to.
std::string result_variable(const Function& function, const Event& call) {
  for (const Event& event : function.events) {
    if (event.kind != Event::Kind::declare && event.kind != Event::Kind::assign &&
        event.kind != Event::Kind::construct && last_part(event.callee) != "operator=")
      continue;
    for (const Value& argument : event.arguments)
      if (argument.kind == Value::Kind::call && argument.event == call.id) {
        if (!event.variable_id.empty())
          return event.variable_id;
        const Value* root = event.receiver ? root_variable(function, *event.receiver) : nullptr;
        return root ? root->id : std::string();
      }
  }
  return call.variable_id;
}

bool is_field_or_global(const Value& container, const Function& function) {
  return container.id.find("@FI@") != std::string::npos ||
         (parameter_index(function, container.id) < 0 && container.id.find("@F@") == std::string::npos);
}

bool sorted_anywhere(const Context& context, const std::string& id) {
  for (const FunctionRef& ref : context.project.functions())
    if (sorted_in(*ref.function, id, 0))
      return true;
  return false;
}

} // namespace

bool is_sorted_later(const Context& context, FunctionRef in, const OrderEffect& effect, int depth) {
  if (effect.container_id.empty() || depth > 4)
    return false;
  if (sorted_in(*in.function, effect.container_id, effect.event ? effect.event->id : 0))
    return true;
  if (effect.container && is_field_or_global(*effect.container, *in.function) &&
      sorted_anywhere(context, effect.container_id))
    return true;
  // Handed to, or returned to, a caller that sorts: every caller must.
  const int index = parameter_index(*in.function, effect.container_id);
  bool any = false;
  for (const Site& caller : context.project.callers(in.function)) {
    if (caller.in.function == in.function)
      continue; // recursion hands on the same container
    std::string id;
    if (index >= 0 && static_cast<std::size_t>(index) < caller.event->arguments.size()) {
      const Value* root = root_variable(*caller.in.function, caller.event->arguments[index]);
      if (root)
        id = root->id;
    } else if (index < 0) {
      id = result_variable(*caller.in.function, *caller.event);
    }
    if (id.empty())
      return false;
    any = true;
    Value container;
    container.kind = Value::Kind::variable;
    container.id = id;
    if (!is_sorted_later(context, caller.in, {caller.event, {}, id, &container}, depth + 1))
      return false;
  }
  return any;
}

} // namespace reprobe::scan
