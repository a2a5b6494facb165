#include "analyzer/scan/judge/host/threads.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/host/loops.h"

#include <algorithm>
#include <list>
#include <sstream>

namespace reprobe::scan {
namespace {

using nlohmann::json;

constexpr int kDeepestValue = 12;
constexpr int kDeepestCalls = 12;
constexpr std::size_t kMostFrames = 20000; // of one project
constexpr const char* kPrivateClauses[] = {"private",   "firstprivate", "lastprivate", "linear",
                                           "reduction", "in_reduction", "threadprivate"};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

// "omp for reduction(+:a, b) private(c)" → {"reduction", "+:a, b"}, {"private", "c"}
std::vector<std::pair<std::string, std::string>> clauses_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> clauses;
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(', open)) {
    std::size_t begin = open;
    while (begin > 0 && text[begin - 1] == ' ')
      --begin;
    const std::size_t name_end = begin;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
      --begin;
    std::size_t close = open + 1;
    for (int depth = 1; close < text.size() && depth > 0; ++close)
      depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
    clauses.emplace_back(text.substr(begin, name_end - begin), text.substr(open + 1, close - open - 2));
    open = close;
  }
  return clauses;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : list + ",") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::move(name));
      name.clear();
    }
  }
  return names;
}

bool points(const std::string& type) {
  return (!type.empty() && type.back() == '*') || type.find("shared_ptr<") != std::string::npos ||
         type.find("unique_ptr<") != std::string::npos || type.find("reference_wrapper<") != std::string::npos;
}

bool names_any(const json& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(), [&](const json& part) {
    return text.find(part.get<std::string>()) != std::string::npos;
  });
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The rows of `threads` by their role.
class Table {
public:
  explicit Table(const json& rows) {
    for (const json& row : rows)
      by_role_[row.at("role")].push_back(row);
    for (const auto& [role, of_role] : by_role_)
      symbols_.emplace(role, SymbolIndex(of_role)), types_.emplace(role, SymbolIndex(of_role, {"types"}));
  }
  const json* call(const std::string& role, const Event& event) const {
    const auto index = symbols_.find(role);
    if (index == symbols_.end())
      return nullptr;
    const auto matches = index->second.find(event);
    return matches.empty() ? nullptr : matches.front().row;
  }
  bool is_type(const std::string& role, const std::string& type) const {
    const auto index = types_.find(role);
    Event made;
    made.kind = Event::Kind::construct;
    made.result_type = type;
    made.external = true;
    return index != types_.end() && !type.empty() && !index->second.find(made).empty();
  }
  const json& rows(const std::string& role) const {
    static const json none = json::array();
    const auto found = by_role_.find(role);
    return found == by_role_.end() ? none : found->second;
  }

private:
  std::map<std::string, json> by_role_;
  std::map<std::string, SymbolIndex> symbols_, types_;
};

bool has_policy(const json& row, const Event& event) {
  return !row.contains("policy") || std::any_of(event.arguments.begin(), event.arguments.end(), [&](const Value& a) {
           return names_any(row["policy"], a.type) || names_any(row["policy"], a.text);
         });
}

} // namespace

bool is_inside(const Range& outer, const Position& place) {
  return outer.begin.file == place.file && outer.begin.offset <= place.offset && place.offset < outer.end.offset;
}

bool is_mutator(const std::string& method) {
  static const std::set<std::string, std::less<>> mutators = {
      "push_back", "emplace_back", "push_front", "emplace_front", "insert", "emplace", "try_emplace", "erase",
      "clear",     "resize",       "pop_back",   "pop_front",     "push",   "pop",     "assign",      "insert_or_assign",
      "append",    "reserve",      "swap",       "merge",         "extract"};
  return mutators.contains(method);
}

bool is_container(const std::string& type) {
  static const std::set<std::string, std::less<>> containers = {
      "std::vector",        "std::deque",         "std::list",           "std::map",           "std::set",
      "std::multimap",      "std::multiset",      "std::unordered_map",  "std::unordered_set", "std::unordered_multimap",
      "std::forward_list",  "std::queue",         "std::priority_queue", "std::stack",         "std::basic_string",
      "std::unordered_multiset"};
  return containers.contains(plain_name(type));
}

