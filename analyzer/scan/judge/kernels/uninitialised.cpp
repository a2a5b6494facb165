// Family `uninitialised`: device memory that a kernel reads or adds to although nothing in the program sets
// it.
//
// The reasoning is the same whatever the order of things: of all uses of the memory, through kernels and the
// user's own functions, none writes it, and none goes where it could be written unseen.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/kernels/kernel.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

constexpr int kDeepestCall = 5;

struct Uses {
  bool written = false; // or perhaps
  Site read, added_to;  // the first of each
};

// How a variable occurs in an expression.
struct Occurrence {
  bool address = false, element = false; // `p`, `&p[i]`, `p + 1`; `p[i]`, `*p`
};

bool is_memory(const std::string& type) {
  return type.ends_with("*") || type.ends_with("]") || type.find("at::Tensor") != std::string::npos;
}

Occurrence occurrence(const Function& function, const Value& value, const std::string& id,
                      bool below_element = false) {
  Occurrence out;
  if (value.kind == Value::Kind::variable && value.id == id)
    (below_element || !is_memory(value.type) ? out.element : out.address) = true;
  const bool element = value.kind == Value::Kind::compound && (value.text == "[]" || value.text == "*");
  const bool address = value.kind == Value::Kind::compound && value.text == "&";
  const auto add = [&](const Value& part, bool below) {
    const Occurrence found = occurrence(function, part, id, below);
    out.address |= found.address, out.element |= found.element;
  };
  for (std::size_t i = 0; i < value.operands.size(); ++i)
    add(value.operands[i], (element && i == 0) || (below_element && !address && i == 0));
  if (address && out.element)
    out.address = true;
  // `tensor.data_ptr<float>()` stands for the memory.
  if (value.kind == Value::Kind::call)
    if (const Event* event = event_of(function, value.event); event && event->receiver)
      add(*event->receiver, below_element);
  return out;
}

const json* row_of(const Context& context, const char* kind, const std::string& name) {
  for (const json& row : context.registry.table("allocations"))
    if (row.at("kind") == kind && row.contains("names") &&
        std::any_of(row["names"].begin(), row["names"].end(), [&](const json& n) { return n == name; }))
      return &row;
  return nullptr;
}

class Tracer {
public:
  explicit Tracer(const Context& context) : context_(context) {}

  void follow(FunctionRef in, const std::string& id, Uses& uses, int depth = 0) {
    if (depth > kDeepestCall) {
      uses.written = true;
      return;
    }
    if (!seen_.insert({in.function, id}).second)
      return;
    for (const Event& event : in.function->events) {
      if (uses.written)
        return;
      look(in, event, id, uses, depth);
    }
  }

private:
  void look(FunctionRef in, const Event& event, const std::string& id, Uses& uses, int depth) {
    const Function& function = *in.function;
    if (event.kind == Event::Kind::destroy || event.variable_id == id)
      return;
    if (event.kind == Event::Kind::access) {
      if (event.text == "read" && event.receiver && !event.result_type.ends_with("]") &&
          occurs(function, *event.receiver, id) && !uses.read)
        uses.read = {in, &event};
      return;
    }
    if (event.kind == Event::Kind::assign && event.text != "return" && event.receiver) {
      const Occurrence target = occurrence(function, *event.receiver, id);
      if (target.address) // the pointer itself gets another value
        uses.written = true;
      if (target.element)
        note_write(in, event, uses);
    }
    if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
      return look_at_call(in, event, id, uses, depth);
    for (const Value& argument : event.arguments) {
      const Occurrence found = occurrence(function, argument, id);
      if (found.address)
        uses.written = true; // another name for it
      else if (found.element && !uses.read)
        uses.read = {in, &event};
    }
  }

  static bool occurs(const Function& function, const Value& value, const std::string& id) {
    const Occurrence found = occurrence(function, value, id);
    return found.address || found.element;
  }

  static void note_write(FunctionRef in, const Event& event, Uses& uses) {
    const bool reads_first =
        event.text != "=" ||
        std::any_of(event.arguments.begin(), event.arguments.end(), [&](const Value& argument) {
          bool same = false;
          for_each_value(argument, [&](const Value& part) {
            same = same || (!part.source.empty() && part.source == event.receiver->source);
          });
          return same;
        });
    if (!reads_first)
      uses.written = true;
    else if (!uses.added_to)
      uses.added_to = {in, &event};
  }

  void look_at_call(FunctionRef in, const Event& event, const std::string& id, Uses& uses, int depth) {
    const Function& function = *in.function;
    const std::string name = last_part(event.callee);
    if (event.receiver && occurs(function, *event.receiver, id) && !row_of(context_, "leaves", name))
      uses.written = true;
    if (row_of(context_, "leaves", name) || allocates(event, id))
      return;
    for (std::size_t i = 0; i < event.arguments.size(); ++i) {
      const Occurrence found = occurrence(function, event.arguments[i], id);
      if (!found.address) {
        if (found.element && !uses.read)
          uses.read = {in, &event};
        continue;
      }
      if (const json* row = row_of(context_, "source", name); row && row->at("argument") == i) {
        if (!uses.read)
          uses.read = {in, &event};
      } else if (i == 0 && adds_atomically(name)) {
        if (!uses.added_to)
          uses.added_to = {in, &event};
      } else if (const FunctionRef callee = context_.project.definition(event.callee_usr, *in.unit);
                 callee && i < callee.function->parameters.size() &&
                 !callee.function->parameters[i].id.empty() && !callee.function->is_template_pattern) {
        follow(callee, callee.function->parameters[i].id, uses, depth + 1);
      } else {
        uses.written = true;
      }
    }
  }

