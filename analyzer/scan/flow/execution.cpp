#include "analyzer/scan/flow/execution.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace reprobe::scan {
namespace {

constexpr std::size_t kMostWorlds = 48;    // at the start of one block
constexpr std::size_t kMostSteps = 400000; // events of one run; beyond that calls are no longer followed
constexpr std::size_t kDeepestCalls = 60;

void collect_variables(const Function& function, const Value& value, std::set<std::string>& ids,
                       int depth = 0) {
  if (depth > 12)
    return;
  if (value.kind == Value::Kind::variable && !value.id.empty())
    ids.insert(value.id);
  for (const Value& operand : value.operands)
    collect_variables(function, operand, ids, depth + 1);
  const Event* event = value.kind == Value::Kind::call ? event_of(function, value.event) : nullptr;
  if (!event)
    return;
  if (event->receiver)
    collect_variables(function, *event->receiver, ids, depth + 1);
  for (const Value& argument : event->arguments)
    collect_variables(function, argument, ids, depth + 1);
}

// Worlds at one point: one for each state, in the order in which they came, with the assumptions that all its
// paths share.
class Worlds {
public:
  /// True when something new was learnt.
  bool add(World world) {
    const auto [known, is_new] = by_state_.try_emplace(world.state(), worlds_.size());
    if (is_new) {
      if (worlds_.size() >= kMostWorlds) {
        by_state_.erase(known);
        return false;
      }
      fresh_.insert(worlds_.size());
      worlds_.push_back(std::move(world));
      return true;
    }
    Assumptions& shared = worlds_[known->second].assumptions;
    const std::size_t before = shared.size();
    std::erase_if(shared, [&](const auto& assumption) {
      const auto other = world.assumptions.find(assumption.first);
      return other == world.assumptions.end() || other->second != assumption.second;
    });
    if (shared.size() == before)
      return false;
    fresh_.insert(known->second);
    return true;
  }
  const std::vector<World>& all() const { return worlds_; }
  /// Those that are new, or assume less, since they were last taken.
  std::vector<World> take_fresh() {
    std::vector<World> out;
    for (const std::size_t index : std::exchange(fresh_, {}))
      out.push_back(worlds_[index]);
    return out;
  }

private:
  std::vector<World> worlds_;
  std::set<std::size_t> fresh_;
  std::unordered_map<std::string, std::size_t> by_state_;
};

} // namespace

bool World::may_be(const std::string& name, bool value, bool initially) const {
  const Knob* found = knob(name);
  const Truth now = found ? under(found->value, assumptions) : Truth::of(initially);
  if (now.kind == Truth::Kind::yes)
    return value;
  if (now.kind == Truth::Kind::no)
    return !value;
  return true;
}

bool World::may_both_be_on(const std::string& a, const std::string& b) const {
  const Knob *first = knob(a), *second = knob(b);
  if (!first || !second)
    return false;
  Assumptions together = assumptions;
  return assume(together, first->value, true) && assume(together, second->value, true);
}

const World::Knob* World::knob(const std::string& name) const {
  const auto found = knobs.find(name);
  return found == knobs.end() ? nullptr : &found->second;
}

