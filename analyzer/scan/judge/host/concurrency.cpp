// Family `threads`: what code that several threads run at once does to the things that they share.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/host/loops.h"
#include "analyzer/scan/judge/host/threads.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool is_number(const std::string& type) {
  return is_floating_type(type) || is_integer_type(type);
}

bool is_constant(const Value& value) {
  if (value.kind == Value::Kind::compound && (value.text == "cast" || value.text == "{}"))
    return std::all_of(value.operands.begin(), value.operands.end(), is_constant);
  return value.kind == Value::Kind::integer || value.kind == Value::Kind::boolean || value.kind == Value::Kind::floating ||
         value.kind == Value::Kind::enumerator || value.kind == Value::Kind::null || value.kind == Value::Kind::string;
}

std::string name_of(const Value& variable) {
  return last_part(variable.text);
}

// `v[i]`, `*p`, `v.at(i)`: the container and the index.
struct Element {
  const Value* base = nullptr;
  std::vector<const Value*> indices;
  explicit operator bool() const { return base != nullptr; }
};

Element element_of(const Function& function, const Value& value) {
  if (value.kind == Value::Kind::compound && value.text == "[]" && value.operands.size() == 2)
    return {&value.operands[0], {&value.operands[1]}};
  if (value.kind == Value::Kind::compound && value.text == "*" && value.operands.size() == 1)
    return {&value.operands[0], {}};
  if (value.kind != Value::Kind::call)
    return {};
  const Event* event = event_of(function, value.event);
  const std::string name = event ? last_part(event->callee) : std::string();
  if (!event || !event->receiver || (name != "operator[]" && name != "at" && name != "operator()" && name != "operator*"))
    return {};
  Element element{&*event->receiver, {}};
  for (const Value& argument : event->arguments)
    element.indices.push_back(&argument);
  return element;
}

bool any_split(const Frame& frame, const Element& element) {
  return frame.is_split(*element.base) || std::any_of(element.indices.begin(), element.indices.end(),
                                                      [&](const Value* index) { return frame.is_split(*index); });
}

bool packs_bits(const std::string& type) {
  return type.find("std::vector<bool") != std::string::npos || type.find("std::bitset<") != std::string::npos;
}

struct Write {
  const Value* target = nullptr; // the variable
  std::string what;
  bool adds = false;   // reads, adds and writes
  bool floating = false;
  bool grows = false;  // a container is filled or emptied
  std::string confidence = "high";
};

// What the event writes of that which the threads share; nothing for what keeps them apart.
std::optional<Write> shared_write(const Frame& frame, const Event& event) {
  const Function& function = *frame.function.function;
  if (!event.receiver)
    return std::nullopt;
  const Value& receiver = *event.receiver;
  const Value* root = root_variable(function, receiver);
  if (!root || root->text == "this")
    return std::nullopt;
  if (event.kind == Event::Kind::assign) {
    const bool adds = event.text != "=";
    if (const Element element = element_of(function, receiver)) {
      if (!frame.is_shared(*element.base) || any_split(frame, element) || !adds || !is_number(receiver.type))
        return std::nullopt;
      return Write{root, fmt::format("elements of `{}` are added to", name_of(*root)), true, is_floating_type(receiver.type),
                   false, is_floating_type(receiver.type) ? "high" : "medium"};
    }
    if (receiver.kind != Value::Kind::variable || !frame.is_shared(receiver) || !is_number(receiver.type))
      return std::nullopt;
    if (!adds && (event.arguments.empty() || is_constant(event.arguments[0])))
      return std::nullopt; // the same whoever comes last
    return Write{root, fmt::format("`{}` is {}", name_of(*root), adds ? "added to" : "written"), adds,
                 is_floating_type(receiver.type), false, adds ? "high" : "medium"};
  }
  if (event.kind != Event::Kind::call)
    return std::nullopt;
  const std::string name = last_part(event.callee);
  if (event.callee.find("_Bit_reference") != std::string::npos || receiver.type.find("_Bit_reference") != std::string::npos) {
    const Element element = element_of(function, receiver);
    if (!element || name != "operator=" || !frame.is_shared(*root) || !packs_bits(root->type))
      return std::nullopt;
    return Write{root, fmt::format("elements of `{}` share their bytes, whatever their index", name_of(*root)), false, false,
                 false, "high"};
  }
  if (is_container(receiver.type) && is_mutator(name) && receiver.kind == Value::Kind::variable && frame.is_shared(receiver))
    return Write{root, fmt::format("`{}` is changed by {}", name_of(*root), name), false, false, true, "high"};
  const bool tensor_update = receiver.type.find("at::Tensor") != std::string::npos && receiver.kind == Value::Kind::variable &&
                             (name == "operator+=" || name == "add_" || name == "sub_" || name == "operator-=");
  if (tensor_update && frame.is_shared(receiver))
    return Write{root, fmt::format("`{}` is added to", name_of(*root)), true, true, false, "high"};
  return std::nullopt;
}

