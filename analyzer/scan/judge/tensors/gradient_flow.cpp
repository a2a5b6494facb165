#include "analyzer/scan/judge/tensors/gradient_flow.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"

#include <algorithm>
#include <deque>
#include <set>

namespace reprobe::scan {
namespace {

constexpr std::size_t kDeepestCalls = 4;

using Names = std::set<std::string, std::less<>>;

// Their result carries no gradient on.
const Names kEnds = {"detach",      "item",     "size",       "sizes",
                     "dim",         "numel",    "defined",    "is_cuda",
                     "device",      "dtype",    "stride",     "strides",
                     "ndimension",  "print",    "save",       "argmax",
                     "argmin",      "equal",    "operator<<", "is_contiguous",
                     "scalar_type", "toString", "get_device", "requires_grad",
                     "nbytes",      "allclose", "gt",         "lt",
                     "ge",          "le",       "eq",         "ne"};

bool speaks_of_call(const Value& value, std::uint32_t call) {
  bool found = false;
  for_each_value(value,
                 [&](const Value& part) { found |= part.kind == Value::Kind::call && part.event == call; });
  return found;
}

bool speaks_of_variable(const Value& value, const std::string& id) {
  bool found = false;
  for_each_value(value,
                 [&](const Value& part) { found |= part.kind == Value::Kind::variable && part.id == id; });
  return found;
}

class Flow {
public:
  Flow(const Codebase& project, FunctionRef in, std::set<const Function*> callers = {})
      : project_(project), in_(in), function_(*in.function), callers_(std::move(callers)) {}

  bool escapes(const Event& call) {
    if (function_.blocks.empty() || last_part(call.callee).ends_with('_'))
      return true;
    result_of(call);
    follow();
    return escaped_;
  }

  /// What the caller hands on as this argument; what is returned is the caller's matter.
  bool argument_escapes(std::size_t index) {
    if (function_.blocks.empty() || index >= function_.parameters.size() || callers_.size() > kDeepestCalls ||
        !callers_.insert(&function_).second)
      return true;
    argument_ = function_.parameters[index].id;
    for (const Block& block : function_.blocks)
      if (block.id == function_.entry)
        variable_in(argument_, block, 0);
    follow();
    return escaped_;
  }

private:
  void follow() {
    while (!escaped_ && !open_.empty()) {
      const Event* event = open_.front();
      open_.pop_front();
      follow_result(*event);
    }
  }

  void result_of(const Event& event) {
    if (results_.insert(event.id).second)
      open_.push_back(&event);
  }

  void follow_result(const Event& made) {
    // The object that a declaration constructs or gets from a call.
    bool used = false;
    if (!made.variable_id.empty())
      used = true, variable_from(made.variable_id, made);
    for (const Event& event : function_.events) {
      if (event.id == made.id || escaped_)
        continue;
      const auto speaks = [&](const Value& value) { return speaks_of_call(value, made.id); };
      if (!uses(event, speaks))
        continue;
      used = true;
      consumed_by(event, speaks);
    }
    escaped_ = escaped_ || (!used && made.result_used); // by something that the facts do not show
  }

  template <class Speaks>
  static bool uses(const Event& event, const Speaks& speaks) {
    return (event.receiver && speaks(*event.receiver)) ||
           std::any_of(event.arguments.begin(), event.arguments.end(), speaks);
  }

  template <class Speaks>
  void consumed_by(const Event& event, const Speaks& speaks) {
    const bool as_argument = std::any_of(event.arguments.begin(), event.arguments.end(), speaks);
    switch (event.kind) {
    case Event::Kind::destroy:
    case Event::Kind::access:
      return;
    case Event::Kind::declare:
      escaped_ = escaped_ || !event.text.empty();
      return variable_from(event.variable_id, event);
    case Event::Kind::assign:
      if (as_argument)
        assigned(event);
      return;
    case Event::Kind::call:
    case Event::Kind::construct:
      return called(event, speaks, as_argument);
    case Event::Kind::returns:
      escaped_ = escaped_ || argument_.empty();
      return;
    default:
      escaped_ = true; // iterated over
    }
  }

  void assigned(const Event& event) {
    const bool plain =
        event.receiver && event.receiver->kind == Value::Kind::variable && event.receiver->operands.empty();
    if (!plain)
      escaped_ = true;
    else
      variable_from(event.receiver->id, event);
  }

  template <class Speaks>
  void called(const Event& event, const Speaks& speaks, bool as_argument) {
    const std::string name = last_part(event.callee);
    if (kEnds.contains(name))
      return;
    if (is_object_assignment(event)) {
      if (as_argument)
        assigned(event);
      return;
    }
    const std::string callee = plain_name(event.callee);
    const bool operation =
        event.external && event.resolved && name != "backward" && name != "grad" && name != "apply" &&
        name != "forward" && name != "operator()" &&
        (callee.starts_with("at::") || callee.starts_with("torch::") || callee.starts_with("c10::"));
    if (!operation && !returns_only(event, speaks)) {
      escaped_ = true;
      return;
    }
    if (as_argument && changes_its_object(name) && event.receiver)
      escaped_ = true; // others may hold the same tensor
    result_of(event);
  }