std::string World::state() const {
  std::string text;
  const auto put_number = [&](auto number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  const auto put_name = [&](const std::string& name) {
    put_number(name.size());
    text += name;
  };
  const auto put_knob = [&](const std::string& name, const Knob& knob) {
    put_name(name);
    put_number(knob.value.kind);
    put_number(knob.value.negated);
    put_name(knob.value.symbol);
    put_number(knob.writer.event);
  };
  put_number(knobs.size());
  for (const auto& [name, knob] : knobs)
    put_knob(name, knob);
  put_number(saved.size());
  for (const auto& [guard, knobs_then] : saved) {
    put_name(guard);
    put_number(knobs_then.size());
    for (const auto& [name, knob] : knobs_then)
      put_knob(name, knob);
  }
  put_number(generators.size());
  for (const auto& [name, generator] : generators) {
    put_name(name);
    put_number(generator.seed.event);
    put_number(generator.first_draw.event);
  }
  for (const auto& [name, value] : constants) {
    put_name(name);
    put_number(value);
  }
  return text;
}

Execution::Execution(const Codebase& project, const Effects& effects,
                     std::function<bool(const Event&)> of_interest)
    : project_(project), effects_(effects), of_interest_(std::move(of_interest)) {}

void Execution::ask(const Names& about) {
  const auto [entry, is_new] = slices_.try_emplace(about);
  slice_ = &entry->second;
  if (!is_new)
    return;
  slice_->names = about;
  for (const FunctionRef& ref : project_.functions())
    for (const Event& event : ref.function->events)
      for (const Effect& effect : effects_.of(&event)) {
        if (!about.contains(effect.name))
          continue;
        slice_->is_used = true;
        if (effect.kind == Effect::Kind::guard && !event.variable_id.empty())
          slice_->guards.insert(event.variable_id);
      }
  find_relevant();
  find_roots();
}

bool Execution::is_used(const Names& names) {
  ask(names);
  return slice_->is_used;
}

bool Execution::changes_state(const Event& event) const {
  const std::vector<Effect>& effects = effects_.of(&event);
  return std::any_of(effects.begin(), effects.end(),
                     [&](const Effect& effect) { return slice_->names.contains(effect.name); });
}

// Most events change nothing of what a world knows: they need no new worlds.
bool Execution::is_inert(FunctionRef ref, const Event& event) {
  if (event.kind == Event::Kind::declare || event.kind == Event::Kind::assign) {
    const std::string& id = event.receiver ? event.receiver->id : event.variable_id;
    if (condition_variables(ref).contains(id))
      return false;
  }
  const auto [entry, is_new] = slice_->inert.try_emplace(&event, false);
  if (!is_new)
    return entry->second;
  if (changes_state(event) || slice_->guards.contains(event.variable_id))
    return false;
  const std::vector<FunctionRef> callees = project_.callees(ref, event);
  return entry->second = std::none_of(callees.begin(), callees.end(), [&](const FunctionRef& callee) {
           return slice_->relevant.contains(callee.function);
         });
}

void Execution::find_relevant() {
  std::vector<const Function*> open;
  for (const FunctionRef& ref : project_.functions())
    for (const Event& event : ref.function->events)
      if (changes_state(event) || of_interest_(event)) {
        if (slice_->relevant.insert(ref.function).second)
          open.push_back(ref.function);
        break;
      }
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    for (const Site& caller : project_.callers(function))
      if (slice_->relevant.insert(caller.in.function).second)
        open.push_back(caller.in.function);
  }
}

const std::set<std::string>& Execution::condition_variables(FunctionRef ref) {
  const Function& function = *ref.function;
  const auto [entry, is_new] = slice_->condition_variables.try_emplace(&function);
  if (!is_new)
    return entry->second;
  for (const Block& block : function.blocks)
    for (const Edge& edge : block.successors)
      if (edge.condition)
        collect_variables(function, *edge.condition, entry->second);
  for (const Event& event : function.events)
    for (const Effect& effect : effects_.of(&event))
      if (effect.argument && effect.kind != Effect::Kind::seed && slice_->names.contains(effect.name))
        collect_variables(function, *effect.argument, entry->second);
  // What is handed on may decide there.
  for (const Event& event : function.events)
    for (const FunctionRef& callee : project_.callees(ref, event))
      if (slice_->relevant.contains(callee.function))
        for (const Value& argument : event.arguments)
          collect_variables(function, argument, entry->second);
  return entry->second;
}

void Execution::find_roots() {
  std::vector<FunctionRef>& roots = slice_->roots;
  std::set<const Function*> covered;
  const auto cover = [&](const FunctionRef& root) {
    roots.push_back(root);
    std::vector<FunctionRef> open = {root};
    while (!open.empty()) {
      const FunctionRef ref = open.back();
      open.pop_back();
      if (!covered.insert(ref.function).second)
        continue;
      for (const Event& event : ref.function->events)
        for (const FunctionRef& callee : project_.callees(ref, event))
          open.push_back(callee);
    }
  };
  for (const FunctionRef& main : project_.mains())
    cover(main);
  for (const bool uncalled : {true, false}) // then what only calls itself
    for (const FunctionRef& ref : project_.functions()) {
      if (covered.contains(ref.function) || !slice_->relevant.contains(ref.function))
        continue;
      if (!uncalled || project_.callers(ref.function).empty())
        cover(ref);
    }
}

void Execution::run(FunctionRef root, const Names& about, const Observer& before,
                    const std::function<void(const World&)>& at_exit, const ReturnObserver& after_call) {
  ask(about);
  finished_.clear();
  run_root(root, before, at_exit, after_call);
}

void Execution::run_all(const Names& about, const Observer& before, const std::function<void(const World&)>& at_exit,
                        const ReturnObserver& after_call) {
  ask(about);
  finished_.clear(); // for all roots together: a second run of a function from the same state shows nothing new
  for (const FunctionRef& root : slice_->roots)
    run_root(root, before, at_exit, after_call);
}

