#include "analyzer/scan/judge/kernels/kernel.h"

#include "analyzer/scan/flow/names.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

using nlohmann::json;

constexpr int kDeepest = 40;
constexpr std::size_t kMostBlocks = 600; // larger kernels are not reasoned about

bool is_array(const std::string& type) {
  return type.ends_with("]");
}
bool is_pointer(const std::string& type) {
  return type.ends_with("*");
}

// threadIdx.x, as a property of Clang's or a field of a toolkit's variable.
Dimensions dimension_of(const Value& value) {
  if (value.kind != Value::Kind::variable || value.operands.size() != 1)
    return 0;
  const std::string& variable = value.operands[0].text;
  const char axis = value.text.empty() ? '?' : value.text.back();
  const unsigned shift = axis == 'x' ? 0 : axis == 'y' ? 1 : axis == 'z' ? 2 : 6;
  if (shift > 2)
    return 0;
  return variable == "threadIdx" ? 1u << shift : variable == "blockIdx" ? 8u << shift : 0;
}

Dimensions named_dimensions(const json& names) {
  static const std::map<std::string, Dimensions> bits = {{"x", 1},  {"y", 2},   {"z", 4},
                                                         {"bx", 8}, {"by", 16}, {"bz", 32}};
  Dimensions out = 0;
  for (const json& name : names)
    out |= bits.at(name.get<std::string>());
  return out;
}

bool lists(const json& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const json& n) { return n == name; });
}

// The element that a target stands for: itself, or what a field of it belongs to.
const Value* element_of(const Value& target) {
  if (target.kind == Value::Kind::compound && (target.text == "[]" || target.text == "*") &&
      !target.operands.empty())
    return &target;
  if (target.kind == Value::Kind::compound && target.text == "cast" && !target.operands.empty())
    return element_of(target.operands[0]);
  if (target.kind != Value::Kind::variable || target.operands.size() != 1)
    return nullptr;
  return is_pointer(target.operands[0].type) ? &target : element_of(target.operands[0]);
}

// The variable at the bottom of `a[i].x`, `p->x`, `s.x`: a, p, s.
const Value* object_root(const Function& function, const Value& value) {
  const Value* root = root_variable(function, value);
  while (root && root->kind == Value::Kind::variable && root->operands.size() == 1)
    root = root_variable(function, root->operands[0]);
  return root;
}

bool reads(const Value& value, const std::string& source) {
  bool found = false;
  for_each_value(value,
                 [&](const Value& part) { found = found || (!source.empty() && part.source == source); });
  return found;
}

std::vector<bool> reachable_without(const Function& function, const Edge* removed) {
  std::vector<bool> seen(function.blocks.size(), false);
  std::vector<std::uint32_t> open = {function.entry};
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (id >= seen.size() || seen[id])
      continue;
    seen[id] = true;
    for (const Edge& edge : function.blocks[id].successors)
      if (&edge != removed)
        open.push_back(edge.block);
  }
  return seen;
}

} // namespace

bool is_device_function(const Context& context, const std::string& kind, const std::string& callee) {
  const std::string name = last_part(callee);
  for (const json& row : context.registry.table("device-functions")) {
    if (row.at("kind") != kind)
      continue;
    if (lists(row.at("names"), name))
      return true;
    for (const json& part : row.value("parts", json::array()))
      if (name.find(part.get<std::string>()) != std::string::npos)
        return true;
  }
  return false;
}

struct Kernel::Walk {
  std::set<std::string> variables;
  std::set<const Event*> calls;
  FunctionRef in;
};

Kernel::Kernel(const Context& context, FunctionRef ref) : context_(context), ref_(ref) {
  for (const Event& event : ref.function->events) {
    if (event.kind != Event::Kind::declare && event.kind != Event::Kind::construct)
      continue;
    if (event.text == "shared")
      shared_.insert(event.variable_id);
    else if (is_array(event.result_type))
      arrays_.insert(event.variable_id);
  }
  for (const Block& block : ref.function->blocks)
    for (std::uint32_t event : block.events)
      blocks_[event] = block.id;
}

Spread Kernel::spread(const Value& value) const {
  if (const auto known = spreads_.find(&value); known != spreads_.end())
    return known->second;
  Spread out;
  Walk walk;
  walk.in = ref_;
  add(value, walk, out, 0);
  return spreads_[&value] = out;
}