// Where the threads first reach, through an object that they share, the code that writes: `weights->add(…)`.
Site surface_of(const Frame& frame, const Event& event) {
  Site surface{frame.function, &event};
  for (const Frame* inner = &frame; inner->caller; inner = inner->caller) {
    const Event& call = *inner->call;
    const bool through_object = call.receiver && call.receiver->text != "this" && inner->caller->is_shared(*call.receiver);
    if (through_object) {
      surface = {inner->caller->function, &call};
      break;
    }
  }
  return surface;
}

std::string started(const Start& start) {
  if (start.pragma)
    return fmt::format("`#pragma {}`", start.pragma->text);
  return shown_name(*start.site.event);
}

class Judge {
public:
  Judge(const Context& context, Findings& findings) : context_(context), findings_(findings) {}

  // --- writes without a lock ---

  void race(const Frame& frame, const Event& event) {
    if (!frame.start->many || frame.is_locked_at(event) || frame.is_single_at(event))
      return;
    const std::optional<Write> write = shared_write(frame, event);
    if (!write || is_reduced(frame, *write->target))
      return;
    const Site surface = surface_of(frame, event);
    if (!reported_.insert({frame.start, surface.in.function, write->target->id}).second)
      return;
    Draft draft;
    draft.site = surface;
    draft.message = fmt::format("{}, by several threads at once and without a lock", write->what);
    draft.fix = findings_.rule().fix;
    draft.confidence = write->confidence;
    if (!(surface.event == &event))
      draft.notes.emplace_back(Site{frame.function, &event}, write->what);
    draft.notes.emplace_back(frame.start->site, "the threads start here: " + started(*frame.start));
    const bool far = !frame.is_outermost() && !(surface.in == frame.start->site.in);
    findings_.add(std::move(draft));
    if (far && write->adds && write->floating && starts_reported_.insert(frame.start).second)
      report_start(frame, *write, surface);
  }

  void report_start(const Frame& frame, const Write& write, const Site& surface) {
    Draft draft;
    draft.site = frame.start->site;
    draft.message = fmt::format("threads that start here update what they share without a lock: {}", write.what);
    draft.fix = findings_.rule().fix;
    draft.confidence = write.confidence;
    draft.notes.emplace_back(surface, write.what);
    findings_.add(std::move(draft));
  }