std::set<std::string> openmp_directives(const Pragma& pragma) {
  static const std::set<std::string, std::less<>> known = {
      "parallel", "for",  "sections", "section", "task",    "taskloop", "teams",  "distribute", "simd",
      "critical", "atomic", "single", "master",  "masked",  "ordered",  "target", "loop"};
  std::set<std::string> found;
  const std::vector<std::string> words = words_of(pragma.text);
  if (words.empty() || words[0] != "omp")
    return found;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string word = words[i].substr(0, words[i].find('('));
    if (!known.contains(word))
      break; // clauses follow
    found.insert(word);
    if (words[i].size() > word.size())
      break;
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> openmp_reductions(const Pragma& pragma) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [clause, text] : clauses_of(pragma.text)) {
    if (clause != "reduction" && clause != "in_reduction" && clause != "task_reduction")
      continue;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      continue;
    std::string operation = text.substr(0, colon);
    if (const std::size_t comma = operation.rfind(','); comma != std::string::npos) // reduction(task, + : s)
      operation.erase(0, comma + 1);
    std::erase(operation, ' ');
    for (const std::string& name : names_in(text.substr(colon + 1)))
      out.emplace_back(operation, name);
  }
  return out;
}

// What a frame needs to know of its function, computed once.
struct Frame::Facts {
  std::set<std::string> declared;            // ids of parameters and local variables
  std::set<std::string> references, statics, per_thread;
  std::vector<std::pair<Range, bool>> locks;         // true: only one thread comes here
  std::set<std::string> loop_variables;      // of OpenMP's `for`, by id
  std::set<const Event*> in_loop;
  std::set<std::string> changing;            // ids of variables that a loop counts on
};

class Threads {
public:
  explicit Threads(const Context& context) : context_(context), table_(context.registry.table("threads")) {}

  void visit(const std::function<void(const Frame&, const Event&)>& visitor) {
    visitor_ = &visitor;
    find_pools();
    for (const FunctionRef& ref : context_.project.functions()) {
      for (const Event& event : ref.function->events)
        if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
          visit_call(ref, event);
      visit_openmp(ref);
    }
    visit_loaders();
  }

private:
  const Frame::Facts& facts_of(FunctionRef ref) {
    const auto [entry, fresh] = facts_.try_emplace(ref.function);
    if (fresh)
      describe(ref, entry->second);
    return entry->second;
  }

  void describe(FunctionRef ref, Frame::Facts& facts) {
    const Function& function = *ref.function;
    for (const Parameter& parameter : function.parameters)
      facts.declared.insert(parameter.id);
    for (const Event& event : function.events) {
      if (event.kind == Event::Kind::assign && event.receiver &&
          (event.text == "++" || event.text == "--" || event.text == "+=" || event.text == "-="))
        facts.changing.insert(event.receiver->id);
      if (event.variable_id.empty() || event.kind == Event::Kind::destroy || event.kind == Event::Kind::iterate)
        continue;
      facts.declared.insert(event.variable_id);
      if (event.text == "reference" || event.kind == Event::Kind::declare)
        if (event.text == "reference" || points(event.result_type))
          facts.references.insert(event.variable_id);
      if (event.text == "static")
        facts.statics.insert(event.variable_id);
      if (event.text == "thread_local")
        facts.per_thread.insert(event.variable_id);
    }
    for (const Block& block : function.blocks)
      if (block.in_loop)
        for (const std::uint32_t index : block.events)
          if (index < function.events.size())
            facts.in_loop.insert(&function.events[index]);
    describe_locks(ref, facts);
    describe_pragmas(ref, facts);
  }

  void describe_locks(FunctionRef ref, Frame::Facts& facts) {
    const Function& function = *ref.function;
    const auto end_of = [&](const Event& guard) {
      Position end = function.range.end;
      for (const Event& event : function.events) {
        if (event.range.begin.offset <= guard.range.begin.offset)
          continue;
        const bool destroyed = event.kind == Event::Kind::destroy && event.variable_id == guard.variable_id;
        const bool released = event.receiver && event.receiver->id == guard.variable_id &&
                              last_part(event.callee) == "unlock";
        if ((destroyed || released) && event.range.begin.offset < end.offset)
          end = event.range.begin;
      }
      return end;
    };
    for (const Event& event : function.events) {
      if (event.kind == Event::Kind::construct && !event.variable_id.empty() && table_.is_type("lock", event.result_type))
        facts.locks.emplace_back(Range{event.range.begin, end_of(event)}, false);
      const json* row = event.kind == Event::Kind::call ? table_.call("lock-calls", event) : nullptr;
      if (row)
        facts.locks.emplace_back(Range{event.range.begin, end_of_locked(function, event, *row)}, false);
    }
  }