void Kernel::add(const Value& value, Walk& walk, Spread& out, int depth) const {
  if (depth > kDeepest) {
    out.opaque = true;
    return;
  }
  if (const Dimensions dimensions = dimension_of(value)) {
    out.dimensions |= dimensions;
    return;
  }
  switch (value.kind) {
  case Value::Kind::variable:
    return add_variable(value, walk, out, depth);
  case Value::Kind::call:
    if (const Event* event = event_of(*walk.in.function, value.event))
      return add_call(walk.in, *event, walk, out, depth);
    out.opaque = true;
    return;
  case Value::Kind::compound:
    if (value.text == "[]" && value.operands.size() == 2)
      return add_element(value.operands[0], &value.operands[1], walk, out, depth);
    if (value.text == "*" && value.operands.size() == 1)
      return add_element(value.operands[0], nullptr, walk, out, depth);
    // An address loads nothing.
    if (value.text == "&" && value.operands.size() == 1 && value.operands[0].kind == Value::Kind::compound)
      return add_operands(value.operands[0], walk, out, depth);
    return add_operands(value, walk, out, depth);
  case Value::Kind::unknown:
    out.unknown = true;
    return;
  case Value::Kind::lambda:
    out.opaque = true;
    return;
  default:
    return;
  }
}

void Kernel::add_operands(const Value& value, Walk& walk, Spread& out, int depth) const {
  for (const Value& operand : value.operands)
    add(operand, walk, out, depth + 1);
}

void Kernel::add_element(const Value& base, const Value* index, Walk& walk, Spread& out, int depth) const {
  const Value* root = root_variable(*walk.in.function, base);
  if (root && is_local_array(root->id))
    out.opaque = true;
  else if (root && is_shared(root->id))
    out.shared = true;
  else
    out.memory = true;
  add(base, walk, out, depth + 1);
  if (index)
    add(*index, walk, out, depth + 1);
}

void Kernel::add_variable(const Value& variable, Walk& walk, Spread& out, int depth) const {
  if (is_shared(variable.id)) {
    if (!is_array(variable.type))
      out.shared = true;
    return;
  }
  for (const Value& object : variable.operands) {
    if (is_pointer(object.type))
      out.memory = true;
    add(object, walk, out, depth + 1);
  }
  if (!variable.operands.empty())
    return; // a field is what its object is
  static const std::set<std::string> uniform = {"blockDim", "gridDim", "warpSize", "threadIdx", "blockIdx"};
  if (variable.id.empty() || uniform.contains(variable.text) || !walk.variables.insert(variable.id).second)
    return;
  bool defined = false;
  for (const Site& site : context_.project.definitions(variable.id, walk.in)) {
    if (site.in.function != walk.in.function)
      continue;
    for (const Value& argument : site.event->arguments)
      defined = true, add(argument, walk, out, depth + 1);
    if (site.event->kind == Event::Kind::assign)
      defined = true; // ++
  }
  const bool parameter = parameter_index(*walk.in.function, variable.id) >= 0;
  if (!defined && !parameter && !is_local_array(variable.id))
    out.unknown = true; // given by reference, global, or defined by what is missing here
  if (parameter && !walk.in.function->is_kernel && walk.in == ref_)
    out.opaque = true;
  const auto gives_away = [&](const Value& argument) { // f(&variable) may write it
    return argument.kind == Value::Kind::compound && argument.text == "&" && argument.operands.size() == 1 &&
           argument.operands[0].id == variable.id;
  };
  for (const Event& event : walk.in.function->events)
    if (event.kind == Event::Kind::call &&
        std::any_of(event.arguments.begin(), event.arguments.end(), gives_away))
      out.opaque = true;
}

