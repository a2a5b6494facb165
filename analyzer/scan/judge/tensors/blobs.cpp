// Family `blobs`: tensors over memory that they do not own (from_blob), used when that memory is gone.
//
// Each from_blob over a local variable's memory is followed along every path: which variables then hold a tensor
// over that memory, until one is copied. What is returned, kept in a member or read after the variable's scope has
// ended reads freed memory.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSteps = 4000; // blocks × states of one function

bool is_from_blob(const Event& event) {
  return event.kind == Event::Kind::call && last_part(event.callee) == "from_blob" && !event.arguments.empty();
}

// A variable of a reference-counted image type holds memory of its own when nothing else can: made empty, or by a
// function that reads or copies an image.
bool is_image(const std::string& type) { return type == "cv::Mat" || type.starts_with("cv::Mat_<"); }

bool owns_its_memory(const std::string& type) {
  constexpr std::array<const char*, 5> kOwners = {"std::vector<", "std::array<", "std::basic_string<",
                                                  "std::unique_ptr<", "std::valarray<"};
  if (type.ends_with("]"))
    return true;
  const std::vector<std::string> elements = template_arguments_of(type);
  const bool of_pointers = !elements.empty() && elements[0].ends_with("*");
  return !of_pointers && std::any_of(kOwners.begin(), kOwners.end(),
                                     [&](const char* owner) { return type.starts_with(owner); });
}

bool makes_an_image(const Function& function, const Event& definition) {
  if (definition.kind == Event::Kind::construct && definition.arguments.empty())
    return true;
  if (definition.arguments.size() != 1 || definition.arguments[0].kind != Value::Kind::call)
    return false;
  const Event* made = event_of(function, definition.arguments[0].event);
  const std::string name = made ? last_part(made->callee) : std::string();
  return name == "imread" || name == "imdecode" || name == "clone";
}

bool is_pointer(const std::string& type) { return type.ends_with("*") || type.find("_ptr<") != std::string::npos; }

// The variable whose member, or member's member, `value` is; null behind a pointer or `this`.
const Value* object_of(const Function& function, const Value* value) {
  while (value && value->kind == Value::Kind::variable && !value->operands.empty()) {
    value = root_variable(function, value->operands[0]);
    if (value && is_pointer(value->type))
      return nullptr;
  }
  return value && value->kind == Value::Kind::variable && !value->id.empty() ? value : nullptr;
}

const Event* definition_of(const Function& function, const std::string& id) {
  const auto found = std::find_if(function.events.begin(), function.events.end(), [&](const Event& event) {
    return event.variable_id == id && (event.kind == Event::Kind::declare || event.kind == Event::Kind::construct);
  });
  return found == function.events.end() ? nullptr : &*found;
}

// The variable of this function whose memory `data` points into and that frees it when its scope ends, or null.
const Value* owner_of(const Function& function, const Value& data) {
  const Value* memory = root_variable(function, data);
  const Value* owner = object_of(function, memory);
  if (!owner)
    return nullptr;
  const bool image = is_image(owner->type), owns = owns_its_memory(memory->type);
  if (const int index = parameter_index(function, owner->id); index >= 0) {
    const Parameter& parameter = function.parameters[index];
    return owns && !parameter.reference && !parameter.type.ends_with("&") && !parameter.type.ends_with("]") &&
                   !is_pointer(parameter.type)
               ? owner
               : nullptr;
  }
  const Event* definition = definition_of(function, owner->id);
  if (!definition || !definition->text.empty()) // static, a reference
    return nullptr;
  return owns || (image && makes_an_image(function, *definition)) ? owner : nullptr;
}

// Where a variable's memory may live on: it was moved, swapped or released.
bool gives_its_memory_away(const Function& function, const std::string& id) {
  constexpr std::array<const char*, 5> kGiving = {"move", "swap", "release", "exchange", "forward"};
  return std::any_of(function.events.begin(), function.events.end(), [&](const Event& event) {
    if (event.kind != Event::Kind::call || std::find(kGiving.begin(), kGiving.end(), last_part(event.callee)) ==
                                               kGiving.end())
      return false;
    const auto names = [&](const Value& value) {
      const Value* root = root_variable(function, value);
      return root && root->id == id;
    };
    return std::any_of(event.arguments.begin(), event.arguments.end(), names) ||
           (event.receiver && names(*event.receiver));
  });
}