  // A function of the user's that does nothing with these arguments but to make its result of them.
  template <class Speaks>
  bool returns_only(const Event& event, const Speaks& speaks) {
    if (event.external || !event.resolved || event.kind != Event::Kind::call ||
        (event.receiver && speaks(*event.receiver)))
      return false;
    const std::vector<FunctionRef> callees = project_.callees(in_, event);
    return !callees.empty() && std::all_of(callees.begin(), callees.end(), [&](const FunctionRef& callee) {
      for (std::size_t i = 0; i < event.arguments.size(); ++i)
        if (speaks(event.arguments[i]) && Flow(project_, callee, callers_).argument_escapes(i))
          return false;
      return true;
    });
  }

  // From here the variable holds it, until it is overwritten.
  void variable_from(const std::string& id, const Event& event) {
    if (escaped_ || !variables_.insert({id, event.id}).second)
      return;
    if (outlives_the_call(id) || is_captured(id)) {
      escaped_ = true;
      return;
    }
    bool found = false;
    for (const Block& block : function_.blocks)
      if (const auto at = std::find(block.events.begin(), block.events.end(), event.id);
          at != block.events.end()) {
        found = true;
        variable_in(id, block, static_cast<std::size_t>(at - block.events.begin()) + 1);
      }
    escaped_ = escaped_ || !found;
  }

  void variable_in(const std::string& id, const Block& start, std::size_t event) {
    std::set<std::uint32_t> seen;
    std::deque<std::pair<const Block*, std::size_t>> open = {{&start, event}};
    while (!escaped_ && !open.empty()) {
      const auto [block, first] = open.front();
      open.pop_front();
      if (is_overwritten_in(*block, first, id))
        continue;
      for (const Edge& edge : block->successors)
        for (const Block& next : function_.blocks)
          if (next.id == edge.block && seen.insert(next.id).second)
            open.emplace_back(&next, 0);
    }
  }

  bool is_overwritten_in(const Block& block, std::size_t first, const std::string& id) {
    for (std::size_t i = first; i < block.events.size() && !escaped_; ++i) {
      if (block.events[i] >= function_.events.size())
        continue;
      const Event& event = function_.events[block.events[i]];
      const auto speaks = [&](const Value& value) { return speaks_of_variable(value, id); };
      if (event.callee == "std::tie")
        continue; // what is assigned to it counts
      if (const Event* tie = tie_assigned_by(function_, event); tie && uses(*tie, speaks))
        return true;
      const bool target =
          event.receiver && event.receiver->kind == Value::Kind::variable && event.receiver->id == id;
      const bool assigns =
          (event.kind == Event::Kind::assign && event.text == "=") || is_object_assignment(event);
      const bool as_argument = std::any_of(event.arguments.begin(), event.arguments.end(), speaks);
      if (as_argument || (uses(event, speaks) && !(assigns && target)))
        consumed_by(event, speaks);
      if ((assigns && target) ||
          ((event.kind == Event::Kind::declare || event.kind == Event::Kind::destroy) &&
           event.variable_id == id))
        return true;
    }
    return false;
  }

  // Fields, globals, statics, and parameters that are references.
  bool outlives_the_call(const std::string& id) {
    const std::size_t function = id.find("@F@");
    if (function == std::string::npos || id.rfind('@') <= function + 3)
      return true;
    if (const int index = parameter_index(function_, id); index >= 0)
      return function_.parameters[static_cast<std::size_t>(index)].reference;
    return std::any_of(function_.events.begin(), function_.events.end(), [&](const Event& event) {
      return event.variable_id == id && event.kind != Event::Kind::destroy && !event.text.empty();
    });
  }

  bool is_captured(const std::string& id) {
    return std::any_of(
        project_.functions().begin(), project_.functions().end(), [&](const FunctionRef& other) {
          if (!other.function->is_lambda || other.function == in_.function)
            return false;
          return std::any_of(
              other.function->events.begin(), other.function->events.end(), [&](const Event& event) {
                return uses(event, [&](const Value& value) { return speaks_of_variable(value, id); });
              });
        });
  }

  const Codebase& project_;
  FunctionRef in_;
  const Function& function_;
  std::set<const Function*> callers_;
  std::string argument_; // the parameter that is followed, if one is
  bool escaped_ = false;
  std::set<std::uint32_t> results_;
  std::set<std::pair<std::string, std::uint32_t>> variables_;
  std::deque<const Event*> open_;
};

} // namespace

bool may_be_differentiated(const Codebase& project, FunctionRef in, const Event& call) {
  return Flow(project, in).escapes(call);
}

} // namespace reprobe::scan