void Kernel::add_call(FunctionRef in, const Event& event, Walk& walk, Spread& out, int depth) const {
  if (!walk.calls.insert(&event).second)
    return;
  const std::string name = last_part(event.callee);
  for (const json& row : context_.registry.table("device-functions"))
    if (row.at("kind") == "rank" && lists(row.at("names"), name)) {
      out.dimensions |= named_dimensions(row.at("dimensions"));
      return;
    }
  if (is_device_function(context_, "load", event.callee))
    out.memory = true;
  const FunctionRef callee = context_.project.definition(event.callee_usr, *in.unit);
  const std::vector<const Value*> returned =
      callee ? returned_values(*callee.function) : std::vector<const Value*>();
  const bool known = event.kind == Event::Kind::construct ||
                     is_device_function(context_, "pure", event.callee) ||
                     is_device_function(context_, "load", event.callee) || !returned.empty();
  out.opaque |= !known;
  if (event.receiver)
    add(*event.receiver, walk, out, depth + 1);
  for (const Value& argument : event.arguments)
    add(argument, walk, out, depth + 1);
  walk.in = callee ? callee : in;
  for (const Value* value : returned)
    add(*value, walk, out, depth + 1);
  walk.in = in;
}

const Block* Kernel::block_of(const Event& event) const {
  const auto found = blocks_.find(event.id);
  return found == blocks_.end() ? nullptr : &ref_.function->blocks[found->second];
}

namespace {

Linear scaled(Linear form, std::int64_t factor) {
  for (auto* terms : {&form.threads, &form.symbols})
    for (auto& [name, multiple] : *terms)
      multiple *= factor;
  form.constant *= factor;
  return form;
}

Linear sum(Linear a, const Linear& b) {
  const auto add = [](auto& into, const auto& from) {
    for (const auto& [name, multiple] : from)
      if ((into[name] += multiple) == 0)
        into.erase(name);
  };
  add(a.threads, b.threads);
  add(a.symbols, b.symbols);
  a.constant += b.constant;
  return a;
}

bool is_constant(const Linear& form) { return form.threads.empty() && form.symbols.empty(); }

// `blockIdx.x * blockDim.x`, of forms that are one such term each.
std::optional<Linear> product(const Linear& a, const Linear& b) {
  if (is_constant(a))
    return scaled(b, a.constant);
  if (is_constant(b))
    return scaled(a, b.constant);
  const Linear &thread = a.threads.empty() ? b : a, &symbol = a.threads.empty() ? a : b;
  const bool terms = thread.threads.size() == 1 && thread.symbols.empty() && thread.constant == 0 &&
                     symbol.threads.empty() && symbol.symbols.size() == 1 && symbol.constant == 0;
  if (!terms)
    return std::nullopt;
  Linear out;
  out.threads[thread.threads.begin()->first + "*" + symbol.symbols.begin()->first] =
      thread.threads.begin()->second * symbol.symbols.begin()->second;
  return out;
}

} // namespace

std::optional<Linear> Kernel::linear(const Value& value) const {
  std::optional<Linear> out = linear(value, 0);
  if (out)
    std::erase_if(out->threads, [](const auto& term) { return term.second == 0; });
  return out;
}

std::optional<Linear> Kernel::linear_variable(const Value& value, int depth) const {
  Linear out;
  if (const Dimensions dimension = dimension_of(value)) {
    out.threads[value.operands[0].text + "." + value.text.back()] = 1;
    return out;
  }
  if (value.operands.size() == 1 && (value.operands[0].text == "blockDim" || value.operands[0].text == "gridDim")) {
    out.symbols[value.operands[0].text + "." + value.text.back()] = 1;
    return out;
  }
  if (!value.operands.empty() || value.id.empty())
    return std::nullopt;
  const std::vector<Site> sites = context_.project.definitions(value.id, ref_);
  if (sites.size() == 1 && sites[0].in == ref_ && sites[0].event->kind == Event::Kind::declare &&
      sites[0].event->arguments.size() == 1)
    return linear(sites[0].event->arguments[0], depth + 1);
  const Spread spread = this->spread(value);
  if (spread.dimensions || spread.memory || spread.shared || spread.opaque || spread.unknown)
    return std::nullopt;
  out.symbols[value.id] = 1;
  return out;
}