void Execution::run_root(FunctionRef root, const Observer& before, const std::function<void(const World&)>& at_exit,
                         const ReturnObserver& after_call) {
  before_ = before;
  after_call_ = after_call;
  running_.clear();
  steps_ = 0;
  for (const World& world : run_function(root, {})) {
    if (at_exit)
      at_exit(world);
    if (after_call)
      after_call(root, World{}, world);
  }
}

std::vector<World> Execution::run_function(FunctionRef ref, const World& entry) {
  if (running_.contains(ref.function) || running_.size() > kDeepestCalls || steps_ > kMostSteps)
    return {entry};
  const std::pair<const Function*, std::string> key{ref.function, entry.state()};
  if (const auto known = finished_.find(key); known != finished_.end())
    return known->second;
  running_.insert(ref.function);
  std::vector<World> exits = run_blocks(ref, entry);
  running_.erase(ref.function);
  if (exits.empty())
    exits.push_back(entry); // never returns, as far as the facts tell
  return finished_[key] = std::move(exits);
}

void Execution::run_worlds(FunctionRef ref, const Event& event, std::vector<World>& worlds) {
  if (is_inert(ref, event)) {
    steps_ += worlds.size();
    if (before_)
      for (const World& world : worlds)
        before_({ref, &event}, world);
    return;
  }
  Worlds next;
  for (World& world : worlds)
    for (World& after : run_event(ref, event, std::move(world)))
      next.add(std::move(after));
  worlds = next.all();
}

std::vector<World> Execution::run_blocks(FunctionRef ref, const World& entry) {
  const Function& function = *ref.function;
  condition_variables(ref); // known before the first assignment
  if (function.blocks.empty()) {
    std::vector<World> worlds = {entry};
    for (const Event& event : function.events)
      run_worlds(ref, event, worlds);
    return worlds;
  }
  std::map<std::uint32_t, const Block*> blocks;
  for (const Block& block : function.blocks)
    blocks[block.id] = &block;
  std::map<std::uint32_t, Worlds> at_start;
  at_start[function.entry].add(entry);
  std::deque<std::uint32_t> open = {function.entry};
  std::vector<World> exits;
  std::map<std::uint32_t, std::size_t> visits;
  while (!open.empty()) {
    const std::uint32_t id = open.front();
    open.pop_front();
    const auto found = blocks.find(id);
    if (found == blocks.end() || ++visits[id] > 8 * kMostWorlds)
      continue;
    std::vector<World> worlds = at_start[id].take_fresh(); // what the others lead to is known
    for (std::uint32_t index : found->second->events) {
      if (index < function.events.size())
        run_worlds(ref, function.events[index], worlds);
    }
    if (id == function.exit)
      continue;
    for (const Edge& edge : found->second->successors)
      for (const World& world : worlds) {
        World next = world;
        if (edge.condition && edge.label.empty() &&
            !assume(next.assumptions, truth_of(function, *edge.condition, next.constants), edge.when))
          continue;
        if (at_start[edge.block].add(std::move(next)) &&
            std::find(open.begin(), open.end(), edge.block) == open.end())
          open.push_back(edge.block);
      }
  }
  return at_start[function.exit].all();
}

std::vector<World> Execution::run_event(FunctionRef ref, const Event& event, World world) {
  ++steps_;
  if (before_)
    before_({ref, &event}, world);
  if (event.kind == Event::Kind::declare || event.kind == Event::Kind::assign)
    apply_assignment(ref, event, world);
  if (event.kind == Event::Kind::destroy)
    if (const auto guard = world.saved.find(event.variable_id); guard != world.saved.end()) {
      for (const auto& [name, knob] : guard->second) {
        if (knob.value.kind == Truth::Kind::unset)
          world.knobs.erase(name);
        else
          world.knobs[name] = knob;
      }
      world.saved.erase(event.variable_id);
    }
  for (const Effect& effect : effects_.of(&event))
    if (slice_->names.contains(effect.name))
      apply(ref, event, effect, world);
  return run_calls(ref, event, std::move(world));
}