  // To the last release before the lock is taken again: a release before an early return ends nothing.
  Position end_of_locked(const Function& function, const Event& lock, const json& row) {
    Position end = function.range.end;
    bool released = false;
    for (const Event& event : function.events) {
      if (event.kind != Event::Kind::call || event.range.begin.offset <= lock.range.begin.offset)
        continue;
      if (released && table_.call("lock-calls", event))
        break;
      const json& unlocks = row.at("unlock");
      if (std::find(unlocks.begin(), unlocks.end(), last_part(event.callee)) != unlocks.end())
        end = event.range.begin, released = true;
    }
    return end;
  }

  void describe_pragmas(FunctionRef ref, Frame::Facts& facts) {
    for (const Pragma& pragma : ref.unit->pragmas) {
      if (!is_inside(ref.function->range, pragma.where))
        continue;
      const std::set<std::string> directives = openmp_directives(pragma);
      if (directives.contains("critical") || directives.contains("atomic") || directives.contains("ordered"))
        facts.locks.emplace_back(pragma.statement, false);
      if (directives.contains("single") || directives.contains("master") || directives.contains("masked") ||
          directives.contains("section"))
        facts.locks.emplace_back(pragma.statement, true);
      if (directives.contains("for") || directives.contains("distribute") || directives.contains("taskloop") ||
          directives.contains("loop"))
        for (const std::string& id : loop_variables(*ref.function, pragma))
          facts.loop_variables.insert(id);
    }
  }

  // What stands in the head of the loop, `for (int i = 0, …`, is each thread's own; of a range-for the element.
  static std::vector<std::string> loop_variables(const Function& function, const Pragma& pragma) {
    std::vector<std::string> ids;
    for (const Event& event : function.events) {
      if (!is_inside(pragma.statement, event.range.begin))
        continue;
      if (event.kind == Event::Kind::iterate) {
        if (!event.variable_id.empty())
          ids.push_back(event.variable_id);
        if (event.text == "range-for")
          continue;
        break;
      }
      if (event.kind == Event::Kind::declare || event.kind == Event::Kind::construct)
        ids.push_back(event.variable_id);
      else if (event.kind == Event::Kind::assign && event.receiver)
        ids.push_back(event.receiver->id);
      if (ids.size() > 4)
        break;
    }
    return ids;
  }

  // Classes whose members start threads: a method of theirs that takes a function has it run there.
  void find_pools() {
    for (const FunctionRef& ref : context_.project.functions())
      for (const Event& event : ref.function->events)
        if (const json* row = starts(event); row && !ref.function->owner.empty() && !ref.function->is_lambda)
          pools_.insert(plain_name(ref.function->owner));
  }

  const json* starts(const Event& event) const {
    const json* row = table_.call("starts", event);
    if (!row || !has_policy(*row, event))
      return nullptr;
    if (row->contains("holds") && !(event.receiver && names_any((*row)["holds"], event.receiver->type)))
      return nullptr;
    return row;
  }

  bool queues(const Event& event) const {
    if (event.kind != Event::Kind::call || !event.receiver)
      return false;
    const auto has_function = std::any_of(event.arguments.begin(), event.arguments.end(), [](const Value& argument) {
      bool found = false;
      for_each_value(argument, [&](const Value& v) {
        found |= v.kind == Value::Kind::lambda || v.kind == Value::Kind::function;
      });
      return found;
    });
    if (!has_function)
      return false;
    std::string type = event.receiver->type;
    for (const std::string& pool : pools_)
      if (type.find(pool) != std::string::npos)
        return true;
    for (const json& row : table_.rows("queues")) {
      const json& methods = row.at("methods");
      if ((event.external || !event.resolved) &&
          std::find(methods.begin(), methods.end(), last_part(event.callee)) != methods.end() &&
          names_any(row.at("of"), lower(type + " " + event.receiver->text)))
        return true;
    }
    return false;
  }

  // A loop that starts a thread and waits for it in the same round runs one at a time.
  bool is_repeated(FunctionRef ref, const Event& event, int depth = 0) {
    if (facts_of(ref).in_loop.contains(&event))
      return !joins_in_same_loop(*ref.function, event);
    if (depth > 2)
      return false;
    const std::vector<Site>& callers = context_.project.callers(ref.function);
    return std::any_of(callers.begin(), callers.end(), [&](const Site& caller) {
      return caller.in.function != ref.function && is_repeated(caller.in, *caller.event, depth + 1);
    });
  }