std::optional<Linear> Kernel::linear(const Value& value, int depth) const {
  if (depth > 20)
    return std::nullopt;
  if (value.kind == Value::Kind::integer)
    return Linear{{}, {}, value.integer};
  if (value.kind == Value::Kind::variable)
    return linear_variable(value, depth);
  if (value.kind != Value::Kind::compound || value.operands.empty())
    return std::nullopt;
  const std::optional<Linear> left = linear(value.operands[0], depth + 1);
  if (!left)
    return std::nullopt;
  if (value.operands.size() == 1) {
    if (value.text == "cast" || value.text == "+" || value.text == "{}")
      return left;
    return value.text == "-" ? std::optional(scaled(*left, -1)) : std::nullopt;
  }
  const std::optional<Linear> right = value.operands.size() == 2 ? linear(value.operands[1], depth + 1) : std::nullopt;
  if (!right)
    return std::nullopt;
  if (value.text == "+")
    return sum(*left, *right);
  if (value.text == "-")
    return sum(*left, scaled(*right, -1));
  if (value.text == "*")
    return product(*left, *right);
  if (value.text == "<<" && is_constant(*right) && right->constant >= 0 && right->constant < 31)
    return scaled(*left, std::int64_t(1) << right->constant);
  return std::nullopt;
}

const std::vector<Guard>& Kernel::guards(const Event& event) const {
  static const std::vector<Guard> none;
  const Block* block = block_of(event);
  if (!block || ref_.function->blocks.size() > kMostBlocks)
    return none;
  if (guards_.empty())
    find_guards();
  return guards_[block->id];
}

// An edge guards the blocks that nothing reaches without it.
void Kernel::find_guards() const {
  const std::vector<Block>& blocks = ref_.function->blocks;
  guards_.resize(blocks.size());
  const std::vector<bool> reached = reachable_without(*ref_.function, nullptr);
  for (const Block& from : blocks)
    for (const Edge& edge : from.successors) {
      if (!edge.condition || !edge.label.empty())
        continue;
      const std::vector<bool> left = reachable_without(*ref_.function, &edge);
      for (std::size_t id = 0; id < blocks.size(); ++id)
        if (reached[id] && !left[id])
          guards_[id].push_back({&*edge.condition, edge.when});
    }
}

Dimensions Kernel::pinned_by(const Guard& guard, int depth) const {
  const Value& condition = *guard.condition;
  if (depth > 8)
    return kAllDimensions;
  if (condition.kind == Value::Kind::compound && condition.text == "!" && condition.operands.size() == 1)
    return pinned_by({&condition.operands[0], !guard.when}, depth + 1);
  if (condition.kind == Value::Kind::compound && condition.text == "&&" && guard.when)
    return pinned_by({&condition.operands[0], true}, depth + 1) |
           pinned_by({&condition.operands[1], true}, depth + 1);
  const auto own = [&](const Value& side) {
    const Spread spread = this->spread(side);
    return spread.opaque || spread.unknown  ? kAllDimensions
           : spread.memory || spread.shared ? 0
                                            : spread.dimensions;
  };
  if (condition.kind == Value::Kind::compound && condition.operands.size() == 2) {
    const bool equal = (condition.text == "==" && guard.when) || (condition.text == "!=" && !guard.when);
    const auto is_one = [](const Value& side) {
      return side.kind == Value::Kind::integer && side.integer == 1;
    };
    const bool below_one = condition.text == "<" && guard.when && is_one(condition.operands[1]);
    if (equal || below_one)
      return own(condition.operands[0]) | own(condition.operands[1]);
    const Spread whole = spread(condition);
    return whole.opaque ? kAllDimensions : 0;
  }
  if (condition.kind == Value::Kind::variable && !condition.id.empty()) {
    const std::vector<Site> definitions = context_.project.definitions(condition.id, ref_);
    if (definitions.size() == 1 && definitions[0].in == ref_ && definitions[0].event->arguments.size() == 1 &&
        definitions[0].event->arguments[0].kind == Value::Kind::compound)
      return pinned_by({&definitions[0].event->arguments[0], guard.when}, depth + 1);
  }
  const Spread whole = spread(condition);
  if (whole.opaque)
    return kAllDimensions;
  return guard.when ? 0 : own(condition); // `if (threadIdx.x) return;`
}

Dimensions Kernel::pinned(const Event& event) const {
  if (!block_of(event) || ref_.function->blocks.size() > kMostBlocks)
    return kAllDimensions;
  Dimensions out = 0;
  for (const Guard& guard : guards(event))
    out |= pinned_by(guard, 0);
  return out;
}