  // A container that is changed under a lock and looked at without one.
  void check_then_act(FunctionRef ref) {
    std::vector<Range> locked;
    for (const Pragma& pragma : ref.unit->pragmas)
      if (is_inside(ref.function->range, pragma.where) && openmp_directives(pragma).contains("critical"))
        locked.push_back(pragma.statement);
    if (locked.empty())
      return;
    const auto is_locked = [&](const Event& event) {
      return std::any_of(locked.begin(), locked.end(), [&](const Range& range) { return is_inside(range, event.range.begin); });
    };
    const Function& function = *ref.function;
    for (const Event& write : function.events) {
      const Value* target = write.receiver ? root_variable(function, *write.receiver) : nullptr;
      if (write.kind != Event::Kind::call || !target || !is_container(target->type) || !is_mutator(last_part(write.callee)) ||
          !is_locked(write) || target->id.find("@FI@") == std::string::npos)
        continue;
      for (const Event& read : function.events) {
        const Value* root = read.receiver ? root_variable(function, *read.receiver) : nullptr;
        if (read.kind != Event::Kind::call || !root || root->id != target->id || is_locked(read) || read.id > write.id)
          continue;
        Draft draft;
        draft.site = {ref, &read};
        draft.message = fmt::format("`{}` is looked at without the lock under which other threads change it", name_of(*root));
        draft.fix = findings_.rule().fix;
        draft.confidence = "medium";
        draft.notes.emplace_back(Site{ref, &write}, "changed here under a lock");
        findings_.add(std::move(draft));
        return;
      }
    }
  }

  // --- results in the order in which threads finish ---

  void order(const Frame& frame, const Event& event) {
    if (!frame.start->many || frame.is_single_at(event))
      return;
    arrival(frame, event);
    progress(frame, event);
  }

  void arrival(const Frame& frame, const Event& event) {
    static const std::set<std::string, std::less<>> appends = {"push_back", "emplace_back", "push", "emplace", "enqueue",
                                                               "try_push", "push_front", "emplace_front"};
    const std::string name = last_part(event.callee);
    if (event.kind != Event::Kind::call || !event.receiver || !appends.contains(name))
      return;
    const Value& receiver = *event.receiver;
    const Value* root = root_variable(*frame.function.function, receiver);
    const bool concurrent = is_concurrent(receiver.type);
    if (!root || receiver.kind != Value::Kind::variable || !frame.is_shared(receiver) ||
        !(concurrent || (is_sequence_type(receiver.type) && frame.is_locked_at(event))) || is_ignored(name_of(*root), receiver.type))
      return;
    if (is_sorted_later(context_, frame.function, {&event, {}, root->id, root}))
      return;
    if (!reported_.insert({frame.start, frame.function.function, root->id}).second)
      return;
    Draft draft;
    draft.site = {frame.function, &event};
    draft.message = fmt::format("`{}` is filled in the order in which threads happen to come", name_of(*root));
    draft.fix = findings_.rule().fix;
    draft.notes.emplace_back(frame.start->site, "the threads start here: " + started(*frame.start));
    findings_.add(std::move(draft));
  }

  bool is_concurrent(const std::string& type) const {
    const std::string name = plain_name(type);
    for (const json& row : context_.registry.table("threads"))
      if (row.at("role") == "concurrent")
        for (const json& known : row.at("types"))
          if (known == name)
            return true;
    return false;
  }

  static bool is_sequence_type(const std::string& type) {
    static const std::set<std::string, std::less<>> sequences = {"std::vector", "std::deque", "std::list", "std::queue",
                                                                 "std::stack", "std::forward_list"};
    return sequences.contains(plain_name(type));
  }

  // Messages and errors are no results, tasks and free buffers come in any order.
  bool is_ignored(const std::string& name, const std::string& type) const {
    const auto found_in = [](const json& words, std::string text) {
      std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
      return std::any_of(words.begin(), words.end(), [&](const json& word) { return text.find(word.get<std::string>()) != std::string::npos; });
    };
    const json& options = findings_.rule().options;
    return found_in(options.value("ignored-names", json::array()), name) ||
           found_in(options.value("ignored-types", json::array()), type);
  }

