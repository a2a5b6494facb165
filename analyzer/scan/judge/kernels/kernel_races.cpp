// Family `kernel-races`: plain stores of one kernel by which several threads write one element.
//
// Three things are clear enough to report:
// - the value differs between threads in a direction in which the element does not, and nothing lets one
// thread
//   alone get there: the last writer wins, or updates are lost;
// - the element is found through an index from memory, and the store is guarded by an equality that several
// threads
//   can satisfy for that element (the position of a maximum): ties are decided by who comes last;
// - the element is found through an index from memory that the same kernel also gives to an atomic operation,
// so
//   that indices are known to repeat.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/kernels/kernel.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

struct Race {
  std::string what, confidence;
};

// Thread indices may be in it that cannot be seen.
bool is_uncertain(const Spread& spread) {
  return spread.opaque || spread.unknown;
}

std::string shown(const Value& value) {
  return value.source.empty() ? "the element" : "`" + value.source + "`";
}

const char* shown_dimension(Dimensions dimensions) {
  static const char* const names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z",
                                      "blockIdx.x",  "blockIdx.y",  "blockIdx.z"};
  for (unsigned bit = 0; bit < 6; ++bit)
    if (dimensions & (1u << bit))
      return names[bit];
  return "the thread";
}

// In which directions the conditions around an event differ: `if (x[i] > 0) ++count;`
Dimensions guard_dimensions(const Kernel& kernel, const Event& event) {
  Dimensions out = 0;
  for (const Guard& guard : kernel.guards(event)) {
    const Spread spread = kernel.spread(*guard.condition);
    if (spread.memory && !spread.opaque)
      out |= spread.dimensions;
  }
  return out;
}

std::optional<Race> missing_direction(const Kernel& kernel, const Store& store) {
  const Spread address = kernel.spread(*store.address);
  const bool found_in_memory = address.memory && store.address->kind == Value::Kind::compound &&
                               std::any_of(store.address->operands.begin(), store.address->operands.end(),
                                           [&](const Value& part) { return kernel.spread(part).memory; });
  if (is_uncertain(address) || found_in_memory)
    return std::nullopt;
  const Spread stored = store.stored ? kernel.spread(*store.stored) : Spread{};
  Dimensions differs = stored.opaque || stored.shared ? 0 : stored.dimensions;
  if (store.update)
    differs |= stored.opaque || stored.shared ? 0 : guard_dimensions(kernel, *store.event);
  // A block's own memory is not shared with other blocks.
  const Dimensions reach = store.shared ? kThreadDimensions : kAllDimensions;
  const Dimensions missing = differs & reach & ~address.dimensions & ~kernel.pinned(*store.event);
  if (!missing)
    return std::nullopt;
  const char* loses = store.update ? "without an atomic, so updates get lost" : "and the last one wins";
  return Race{fmt::format("threads that differ in {} write {} {}", shown_dimension(missing),
                          shown(*store.address), loses),
              "medium"};
}

// Variables that hold what each thread loaded from memory and occur in an expression.
std::set<std::string> loaded_variables(const Context& context, const Kernel& kernel, const Value& value) {
  std::set<std::string> out;
  walk(context.project, kernel.ref(), value, {.results = false}, [&](const Visit& visit) {
    const Value& v = *visit.value;
    if (v.kind != Value::Kind::variable || !v.operands.empty() || v.id.empty() || v.type.ends_with("*"))
      return true;
    const Spread spread = kernel.spread(v);
    if (spread.memory && spread.dimensions != 0)
      out.insert(v.id);
    return true;
  });
  return out;
}

// A place that an atomic gave to one thread alone.
bool is_drawn(const Context& context, const Kernel& kernel, const Value& address) {
  bool drawn = false;
  walk(context.project, kernel.ref(), address, {}, [&](const Visit& visit) {
    const std::string name = visit.event ? last_part(visit.event->callee) : "";
    drawn = drawn || name.starts_with("atomic") || name.starts_with("fetch_");
    return !drawn;
  });
  return drawn;
}

bool overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

bool is_equality(const Guard& guard) {
  const Value& condition = *guard.condition;
  return condition.kind == Value::Kind::compound && condition.operands.size() == 2 &&
         ((condition.text == "==" && guard.when) || (condition.text == "!=" && !guard.when));
}

std::optional<Race> tie(const Context& context, const Kernel& kernel, const Store& store) {
  if (!store.stored || store.update || !kernel.spread(*store.stored).is_own())
    return std::nullopt;
  const std::set<std::string> indices = loaded_variables(context, kernel, *store.address);
  if (indices.empty() || is_drawn(context, kernel, *store.address))
    return std::nullopt;
  const auto text = [&](const Value& value) { return canonical(context.project, kernel.ref(), value); };
  for (const Guard& guard : kernel.guards(*store.event)) {
    if (!is_equality(guard))
      continue;
    const Value &left = guard.condition->operands[0], &right = guard.condition->operands[1];
    const std::string stored = text(*store.stored); // what is compared is the same for all that get here
    if (kernel.spread(left).memory && kernel.spread(right).memory && stored != text(left) &&
        stored != text(right) && overlap(indices, loaded_variables(context, kernel, *guard.condition)))
      return Race{fmt::format("several threads can satisfy the condition for one {}, and the last one wins",
                              shown(*store.address)),
                  "high"};
  }
  return std::nullopt;
}