bool Kernel::points_to_own(const Value& pointer, int depth) const {
  const Value* root = object_root(*ref_.function, pointer);
  if (!root || is_local_array(root->id))
    return true;
  if (is_shared(root->id) || parameter_index(*ref_.function, root->id) >= 0 || depth > 8)
    return false;
  const std::vector<Site> definitions = context_.project.definitions(root->id, ref_);
  for (const Site& site : definitions)
    for (const Value& given : site.event->arguments) {
      if (site.in != ref_ || (site.event->text != "=" && site.event->kind == Event::Kind::assign))
        continue;
      const Value* from = root_variable(*ref_.function, given);
      const bool address = given.kind == Value::Kind::compound && given.text == "&";
      if (!from || (from->id != root->id && points_to_own(given, depth + 1)))
        return true;
      if (address && from && !is_pointer(from->type) && !is_shared(from->id) &&
          given.operands[0].kind == Value::Kind::variable)
        return true;
    }
  return false;
}

bool Kernel::points_to_shared(const Value& pointer, int depth) const {
  const Value* root = object_root(*ref_.function, pointer);
  if (!root || depth > 8)
    return false;
  if (is_shared(root->id))
    return true;
  for (const Site& site : context_.project.definitions(root->id, ref_))
    for (const Value& given : site.event->arguments)
      if (const Value* from = object_root(*ref_.function, given); from && from->id != root->id &&
                                                                  site.in == ref_ && is_pointer(root->type) &&
                                                                  points_to_shared(given, depth + 1))
        return true;
  return false;
}

std::vector<Store> Kernel::stores() const {
  std::vector<Store> out;
  for (const Event& event : ref_.function->events) {
    const bool assigns = event.kind == Event::Kind::assign && event.text != "return";
    const std::string operation = event.kind == Event::Kind::call ? last_part(event.callee) : event.text;
    const bool object = event.kind == Event::Kind::call && operation.starts_with("operator") &&
                        operation.ends_with("=") && operation != "operator==" && operation != "operator!=" &&
                        operation != "operator<=" && operation != "operator>=";
    if ((!assigns && !object) || !event.receiver)
      continue;
    Store store;
    store.event = &event;
    store.address = element_of(*event.receiver);
    if (!store.address)
      if (const Value* object = object_root(*ref_.function, *event.receiver); object && is_shared(object->id))
        store.address = &*event.receiver;
    if (!store.address)
      continue;
    store.root = object_root(*ref_.function, *store.address);
    if (!store.root || points_to_own(*store.address))
      continue;
    store.stored = event.arguments.empty() ? nullptr : &event.arguments[0];
    store.shared = points_to_shared(*store.address);
    store.update = (operation != "=" && operation != "operator=") ||
                   (store.stored && reads(*store.stored, event.receiver->source));
    out.push_back(store);
  }
  return out;
}

std::string canonical(const Codebase& project, FunctionRef in, const Value& value) {
  std::set<std::string> seen;
  const std::function<std::string(const Value&, int)> text = [&](const Value& v, int depth) -> std::string {
    if (depth > 12)
      return v.source;
    if (v.kind == Value::Kind::integer)
      return std::to_string(v.integer);
    if (v.kind == Value::Kind::variable && v.operands.empty() && !v.id.empty() &&
        parameter_index(*in.function, v.id) < 0) {
      const std::vector<Site> sites = project.definitions(v.id, in);
      if (sites.size() == 1 && sites[0].in == in && sites[0].event->kind == Event::Kind::declare &&
          sites[0].event->arguments.size() == 1 && seen.insert(v.id).second) {
        const std::string out = text(sites[0].event->arguments[0], depth + 1);
        seen.erase(v.id);
        return out;
      }
      return v.id;
    }
    if (v.kind == Value::Kind::compound && v.text == "cast" && v.operands.size() == 1)
      return text(v.operands[0], depth + 1);
    std::string out =
        v.kind == Value::Kind::compound || v.kind == Value::Kind::variable ? "(" + v.text : "(" + v.source;
    for (const Value& operand : v.operands)
      out += "," + text(operand, depth + 1);
    return out + ")";
  };
  return text(value, 0);
}

} // namespace reprobe::scan