  // What all threads have counted so far decides what this one computes.
  void progress(const Frame& frame, const Event& event) {
    const Function& function = *frame.function.function;
    if (event.kind != Event::Kind::call || !event.receiver || !event.result_used || !is_atomic_read(event))
      return;
    const Value* root = root_variable(function, *event.receiver);
    if (!root || !frame.is_shared(*event.receiver) || !counted_.contains(root->id))
      return;
    std::set<std::string> derived;
    const std::uint32_t read = event.id;
    for (const Event& later : function.events) {
      if (later.id <= read || later.variable_id.empty() || later.kind == Event::Kind::destroy)
        continue;
      const bool takes = std::any_of(later.arguments.begin(), later.arguments.end(), [&](const Value& argument) {
        return depends_on(function, argument, read, derived, 0);
      });
      if (takes && is_floating_type(later.result_type))
        derived.insert(later.variable_id);
    }
    for (const Event& use : function.events) {
      if (derived.empty() || use.id <= read || use.kind != Event::Kind::call || is_ignored(last_part(use.callee), ""))
        continue;
      const bool user_code = static_cast<bool>(context_.project.definition(use.callee_usr, *frame.function.unit));
      const bool takes = std::any_of(use.arguments.begin(), use.arguments.end(), [&](const Value& argument) {
        return argument.kind == Value::Kind::variable && derived.contains(argument.id);
      });
      if (!user_code || !takes)
        continue;
      if (!reported_.insert({frame.start, frame.function.function, root->id}).second)
        return;
      Draft draft;
      draft.site = {frame.function, &event};
      draft.message = fmt::format("`{}`, which all threads advance, decides what {} computes: how far the others are is a matter of timing",
                                  name_of(*root), shown_name(use));
      draft.fix = findings_.rule().fix;
      draft.confidence = "medium";
      draft.notes.emplace_back(Site{frame.function, &use}, "used here");
      draft.notes.emplace_back(frame.start->site, "the threads start here: " + started(*frame.start));
      findings_.add(std::move(draft));
      return;
    }
  }

  static bool is_atomic_read(const Event& event) {
    const std::string name = last_part(event.callee);
    const bool atomic = event.receiver->type.find("std::atomic") != std::string::npos ||
                        event.receiver->type.find("__atomic_base") != std::string::npos;
    return atomic && (name == "load" || name.rfind("operator ", 0) == 0);
  }

  static bool depends_on(const Function& function, const Value& value, std::uint32_t event,
                         const std::set<std::string>& variables, int depth) {
    if (depth > 10)
      return false;
    if (value.kind == Value::Kind::variable && variables.contains(value.id))
      return true;
    if (value.kind == Value::Kind::call) {
      if (value.event == event)
        return true;
      const Event* call = event_of(function, value.event);
      if (call)
        for (const Value& argument : call->arguments)
          if (depends_on(function, argument, event, variables, depth + 1))
            return true;
    }
    return std::any_of(value.operands.begin(), value.operands.end(), [&](const Value& operand) {
      return depends_on(function, operand, event, variables, depth + 1);
    });
  }

  void note_counter(const Frame& frame, const Event& event) {
    if (event.kind != Event::Kind::call || !event.receiver || event.receiver->type.find("atomic") == std::string::npos)
      return;
    const std::string name = last_part(event.callee);
    if (name != "operator+=" && name != "fetch_add" && name != "operator++" && name != "operator-=" && name != "fetch_sub")
      return;
    if (const Value* root = root_variable(*frame.function.function, *event.receiver); root && frame.start->many)
      counted_.insert(root->id);
  }

  // --- sums in the order in which threads come ---

  void reduction(const Frame& frame, const Event& event) {
    if (!frame.start->many || frame.is_single_at(event) || !frame.is_locked_at(event))
      return;
    const std::optional<Write> write = shared_write(frame, event);
    if (!write || !write->adds || !write->floating)
      return;
    if (!reported_.insert({frame.start, frame.function.function, write->target->id}).second)
      return;
    Draft draft;
    draft.site = {frame.function, &event};
    draft.message = fmt::format("`{}` is added up in the order in which threads come, and floating-point sums depend on the order",
                                name_of(*write->target));
    draft.fix = findings_.rule().fix;
    draft.tags = {"CPP-16", "CPP-18"};
    draft.notes.emplace_back(frame.start->site, "the threads start here: " + started(*frame.start));
    findings_.add(std::move(draft));
  }