  static bool joins_in_same_loop(const Function& function, const Event& event) {
    std::vector<const Event*> innermost;
    for (const Event& loop : function.events) {
      if (loop.kind != Event::Kind::iterate)
        continue;
      std::vector<const Event*> body = body_of(function, loop);
      const bool around = std::find(body.begin(), body.end(), &event) != body.end();
      if (around && (innermost.empty() || body.size() < innermost.size()))
        innermost = std::move(body);
    }
    return std::any_of(innermost.begin(), innermost.end(), [](const Event* other) { return joins(*other); });
  }

  static bool joins(const Event& event) {
    static const std::set<std::string, std::less<>> names = {"join", "pthread_join", "thrd_join", "wait", "get"};
    const std::string name = last_part(event.callee);
    const bool waits = name != "get" || (event.receiver && event.receiver->type.find("future") != std::string::npos);
    return event.kind == Event::Kind::call && names.contains(name) && waits;
  }

  // Another start of the same code that nothing joins before this one, or the other way round.
  const Event* started_beside(FunctionRef ref, const Event& event) {
    const auto bodies = [&](const Event& start) {
      std::set<const Function*> out;
      for (const FunctionRef& body : context_.project.callees(ref, start))
        if (start.callee_usr != body.function->usr)
          out.insert(body.function);
      return out;
    };
    const std::set<const Function*> own = bodies(event);
    for (const Event& other : ref.function->events) {
      if (&other == &event || !starts(other) || bodies(other) != own || own.empty())
        continue;
      const auto [first, last] = std::minmax(event.id, other.id);
      const bool joined = std::any_of(ref.function->events.begin(), ref.function->events.end(), [&](const Event& between) {
        return between.id > first && between.id < last && joins(between);
      });
      if (!joined)
        return &other;
    }
    return nullptr;
  }

  void visit_call(FunctionRef ref, const Event& event) {
    const json* row = starts(event);
    const bool queued = !row && queues(event);
    if (!row && !queued)
      return;
    Start& start = starts_.emplace_back();
    start.site = {ref, &event};
    start.queued = queued;
    const Event* beside = queued ? nullptr : started_beside(ref, event);
    start.beside = beside != nullptr;
    start.many = queued || beside || row->value("many", false) || is_repeated(ref, event);
    Frame& outside = frames_.emplace_back();
    prepare(outside, ref, start);
    outside.starts_ = true;
    outside.this_shared_ = true;
    keep_loop_variables_apart(outside, event, start);
    for (const FunctionRef& body : context_.project.callees(ref, event)) {
      if (event.callee_usr == body.function->usr)
        continue; // what takes the function, not the function
      Frame frame;
      prepare(frame, body, start);
      frame.outside_ = &outside;
      frame.this_shared_ = true;
      pass_to_thread(outside, event, frame);
      if (beside)
        keep_arguments_apart(event, *beside, frame);
      run(std::move(frame), 0);
    }
  }

  // What is given to each of the threads that start beside each other is a thread's own where it differs.
  static void keep_arguments_apart(const Event& event, const Event& beside, Frame& frame) {
    const std::vector<Parameter>& parameters = frame.function.function->parameters;
    if (event.arguments.size() != beside.arguments.size() || event.arguments.size() < parameters.size())
      return;
    const std::size_t before = event.arguments.size() - parameters.size();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (event.arguments[before + i].source != beside.arguments[before + i].source)
        frame.split_.insert(parameters[i].id);
  }

  // A variable of the loop that starts the threads is another one for each of them.
  void keep_loop_variables_apart(Frame& outside, const Event& start_event, const Start& start) {
    const Function& function = *outside.function.function;
    const Frame::Facts& facts = facts_of(outside.function);
    const bool in_loop = facts.in_loop.contains(&start_event);
    for (const Event& event : function.events) {
      if (event.variable_id.empty() || event.kind == Event::Kind::destroy)
        continue;
      const bool in_same_loop = in_loop && facts.in_loop.contains(&event) && event.id < start_event.id;
      if (in_same_loop || (in_loop && facts.changing.contains(event.variable_id)))
        outside.split_.insert(event.variable_id);
      // Started once a call: each call has its own variables.
      if (!in_loop && start.many && !start.queued && !start.beside && !start_is_many(start_event))
        outside.own_.insert(event.variable_id);
    }
    if (in_loop)
      for (const std::string& id : facts.changing)
        outside.split_.insert(id);
    if (!in_loop && !start.queued && !start.beside && !start_is_many(start_event))
      for (const Parameter& parameter : function.parameters)
        (is_integer_type(parameter.type) ? outside.split_ : outside.own_).insert(parameter.id);
  }