  static bool allocates(const Event& event, const std::string& id) {
    bool mine = false;
    if (last_part(event.callee).find("Malloc") != std::string::npos && !event.arguments.empty())
      for_each_value(event.arguments[0], [&](const Value& part) { mine = mine || part.id == id; });
    return mine;
  }

  static bool adds_atomically(const std::string& name) {
    return name.starts_with("atomicAdd") || name.starts_with("atomicSub") || name.starts_with("atomicMax") ||
           name.starts_with("atomicMin") || name.starts_with("atomicInc") || name.starts_with("gpuAtomicAdd");
  }

  const Context& context_;
  std::set<std::pair<const Function*, std::string>> seen_;
};

void report(const Site& site, const std::string& message, const Site& use, const std::string& kernel,
            Findings& findings) {
  Draft draft;
  draft.site = site;
  draft.message = message;
  draft.fix = findings.rule().fix;
  draft.devices = {"cuda"};
  if (!kernel.empty())
    draft.kernels = {kernel};
  draft.notes.emplace_back(use, "here it is used");
  findings.add(std::move(draft));
}

void judge_shared(const Context& context, FunctionRef ref, Findings& findings) {
  for (const Event& event : ref.function->events) {
    if (event.kind != Event::Kind::declare || event.text != "shared" || event.variable_id.empty())
      continue;
    Uses uses;
    Tracer(context).follow(ref, event.variable_id, uses);
    const Site use = uses.added_to ? uses.added_to : uses.read;
    if (uses.written || !use)
      continue;
    report(
        use,
        fmt::format("`{}` is __shared__ memory that nothing sets: it holds what an earlier block left there",
                    last_part(event.variable)),
        {ref, &event}, ref.function->name, findings);
  }
}

// The pointer that an allocation fills.
const Value* allocated(const Event& event, const json& row) {
  if (!row.contains("argument"))
    return nullptr;
  const std::size_t index = row["argument"];
  if (index >= event.arguments.size())
    return nullptr;
  const Value* value = &event.arguments[index];
  while (value->kind == Value::Kind::compound && value->text == "cast" && !value->operands.empty())
    value = &value->operands[0];
  if (value->kind != Value::Kind::compound || value->text != "&" || value->operands.empty() ||
      value->operands[0].kind != Value::Kind::variable)
    return nullptr;
  return &value->operands[0];
}

// Which functions speak of a variable.
class Mentions {
public:
  explicit Mentions(const Codebase& project) {
    for (const FunctionRef& ref : project.functions())
      for (const Event& event : ref.function->events) {
        if (event.receiver)
          add(ref, *event.receiver);
        for (const Value& argument : event.arguments)
          add(ref, argument);
      }
  }
  const std::vector<FunctionRef>& of(const std::string& id) const {
    static const std::vector<FunctionRef> none;
    const auto found = functions_.find(id);
    return found == functions_.end() ? none : found->second;
  }

private:
  void add(FunctionRef ref, const Value& value) {
    for_each_value(value, [&](const Value& part) {
      if (part.kind != Value::Kind::variable || part.id.empty())
        return;
      std::vector<FunctionRef>& known = functions_[part.id];
      if (known.empty() || known.back() != ref)
        known.push_back(ref);
    });
  }
  std::unordered_map<std::string, std::vector<FunctionRef>> functions_;
};

// Everything that the program does with the variable, wherever it is seen.
Uses uses_of(const Context& context, const Mentions& mentions, const std::string& id) {
  Uses uses;
  Tracer tracer(context);
  for (const FunctionRef& ref : mentions.of(id))
    tracer.follow(ref, id, uses);
  return uses;
}

void judge_allocation(const Context& context, const Mentions& mentions, const Site& site,
                      const std::string& id, const std::string& name, Findings& findings) {
  if (id.empty() || parameter_index(*site.in.function, id) >= 0)
    return; // whoever called may set it
  const Uses uses = uses_of(context, mentions, id);
  const Site use = uses.added_to ? uses.added_to : uses.read;
  if (uses.written || !use || !(use.in.function->is_kernel || use.in.function->is_device))
    return;
  report(site,
         fmt::format("nothing sets the memory of `{}` before `{}` {} it", name, use.in.function->name,
                     uses.added_to ? "adds to" : "reads"),
         use, use.in.function->name, findings);
}

} // namespace

void judge_uninitialised(const Context& context, Findings& findings) {
  json rows = json::array();
  for (const json& row : context.registry.table("allocations"))
    if (row.at("kind") == "allocates")
      rows.push_back(row);
  const SymbolIndex allocations(rows);
  const Mentions mentions(context.project);
  for (const FunctionRef& ref : context.project.functions()) {
    if (ref.function->is_kernel || ref.function->is_device)
      judge_shared(context, ref, findings);
    for (const Event& event : ref.function->events) {
      if (event.kind == Event::Kind::call)
        for (const SymbolIndex::Match& match : allocations.find(event))
          if (const Value* pointer = allocated(event, *match.row); pointer)
            judge_allocation(context, mentions, {ref, &event}, pointer->id, last_part(pointer->text),
                             findings);
      // `auto sum = torch::empty(…);`
      if (event.kind == Event::Kind::declare && event.arguments.size() == 1 &&
          event.arguments[0].kind == Value::Kind::call)
        if (const Event* call = event_of(*ref.function, event.arguments[0].event))
          for (const SymbolIndex::Match& match : allocations.find(*call))
            if (!match.row->contains("argument"))
              judge_allocation(context, mentions, {ref, call}, event.variable_id, last_part(event.variable),
                               findings);
    }
  }
}

} // namespace reprobe::scan