  void openmp_reduction(FunctionRef ref) {
    for (const Pragma& pragma : ref.unit->pragmas) {
      const std::set<std::string> directives = openmp_directives(pragma);
      const bool threads = directives.contains("parallel") || directives.contains("for") || directives.contains("taskloop") ||
                           directives.contains("sections") || directives.contains("teams");
      if (!is_inside(ref.function->range, pragma.where) || !threads || ref.function->is_lambda)
        continue;
      for (const auto& [operation, name] : openmp_reductions(pragma)) {
        if (operation != "+" && operation != "-" && operation != "*")
          continue;
        const Event* update = update_of(ref, pragma, name);
        if (!update)
          continue;
        Draft draft;
        draft.site = {ref, first_event(ref, pragma)};
        draft.message = fmt::format("reduction({}:{}) adds floating-point parts in an order that the OpenMP runtime chooses",
                                    operation, name);
        draft.fix = findings_.rule().fix;
        draft.tags = {"CPP-17"};
        if (pragma.text.find("schedule(dynamic") != std::string::npos || pragma.text.find("schedule(guided") != std::string::npos)
          draft.tags.push_back("CPP-19");
        draft.notes.emplace_back(Site{ref, update}, "`" + name + "` is added to here");
        findings_.add(std::move(draft));
      }
    }
  }

  static const Event* first_event(FunctionRef ref, const Pragma& pragma) {
    const Event* first = nullptr;
    for (const Event& event : ref.function->events) {
      if (!is_inside(pragma.statement, event.range.begin))
        continue;
      if (event.kind == Event::Kind::iterate)
        return &event;
      if (!first)
        first = &event;
    }
    return first;
  }

  static const Event* update_of(FunctionRef ref, const Pragma& pragma, const std::string& name) {
    for (const Event& event : ref.function->events)
      if (event.receiver && is_inside(pragma.statement, event.range.begin)) {
        const Value* root = root_variable(*ref.function, *event.receiver);
        if (root && name_of(*root) == name &&
            (is_floating_type(root->type) || is_floating_type(event.receiver->type) || root->type.find("complex<") != std::string::npos))
          return &event;
      }
    return nullptr;
  }

  void library_reduction(FunctionRef ref, const Event& event, const SymbolIndex& reductions) {
    for (const SymbolIndex::Match& match : reductions.find(event)) {
      const json policies = match.row->value("policy", json::array());
      const auto is_policy = [&](const Value& argument) {
        return std::any_of(policies.begin(), policies.end(), [&](const json& policy) {
          return argument.type.find(policy.get<std::string>()) != std::string::npos;
        });
      };
      if (!policies.empty() && std::none_of(event.arguments.begin(), event.arguments.end(), is_policy))
        continue;
      if (is_integer_type(event.result_type) || event.result_type == "void")
        continue;
      Draft draft;
      draft.site = {ref, &event};
      draft.message = fmt::format("{} groups its parts as the scheduler likes, and floating-point sums depend on the grouping",
                                  shown_name(event));
      draft.fix = findings_.rule().fix;
      draft.tags = {match.row->at("catalog").get<std::string>()};
      if (!is_floating_type(event.result_type))
        draft.confidence = "medium";
      findings_.add(std::move(draft));
      return;
    }
  }

  // --- random numbers drawn by threads ---

  void draws(const Frame& frame, const Event& event) {
    if (frame.is_single_at(event))
      return;
    for (const Effect& effect : context_.effects.of(&event))
      if (effect.kind == Effect::Kind::draw && !effect.layer && is_common(effect.name) &&
          (frame.start->many || effect.name == "torch"))
        return report_draw(frame, event, shown_name(event) + " draws from a generator that all threads share", "high");
    if (!frame.start->many || event.kind != Event::Kind::call || !(event.external || !event.resolved) ||
        last_part(event.callee) == "seed")
      return;
    if (event.receiver && context_.effects.is_engine(event.receiver->type) && is_drawn(event))
      return engine_draw(frame, event, *event.receiver);
    for (const Value& argument : event.arguments)
      if (context_.effects.is_engine(argument.type))
        return engine_draw(frame, event, argument);
  }