  bool start_is_many(const Event& event) const {
    const json* row = table_.call("starts", event);
    return row && row->value("many", false);
  }

  // `std::thread(&Worker::run, this, i)`: what follows the function are its object and its arguments.
  void pass_to_thread(const Frame& outside, const Event& event, Frame& frame) {
    const Function& body = *frame.function.function;
    std::size_t at = 0;
    const auto is_body = [&](const Value& argument) {
      bool found = false;
      for_each_value(argument, [&](const Value& v) { found |= !v.id.empty() && v.id == body.usr; });
      return found;
    };
    while (at < event.arguments.size() && !is_body(event.arguments[at]))
      ++at;
    ++at;
    const bool method = !body.owner.empty() && !body.is_lambda;
    if (method && at < event.arguments.size())
      frame.this_shared_ = outside.is_shared(event.arguments[at++]);
    for (const Parameter& parameter : body.parameters) {
      const bool passed = at < event.arguments.size();
      const Value* argument = passed ? &event.arguments[at++] : nullptr;
      if (argument && outside.is_shared(*argument) && (points(parameter.type) || parameter.reference))
        frame.shared_.insert(parameter.id);
      if (!argument || outside.is_split(*argument))
        frame.split_.insert(parameter.id); // a piece of the work that parallel_for hands out
    }
  }

  void visit_openmp(FunctionRef ref) {
    for (const Pragma& pragma : ref.unit->pragmas) {
      if (!is_inside(ref.function->range, pragma.where) || ref.function->is_lambda)
        continue;
      const std::set<std::string> directives = openmp_directives(pragma);
      const bool orphaned = !is_in_parallel(ref, pragma) &&
                            (directives.contains("for") || directives.contains("task")) &&
                            !directives.contains("simd");
      if (!directives.contains("parallel") && !directives.contains("taskloop") && !orphaned)
        continue;
      const auto first = std::find_if(ref.function->events.begin(), ref.function->events.end(), [&](const Event& e) {
        return e.kind == Event::Kind::iterate && is_inside(pragma.statement, e.range.begin);
      });
      const auto any = first != ref.function->events.end()
                           ? first
                           : std::find_if(ref.function->events.begin(), ref.function->events.end(),
                                          [&](const Event& e) { return is_inside(pragma.statement, e.range.begin); });
      if (any == ref.function->events.end())
        continue;
      Start& start = starts_.emplace_back();
      start.site = {ref, &*any};
      start.pragma = &pragma;
      start.many = true;
      start.queued = pragma.text.find("dynamic") != std::string::npos || pragma.text.find("guided") != std::string::npos ||
                     directives.contains("task") || directives.contains("taskloop");
      Frame frame;
      prepare(frame, ref, start);
      frame.this_shared_ = true;
      for (const auto& [clause, list] : clauses_of(pragma.text))
        if (std::find(std::begin(kPrivateClauses), std::end(kPrivateClauses), clause) != std::end(kPrivateClauses))
          for (const std::string& name : names_in(list.substr(list.rfind(':') == std::string::npos ? 0 : list.rfind(':') + 1)))
            frame.own_names_.insert(name);
      run(std::move(frame), 0);
    }
  }

  static bool is_in_parallel(FunctionRef ref, const Pragma& inner) {
    return std::any_of(ref.unit->pragmas.begin(), ref.unit->pragmas.end(), [&](const Pragma& outer) {
      return &outer != &inner && openmp_directives(outer).contains("parallel") && is_inside(outer.statement, inner.where);
    });
  }