// What holds a tensor over the memory at one point of a path.
struct Held {
  std::set<std::string> variables;
  std::set<std::uint32_t> events; // calls whose result does
  bool ended = false;             // the memory's scope
  auto operator<=>(const Held&) const = default;
};

class Path {
public:
  Path(const Context& context, FunctionRef in, const Event& blob, const Value& owner, Findings& findings)
      : context_(context), in_(in), blob_(blob), owner_(owner), findings_(findings) {
    for (const Parameter& parameter : in.function->parameters)
      if (!parameter.reference && !parameter.type.ends_with("&"))
        locals_.insert(parameter.id);
    for (const Event& event : in.function->events)
      if (event.kind == Event::Kind::declare || event.kind == Event::Kind::construct)
        (event.text.empty() ? locals_ : aliases_).insert(event.variable_id);
  }

  void follow() {
    const Function& function = *in_.function;
    std::set<std::pair<std::uint32_t, Held>> seen;
    std::vector<std::tuple<std::uint32_t, std::size_t, Held>> open;
    for (const Block& block : function.blocks)
      if (const auto place = std::find(block.events.begin(), block.events.end(), blob_.id);
          place != block.events.end())
        open.emplace_back(block.id, place - block.events.begin() + 1, Held{{}, {blob_.id}, false});
    for (std::size_t step = 0; !open.empty() && step < kMostSteps && !found_; ++step) {
      auto [id, next, held] = std::move(open.back());
      open.pop_back();
      const Block& block = function.blocks[id];
      for (; next < block.events.size() && !found_; ++next)
        look(function.events[block.events[next]], held);
      for (const Edge& edge : block.successors)
        if (edge.block < function.blocks.size() && seen.insert({edge.block, held}).second)
          open.emplace_back(edge.block, 0, held);
    }
  }

private:
  bool has_role(const char* role, const std::string& name) const {
    const json& rows = context_.registry.table("blobs");
    return std::any_of(rows.begin(), rows.end(), [&](const json& row) {
      return row.at("role") == role && std::any_of(row.at("members").begin(), row.at("members").end(),
                                                   [&](const json& member) { return member == name; });
    });
  }

  bool holds(const Held& held, const Value& value) const {
    switch (value.kind) {
    case Value::Kind::call:
      return held.events.contains(value.event);
    case Value::Kind::variable: {
      const Value* object = object_of(*in_.function, &value);
      return object && held.variables.contains(object->id);
    }
    case Value::Kind::compound:
      return std::any_of(value.operands.begin(), value.operands.end(),
                         [&](const Value& operand) { return holds(held, operand); });
    default:
      return false;
    }
  }

  bool given(const Held& held, const Event& event) const {
    return std::any_of(event.arguments.begin(), event.arguments.end(),
                       [&](const Value& argument) { return holds(held, argument); });
  }

  void store(const Value& target, bool keeps, const Event& event, Held& held) {
    const Value* root = root_variable(*in_.function, target);
    if (!root || root->id.empty())
      return;
    const Value* object = object_of(*in_.function, root);
    if (object && locals_.contains(object->id)) {
      // An element or a member leaves the rest of the object as it was.
      if (keeps)
        held.variables.insert(object->id);
      else if (object == &target)
        held.variables.erase(object->id);
    } else if (keeps && outlives(*root, object)) {
      report(event, fmt::format("`{}` keeps it", target.source.empty() ? last_part(root->text) : target.source));
    }
  }