// An atomic minimum decides, a plain store beside it remembers who.
std::optional<Race> beside_an_atomic(const Context& context, const Kernel& kernel, const Store& store) {
  if (!store.stored || store.update || !kernel.spread(*store.stored).is_own())
    return std::nullopt;
  for (const Guard& guard : kernel.guards(*store.event)) {
    bool by_extreme = false;
    walk(context.project, kernel.ref(), *guard.condition, {}, [&](const Visit& visit) {
      const std::string name = visit.event ? last_part(visit.event->callee) : "";
      by_extreme = by_extreme || name.starts_with("atomicMin") || name.starts_with("atomicMax");
      return !by_extreme;
    });
    const Spread address = kernel.spread(*store.address);
    if (by_extreme && !is_uncertain(address) &&
        (kernel.spread(*store.stored).dimensions & ~address.dimensions))
      return Race{
          fmt::format(
              "{} is written after an atomic that decides who writes it: a thread that lost meanwhile may "
              "write last",
              shown(*store.address)),
          "medium"};
  }
  return std::nullopt;
}

std::optional<Race> repeated_index(const Context& context, const Kernel& kernel, const Store& store) {
  if (!store.stored || !kernel.spread(*store.stored).is_own() || is_drawn(context, kernel, *store.address))
    return std::nullopt;
  const std::set<std::string> indices = loaded_variables(context, kernel, *store.address);
  if (indices.empty() || (kernel.pinned(*store.event) & kThreadDimensions))
    return std::nullopt;
  for (const Event& event : kernel.ref().function->events) {
    if (event.kind != Event::Kind::call || !last_part(event.callee).starts_with("atomic") ||
        event.arguments.empty())
      continue;
    const Value& target = event.arguments[0];
    if (overlap(indices, loaded_variables(context, kernel, target)))
      return Race{
          fmt::format(
              "the index of {} repeats (an atomic of this kernel uses it too), and the last writer wins",
              shown(*store.address)),
          "medium"};
  }
  return std::nullopt;
}

// An exchange whose old value nobody looks at: an atomic store.
std::optional<Race> exchange(const Kernel& kernel, const Event& event) {
  if (event.kind != Event::Kind::call || !last_part(event.callee).starts_with("atomicExch") || event.result_used ||
      event.arguments.size() < 2)
    return std::nullopt;
  Store store;
  store.event = &event;
  store.address = &event.arguments[0];
  store.root = root_variable(*kernel.ref().function, event.arguments[0]);
  store.stored = &event.arguments[1];
  store.shared = kernel.points_to_shared(event.arguments[0]);
  return missing_direction(kernel, store);
}

// Written for more than one thread.
bool uses_threads(const Kernel& kernel) {
  for (const Event& event : kernel.ref().function->events) {
    if (event.receiver && (kernel.spread(*event.receiver).dimensions & kThreadDimensions))
      return true;
    for (const Value& argument : event.arguments)
      if (kernel.spread(argument).dimensions & kThreadDimensions)
        return true;
  }
  return false;
}

// A random generator's state that several threads advance.
bool shares_generator(const Context& context, const Kernel& kernel, const Event& event) {
  if (event.kind != Event::Kind::call || event.arguments.empty() ||
      !is_device_function(context, "generator", event.callee) || kernel.points_to_own(event.arguments[0]))
    return false;
  const Value& state = event.arguments[0];
  const Value* root = root_variable(*kernel.ref().function, state);
  const bool address = state.kind == Value::Kind::variable ? state.type.ends_with("*")
                                                           : state.text == "&" || state.text == "+";
  const Spread spread = kernel.spread(state);
  return address && root && (root->type.ends_with("*") || kernel.is_shared(root->id)) &&
         !is_uncertain(spread) && !(spread.dimensions & kThreadDimensions) &&
         !(kernel.pinned(event) & kThreadDimensions) && uses_threads(kernel);
}

void add(const Kernel& kernel, const Event& event, Race race, Findings& findings) {
  Draft draft;
  draft.site = {kernel.ref(), &event};
  draft.message = std::move(race.what);
  draft.fix = findings.rule().fix;
  draft.confidence = race.confidence;
  draft.devices = {"cuda"};
  draft.kernels = {kernel.ref().function->name};
  findings.add(std::move(draft));
}

} // namespace

void judge_kernel_races(const Context& context, Findings& findings) {
  for (const FunctionRef& ref : context.project.functions()) {
    if (!ref.function->is_kernel || ref.function->blocks.empty())
      continue;
    const Kernel kernel(context, ref);
    for (const Store& store : kernel.stores()) {
      std::optional<Race> race = beside_an_atomic(context, kernel, store);
      if (!race)
        race = missing_direction(kernel, store);
      if (!race)
        race = tie(context, kernel, store);
      if (!race)
        race = repeated_index(context, kernel, store);
      if (race)
        add(kernel, *store.event, std::move(*race), findings);
    }
    for (const Event& event : ref.function->events)
      if (std::optional<Race> race = exchange(kernel, event))
        add(kernel, event, std::move(*race), findings);
      else if (shares_generator(context, kernel, event))
        add(kernel, event,
            {"threads advance one random generator's state without waiting for each other", "high"},
            findings);
  }
}

} // namespace reprobe::scan