void Execution::apply_assignment(FunctionRef ref, const Event& event, World& world) const {
  const std::string& id = event.receiver ? event.receiver->id : event.variable_id;
  if (id.empty())
    return;
  forget(world.assumptions, id);
  world.constants.erase(id);
  const bool plain = event.kind == Event::Kind::declare || event.text == "=";
  const auto tracked = slice_->condition_variables.find(ref.function);
  if (!plain || event.arguments.size() != 1 || tracked == slice_->condition_variables.end() ||
      !tracked->second.contains(id))
    return;
  const Value& value = event.arguments[0];
  if (value.kind == Value::Kind::integer || value.kind == Value::Kind::boolean ||
      value.kind == Value::Kind::enumerator)
    world.constants[id] = value.integer;
}

void Execution::apply(FunctionRef ref, const Event& event, const Effect& effect, World& world) const {
  const Site here{ref, &event};
  switch (effect.kind) {
  case Effect::Kind::guard:
  case Effect::Kind::write_knob: {
    const Truth value = under(written_value(*ref.function, effect, world.constants), world.assumptions);
    if (effect.once && world.knob(effect.name))
      return;
    if (effect.kind == Effect::Kind::guard) {
      if (event.variable_id.empty())
        return; // a temporary: gone at once
      const World::Knob* old = world.knob(effect.name);
      world.saved[event.variable_id][effect.name] = old ? *old : World::Knob{};
    }
    world.knobs[effect.name] = {value, here};
    return;
  }
  case Effect::Kind::seed: {
    World::Generator& generator = world.generators[effect.name];
    if (!generator.seed)
      generator.seed = here;
    return;
  }
  case Effect::Kind::draw: {
    World::Generator& generator = world.generators[effect.name];
    if (!generator.seed && !generator.first_draw)
      generator.first_draw = here;
    return;
  }
  case Effect::Kind::draw_later:
    return;
  }
}

std::vector<World> Execution::run_calls(FunctionRef ref, const Event& event, World world) {
  std::vector<World> worlds = {std::move(world)};
  for (const FunctionRef& callee : project_.callees(ref, event)) {
    if (!slice_->relevant.contains(callee.function))
      continue;
    Worlds next;
    for (const World& before : worlds)
      for (World& after : call(ref, event, callee, before))
        next.add(std::move(after));
    worlds = next.all();
  }
  return worlds;
}

// The callee starts from the caller's state; its parameters have the values that the caller passes where
// these are known, and what it finds out about a parameter is found out about the argument.
std::vector<World> Execution::call(FunctionRef caller, const Event& event, FunctionRef callee,
                                   const World& before) {
  const std::set<std::string>& decides = condition_variables(callee);
  World entry = before;
  entry.assumptions.clear();
  entry.constants.clear();
  std::map<std::string, Truth> passed; // symbol in the callee → the argument
  const bool direct = event.callee_usr == callee.function->usr;
  for (std::size_t i = 0; direct && i < std::min(event.arguments.size(), callee.function->parameters.size());
       ++i) {
    const std::string& id = callee.function->parameters[i].id;
    if (!decides.contains(id))
      continue;
    const Truth truth =
        under(truth_of(*caller.function, event.arguments[i], before.constants), before.assumptions);
    if (event.arguments[i].kind == Value::Kind::integer)
      entry.constants[id] = event.arguments[i].integer;
    else if (truth.kind == Truth::Kind::yes || truth.kind == Truth::Kind::no)
      entry.constants[id] = truth.kind == Truth::Kind::yes;
    else if (truth.kind == Truth::Kind::symbol)
      passed["<" + id + ">"] = truth;
  }
  std::vector<World> out;
  for (World after : run_function(callee, entry)) {
    Assumptions learnt = std::move(after.assumptions);
    after.assumptions = before.assumptions;
    after.constants = before.constants;
    bool possible = true;
    for (const auto& [symbol, value] : learnt) {
      if (const auto argument = passed.find(symbol); argument != passed.end())
        possible &= assume(after.assumptions, argument->second, value);
      else if (symbol.find("@F@") ==
               std::string::npos) // speaks of fields or globals: holds in the caller too
        possible &= assume(after.assumptions, {Truth::Kind::symbol, symbol, false}, value);
    }
    for (auto& [name, knob] : after.knobs) // a switch set to a parameter is set to the argument
      if (const auto argument = passed.find(knob.value.symbol);
          knob.value.kind == Truth::Kind::symbol && argument != passed.end())
        knob.value = knob.value.negated ? !argument->second : argument->second;
    if (possible)
      out.push_back(std::move(after));
  }
  if (after_call_)
    for (const World& after : out)
      after_call_(callee, before, after);
  return out.empty() ? std::vector<World>{before} : out;
}

} // namespace reprobe::scan