  static bool is_common(const std::string& generator) {
    return generator == "c-library" || generator == "torch" || generator == "opencv";
  }

  static bool is_drawn(const Event& event) {
    const std::string name = last_part(event.callee);
    return name == "operator()" || name == "uniform" || name == "gaussian" || name == "fill" || name == "next" || name == "random";
  }

  void engine_draw(const Frame& frame, const Event& event, const Value& engine) {
    if (frame.is_shared(engine))
      return report_draw(frame, event, fmt::format("the engine `{}` is shared by all threads", engine_name(frame, engine)), "high");
    if (frame.start->queued && is_thread_local(frame, engine))
      report_draw(frame, event,
                  fmt::format("`{}` is the thread's own, and which thread handles which piece of work is a matter of timing",
                              engine_name(frame, engine)), "medium");
  }

  static std::string engine_name(const Frame& frame, const Value& engine) {
    const Value* root = root_variable(*frame.function.function, engine);
    return root ? name_of(*root) : engine.source;
  }

  bool is_thread_local(const Frame& frame, const Value& engine) const {
    const Value* root = root_variable(*frame.function.function, engine);
    if (!root)
      return false;
    const std::vector<Site> sites = context_.project.definitions(root->id, frame.function);
    return std::any_of(sites.begin(), sites.end(), [](const Site& site) { return site.event->text == "thread_local"; });
  }

  void report_draw(const Frame& frame, const Event& event, std::string what, std::string confidence) {
    Draft draft;
    draft.site = {frame.function, &event};
    draft.message = fmt::format("{}: which numbers a piece of work gets depends on how the threads are scheduled", what);
    draft.fix = findings_.rule().fix;
    draft.confidence = std::move(confidence);
    draft.notes.emplace_back(frame.start->site, "the threads start here: " + started(*frame.start));
    findings_.add(std::move(draft));
  }

private:
  // `reduction(+:x)` gives each thread a copy.
  static bool is_reduced(const Frame& frame, const Value& target) {
    if (!frame.start->pragma)
      return false;
    for (const auto& [operation, name] : openmp_reductions(*frame.start->pragma))
      if (name == name_of(target))
        return true;
    return false;
  }

  const Context& context_;
  Findings& findings_;
  std::set<std::tuple<const Start*, const Function*, std::string>> reported_;
  std::set<const Start*> starts_reported_;
  std::set<std::string> counted_; // atomics that threads add to
};

} // namespace

void judge_threads(const Context& context, Findings& findings) {
  const std::string check = findings.rule().options.value("check", "");
  Judge judge(context, findings);
  if (check == "race") {
    for_each_threaded_event(context, [&](const Frame& frame, const Event& event) { judge.race(frame, event); });
    for (const FunctionRef& ref : context.project.functions())
      judge.check_then_act(ref);
  }
  if (check == "order") {
    for_each_threaded_event(context, [&](const Frame& frame, const Event& event) { judge.note_counter(frame, event); });
    for_each_threaded_event(context, [&](const Frame& frame, const Event& event) { judge.order(frame, event); });
  }
  if (check == "draws")
    for_each_threaded_event(context, [&](const Frame& frame, const Event& event) { judge.draws(frame, event); });
  if (check == "reduction") {
    json rows = json::array();
    for (const json& row : context.registry.table("threads"))
      if (row.at("role") == "reduces")
        rows.push_back(row);
    const SymbolIndex reductions(rows);
    for (const FunctionRef& ref : context.project.functions()) {
      judge.openmp_reduction(ref);
      for (const Event& event : ref.function->events)
        judge.library_reduction(ref, event, reductions);
    }
    for_each_threaded_event(context, [&](const Frame& frame, const Event& event) { judge.reduction(frame, event); });
  }
}

} // namespace reprobe::scan