  // A member of this object, a global variable, the caller's. What a local pointer or reference names is not known.
  bool outlives(const Value& root, const Value* object) const {
    if (object)
      return !aliases_.contains(object->id);
    const Value* base = &root;
    while (base && base->kind == Value::Kind::variable && !base->operands.empty())
      base = &base->operands[0];
    return base->kind == Value::Kind::variable && base->text == "this";
  }

  void look(const Event& event, Held& held) {
    switch (event.kind) {
    case Event::Kind::returns:
      if (given(held, event))
        report(event, "it is returned here");
      break;
    case Event::Kind::destroy:
      held.variables.erase(event.variable_id);
      held.ended = held.ended || event.variable_id == owner_.id;
      break;
    case Event::Kind::declare:
    case Event::Kind::construct:
      look_at_definition(event, held);
      break;
    case Event::Kind::assign:
      if (event.receiver && !event.arguments.empty() && event.text == "=")
        store(*event.receiver, holds(held, event.arguments[0]), event, held);
      break;
    case Event::Kind::call:
      look_at_call(event, held);
      break;
    default:
      break;
    }
  }

  void look_at_definition(const Event& event, Held& held) {
    if (event.variable_id == owner_.id)
      held.ended = false;
    if (given(held, event) && !is_own_constructor(event)) {
      held.events.insert(event.id);
      if (!event.variable_id.empty())
        held.variables.insert(event.variable_id);
    } else {
      held.events.erase(event.id);
      held.variables.erase(event.variable_id);
    }
  }

  // One that the program defines may copy.
  bool is_own_constructor(const Event& event) const {
    return event.kind == Event::Kind::construct && context_.project.definition(event.callee_usr, *in_.unit);
  }

  void look_at_call(const Event& event, Held& held) {
    held.events.erase(event.id);
    const std::string name = last_part(event.callee);
    if (event.id == blob_.id) { // the next round of a loop
      held.events.insert(event.id);
      return;
    }
    if (name == "operator=" && event.receiver && event.arguments.size() == 1) {
      store(*event.receiver, holds(held, event.arguments[0]), event, held);
      return;
    }
    const bool object = event.receiver && holds(held, *event.receiver);
    if (has_role("drops", name) && event.receiver) {
      store(*event.receiver, false, event, held);
      return;
    }
    if (held.ended && !has_role("describes", name) && (object || given(held, event))) {
      report(event, fmt::format("it is read here, after the scope of `{}` has ended", last_part(owner_.text)));
      return;
    }
    if (has_role("keeps", name) && event.receiver && given(held, event))
      store(*event.receiver, true, event, held);
    if ((object && (has_role("views", name) || changes_its_object(name))) || (has_role("passes", name) && given(held, event)))
      held.events.insert(event.id);
  }

  void report(const Event& where, const std::string& how) {
    found_ = true;
    Draft draft;
    draft.site = {in_, &blob_};
    draft.message = fmt::format("from_blob does not copy: the memory of `{}` is gone when its scope ends, and the "
                                "tensor is used after that",
                                last_part(owner_.text));
    draft.fix = findings_.rule().fix;
    draft.operators = {"aten::from_blob"};
    draft.notes.emplace_back(Site{in_, &where}, how);
    findings_.add(std::move(draft));
  }

  const Context& context_;
  const FunctionRef in_;
  const Event& blob_;
  const Value& owner_;
  Findings& findings_;
  std::set<std::string> locals_, aliases_; // variables of this function: objects; references and statics
  bool found_ = false;
};

} // namespace

void judge_blobs(const Context& context, Findings& findings) {
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      if (!is_from_blob(event))
        continue;
      // A deleter keeps alive what it captures.
      const bool has_deleter =
          std::any_of(event.arguments.begin(), event.arguments.end(), [](const Value& argument) {
            return argument.kind == Value::Kind::lambda || argument.kind == Value::Kind::function;
          });
      const Value* owner = has_deleter ? nullptr : owner_of(*ref.function, event.arguments[0]);
      if (owner && !gives_its_memory_away(*ref.function, owner->id))
        Path(context, ref, event, *owner, findings).follow();
    }
}

} // namespace reprobe::scan