  // LibTorch's data loader runs `get` and the transforms of its dataset in its workers.
  void visit_loaders() {
    for (const FunctionRef& ref : context_.project.functions())
      for (const Event& event : ref.function->events) {
        if (event.kind != Event::Kind::call || last_part(event.callee) != "make_data_loader" || !has_workers(ref, event))
          continue;
        Start& start = starts_.emplace_back();
        start.site = {ref, &event};
        start.many = start.queued = true;
        std::string types;
        for (const std::string& argument : event.template_arguments)
          types += argument + " ";
        for (const Value& argument : event.arguments)
          types += argument.type + " ";
        for (const FunctionRef& method : context_.project.functions()) {
          const Function& function = *method.function;
          const std::string name = last_part(function.name);
          const bool runs = name == "get" || name == "get_batch" || name == "apply" || name == "apply_batch" ||
                            name == "operator()";
          if (function.is_lambda || function.owner.empty() || !runs || !mentions(types, plain_name(function.owner)))
            continue;
          Frame frame;
          prepare(frame, method, start);
          frame.this_shared_ = true;
          run(std::move(frame), 0);
        }
      }
  }

  static bool mentions(const std::string& types, const std::string& name) {
    for (std::size_t at = types.find(name); !name.empty() && at != std::string::npos; at = types.find(name, at + 1)) {
      const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      const std::size_t end = at + name.size();
      if ((at == 0 || !part_of_word(types[at - 1])) && (end == types.size() || !part_of_word(types[end])))
        return true;
    }
    return false;
  }

  bool has_workers(FunctionRef ref, const Event& loader) const {
    bool workers = false;
    for (const Value& argument : loader.arguments)
      walk(context_.project, ref, argument, {.chained = true}, [&](const Visit& visit) {
        if (visit.event && last_part(visit.event->callee) == "workers" && !visit.event->arguments.empty())
          workers |= constant_integer(context_.project, visit.in, visit.event->arguments[0]) != 0;
        return true;
      });
    // `options.workers(4);` on a variable that is handed over.
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call && last_part(event.callee) == "workers" && !event.arguments.empty() &&
          event.receiver && plain_name(event.receiver->type).find("DataLoaderOptions") != std::string::npos)
        workers |= constant_integer(context_.project, ref, event.arguments[0]) != 0;
    return workers;
  }

  void prepare(Frame& frame, FunctionRef ref, const Start& start) {
    frame.start = &start;
    frame.function = ref;
    frame.context_ = &context_;
    frame.facts_ = &facts_of(ref);
    if (const Pragma* pragma = start.pragma; !pragma || !is_inside(ref.function->range, pragma->where))
      return;
  }

  std::string signature(const Frame& frame) const {
    std::ostringstream text;
    text << frame.function.function << frame.start << frame.this_shared_ << frame.locked << frame.single;
    for (const std::string& id : frame.shared_)
      text << '|' << id;
    text << '#';
    for (const std::string& id : frame.split_)
      text << '|' << id;
    return text.str();
  }

  void run(Frame given, int depth) {
    if (depth > kDeepestCalls || frames_.size() > kMostFrames || !seen_.insert(signature(given)).second)
      return;
    Frame& frame = frames_.emplace_back(std::move(given));
    for (const Event& event : frame.function.function->events) {
      if (!frame.contains(event))
        continue;
      (*visitor_)(frame, event);
      if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
        enter(frame, event, depth);
    }
  }

  void enter(const Frame& frame, const Event& event, int depth) {
    if (starts(event) || queues(event) || table_.call("once", event))
      return; // visited as a start of its own
    std::vector<FunctionRef> callees = context_.project.callees(frame.function, event);
    const std::vector<FunctionRef>& overriders = context_.project.overriders(event.callee_usr);
    callees.insert(callees.end(), overriders.begin(), overriders.end());
    for (const FunctionRef& callee : callees) {
      Frame inner;
      prepare(inner, callee, *frame.start);
      inner.caller = &frame;
      inner.call = &event;
      inner.locked = frame.locked || frame.is_locked_at(event);
      inner.single = frame.single || frame.is_single_at(event);
      const bool direct = event.callee_usr == callee.function->usr ||
                          std::find(overriders.begin(), overriders.end(), callee) != overriders.end();
      if (callee.function->is_lambda) {
        inner.this_shared_ = frame.this_shared_;
      } else if (event.kind == Event::Kind::call && direct) {
        inner.this_shared_ = event.receiver && frame.is_shared(*event.receiver);
      }
      for (std::size_t i = 0; direct && i < std::min(event.arguments.size(), callee.function->parameters.size()); ++i) {
        const Parameter& parameter = callee.function->parameters[i];
        if ((parameter.reference || points(parameter.type)) && frame.is_shared(event.arguments[i]))
          inner.shared_.insert(parameter.id);
        if (frame.is_split(event.arguments[i]))
          inner.split_.insert(parameter.id);
      }
      run(std::move(inner), depth + 1);
    }
  }

  const Context& context_;
  Table table_;
  const std::function<void(const Frame&, const Event&)>* visitor_ = nullptr;
  std::set<std::string> pools_;
  std::list<Start> starts_;
  std::list<Frame> frames_; // callers outlive what they call
  std::map<const Function*, Frame::Facts> facts_;
  std::set<std::string> seen_;

  friend class Frame;
};

bool Frame::contains(const Event& event) const {
  const bool limited = start->pragma && is_outermost() && start->site.in == function;
  return !limited || is_inside(start->pragma->statement, event.range.begin);
}

bool Frame::declares(const std::string& id) const {
  if (id.empty() || !facts_->declared.contains(id))
    return false;
  if (!start->pragma || !is_outermost() || !(start->site.in == function))
    return true;
  if (facts_->loop_variables.contains(id))
    return true;
  return std::any_of(function.function->events.begin(), function.function->events.end(), [&](const Event& event) {
    return event.variable_id == id && event.kind != Event::Kind::destroy && contains(event);
  });
}

bool Frame::is_shared(const Value& value) const {
  return is_shared(value, 0);
}

bool Frame::is_split(const Value& value) const {
  return is_split(value, 0);
}

bool Frame::is_shared_local(const Value& variable, int depth) const {
  if (facts_->per_thread.contains(variable.id))
    return false;
  if (facts_->statics.contains(variable.id))
    return true;
  if (shared_.contains(variable.id))
    return true;
  if (!facts_->references.contains(variable.id))
    return false;
  for (const Event& event : function.function->events)
    if (event.variable_id == variable.id && event.kind != Event::Kind::destroy)
      for (const Value& argument : event.arguments)
        if (is_shared(argument, depth + 1))
          return true;
  return false;
}

bool Frame::is_shared(const Value& value, int depth) const {
  if (depth > kDeepestValue)
    return false;
  if (value.kind == Value::Kind::call) {
    const Event* event = event_of(*function.function, value.event);
    if (!event || std::any_of(event->arguments.begin(), event->arguments.end(),
                              [&](const Value& argument) { return is_split(argument, depth + 1); }))
      return false;
    if (event->receiver)
      return is_shared(*event->receiver, depth + 1);
    static const std::set<std::string, std::less<>> forwards = {"ref",  "cref", "move",  "forward",
                                                                "get",  "data", "begin", "addressof"};
    return forwards.contains(last_part(event->callee)) && !event->arguments.empty() &&
           is_shared(event->arguments[0], depth + 1);
  }
  if (value.kind == Value::Kind::compound) {
    static const std::set<std::string, std::less<>> through = {"&", "*", "cast", "+", "-", "[]"};
    if (!through.contains(value.text) || value.operands.empty())
      return false;
    const bool apart = std::any_of(std::next(value.operands.begin()), value.operands.end(),
                                   [&](const Value& operand) { return is_split(operand, depth + 1); });
    return !apart && is_shared(value.operands[0], depth + 1);
  }
  if (value.kind != Value::Kind::variable)
    return false;
  if (value.text == "this")
    return this_shared_;
  if (!value.operands.empty()) // a field of something
    return is_shared(value.operands[0], depth + 1);
  if (value.id.empty() || own_.contains(value.id) || split_.contains(value.id) ||
      own_names_.contains(last_part(value.text)))
    return false;
  if (starts_)
    return !facts_->per_thread.contains(value.id);
  if (declares(value.id))
    return !facts_->loop_variables.contains(value.id) && is_shared_local(value, depth);
  for (const Frame* frame = caller ? caller : outside_; frame; frame = frame->caller ? frame->caller : frame->outside_)
    if (frame->starts_ || frame->declares(value.id)) {
      if (frame->starts_ && !frame->declares(value.id))
        break;
      return frame->is_shared(value, depth + 1);
    }
  // Declared outside what the threads run: captured, or global.
  for (const Site& site : context_->project.definitions(value.id, function))
    if (site.event->text == "thread_local")
      return false;
  return true;
}

// What a shared queue or counter gives to one thread alone.
static bool hands_out(const Event& event, const std::string& name) {
  static const std::set<std::string, std::less<>> queues = {"front", "top", "pop", "pop_front", "dequeue", "take"};
  static const std::set<std::string, std::less<>> counters = {"fetch_add", "fetch_sub", "operator++", "operator--"};
  return queues.contains(name) ||
         (counters.contains(name) && event.receiver->type.find("atomic") != std::string::npos);
}

bool Frame::is_split(const Value& value, int depth) const {
  if (depth > kDeepestValue)
    return false;
  if (value.kind == Value::Kind::call) {
    const Event* event = event_of(*function.function, value.event);
    if (!event)
      return false;
    static const std::set<std::string, std::less<>> indexes = {
        "omp_get_thread_num", "get_thread_num", "get_id", "pthread_self", "current_thread_index", "getThreadNum"};
    const std::string name = last_part(event->callee);
    if (indexes.contains(name))
      return true;
    if (event->receiver && hands_out(*event, name) && is_shared(*event->receiver, depth + 1))
      return true;
    if (name == "operator[]" || name == "at") // data, not a piece of the work
      return event->receiver && is_split(*event->receiver, depth + 1);
    if (event->receiver && is_split(*event->receiver, depth + 1))
      return true;
    return std::any_of(event->arguments.begin(), event->arguments.end(),
                       [&](const Value& argument) { return is_split(argument, depth + 1); });
  }
  if (value.kind == Value::Kind::compound) {
    if (value.text == "[]")
      return !value.operands.empty() && is_split(value.operands[0], depth + 1);
    return std::any_of(value.operands.begin(), value.operands.end(),
                       [&](const Value& operand) { return is_split(operand, depth + 1); });
  }
  if (value.kind != Value::Kind::variable)
    return false;
  if (!value.operands.empty())
    return is_split(value.operands[0], depth + 1);
  if (split_.contains(value.id))
    return true;
  if (declares(value.id)) {
    if (facts_->loop_variables.contains(value.id))
      return true;
    for (const Event& event : function.function->events) {
      const bool defines = (event.variable_id == value.id && event.kind != Event::Kind::destroy) ||
                           (event.kind == Event::Kind::assign && event.text == "=" && event.receiver &&
                            event.receiver->id == value.id && event.receiver->operands.empty());
      if (!defines)
        continue;
      // The element of a range that is a thread's own piece of the work.
      if (event.kind == Event::Kind::iterate && event.receiver && is_split(*event.receiver, depth + 1))
        return true;
      for (const Value& argument : event.arguments)
        if (is_split(argument, depth + 1))
          return true;
    }
    return false;
  }
  for (const Frame* frame = caller ? caller : outside_; frame; frame = frame->caller ? frame->caller : frame->outside_)
    if (frame->declares(value.id) || frame->starts_)
      return frame->is_split(value, depth + 1);
  return false;
}

bool Frame::is_locked_at(const Event& event) const {
  return locked || std::any_of(facts_->locks.begin(), facts_->locks.end(), [&](const auto& lock) {
           return !lock.second && is_inside(lock.first, event.range.begin);
         });
}

namespace {

// Blocks that are reached only through `edge`.
std::set<std::uint32_t> only_through(const Function& function, const Block& from, const Edge& edge) {
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> open = {function.entry};
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (id >= function.blocks.size() || !reached.insert(id).second)
      continue;
    for (const Edge& next : function.blocks[id].successors)
      if (id != from.id || &next != &edge)
        open.push_back(next.block);
  }
  std::set<std::uint32_t> rest;
  for (const Block& block : function.blocks)
    if (!reached.contains(block.id))
      rest.insert(block.id);
  return rest;
}

} // namespace

bool Frame::is_single_at(const Event& event) const {
  if (single)
    return true;
  for (const auto& [range, one] : facts_->locks)
    if (one && is_inside(range, event.range.begin))
      return true;
  const Block* block = block_of(*function.function, event);
  if (!block)
    return false;
  for (const Block& from : function.function->blocks)
    for (const Edge& edge : from.successors) {
      if (!edge.condition || from.successors.size() != 2)
        continue;
      const Value& condition = *edge.condition;
      const bool equal = condition.kind == Value::Kind::compound && (condition.text == "==" || condition.text == "!=");
      const bool negated = condition.kind == Value::Kind::compound && condition.text == "!";
      if ((!equal && !negated) || !is_split(condition))
        continue;
      const bool wanted = condition.text != "!=";
      if (edge.when == wanted && only_through(*function.function, from, edge).contains(block->id))
        return true;
    }
  return false;
}

void for_each_threaded_event(const Context& context, const std::function<void(const Frame&, const Event&)>& visit) {
  Threads(context).visit(visit);
}

} // namespace reprobe::scan
