// Family `streams`: the host, or another stream, uses memory while a copy or kernel may still be writing it.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool is_listed(const Context& context, const char* kind, const std::string& callee) {
  const std::string name = last_part(callee);
  for (const json& row : context.registry.table("streams")) {
    if (row.at("kind") != kind)
      continue;
    const json& names = row.at("names");
    if (std::any_of(names.begin(), names.end(), [&](const json& n) { return n == name; }))
      return true;
    for (const json& part : row.value("parts", json::array()))
      if (name.find(part.get<std::string>()) != std::string::npos)
        return true;
  }
  return false;
}

bool contains(const Value& value, const std::string& id) {
  bool found = false;
  for_each_value(value, [&](const Value& part) { found = found || part.id == id; });
  return found;
}

// `x[i]` and `*x` of the variable, not `&x[i]`.
bool uses_element(const Function& function, const Value& value, const std::string& id) {
  if (value.kind == Value::Kind::compound && value.text == "&" && value.operands.size() == 1)
    return false;
  const bool element = value.kind == Value::Kind::compound && !value.operands.empty() &&
                       (value.text == "[]" || (value.text == "*" && value.operands.size() == 1));
  if (element)
    if (const Value* root = root_variable(function, value.operands[0]); root && root->id == id)
      return true;
  return std::any_of(value.operands.begin(), value.operands.end(),
                     [&](const Value& operand) { return uses_element(function, operand, id); });
}

bool writes_element(const Function& function, const Event& event, const std::string& id) {
  return event.kind == Event::Kind::assign && event.receiver && uses_element(function, *event.receiver, id);
}

class Judge {
public:
  Judge(const Context& context, Findings& findings) : context_(context), findings_(findings) {}

  void look(const Site& site) {
    if (site.event->kind != Event::Kind::call)
      return;
    if (site.event->launch)
      look_at_launch(site);
    else if (last_part(site.event->callee) == "cudaMemcpyAsync")
      look_at_copy(site);
    else if (last_part(site.event->callee) == "to")
      look_at_tensor_copy(site);
  }

private:
  bool waits(FunctionRef in, const Event& event, int depth = 0) const {
    if (event.kind != Event::Kind::call || depth > 4)
      return false;
    if (is_listed(context_, "waits", event.callee))
      return true;
    for (const FunctionRef& callee : context_.project.callees(in, event))
      for (const Event& inner : callee.function->events)
        if (waits(callee, inner, depth + 1))
          return true;
    return false;
  }

  // The first event, or branch, on some path behind `from` for which `use` holds, if nothing on the path
  // waits.
  const Event* first_use(FunctionRef in, const Event& from, const std::function<bool(const Event&)>& use,
                         const std::function<bool(const Value&)>& use_in_condition) const {
    const Function& function = *in.function;
    std::set<std::uint32_t> seen;
    std::vector<std::pair<std::uint32_t, std::size_t>> open;
    for (const Block& block : function.blocks)
      if (const auto place = std::find(block.events.begin(), block.events.end(), from.id);
          place != block.events.end())
        open.emplace_back(block.id, place - block.events.begin() + 1);
    while (!open.empty()) {
      auto [id, next] = open.back();
      open.pop_back();
      const Block& block = function.blocks[id];
      bool stopped = false;
      const Event* last = &from;
      for (; next < block.events.size() && !stopped; ++next) {
        const Event& event = function.events[block.events[next]];
        if (use(event))
          return &event;
        stopped = waits(in, event);
        last = &event;
      }
      if (stopped)
        continue;
      for (const Edge& edge : block.successors) {
        if (edge.condition && use_in_condition(*edge.condition))
          return last;
        if (edge.block < function.blocks.size() && seen.insert(edge.block).second)
          open.emplace_back(edge.block, 0);
      }
    }
    return nullptr;
  }

  bool is_given_to(const char* kind, const std::string& id) const {
    for (const FunctionRef& ref : context_.project.functions())
      for (const Event& event : ref.function->events)
        if (event.kind == Event::Kind::call && !event.arguments.empty() &&
            is_listed(context_, kind, event.callee) && contains(event.arguments[0], id))
          return true;
    return false;
  }

  void add(const Site& site, std::string message, const Event* use) {
    Draft draft;
    draft.site = {site.in, use};
    draft.message = std::move(message);
    draft.fix = findings_.rule().fix;
    draft.devices = {"cuda"};
    draft.notes.emplace_back(site, "this is still under way");
    findings_.add(std::move(draft));
  }

  // Copies between pageable memory and the device return when the host may go on; with pinned memory they do not
  // wait.
  void look_at_copy(const Site& site) {
    const Event& copy = *site.event;
    if (copy.arguments.size() < 4)
      return;
    const std::string direction = last_part(copy.arguments[3].text);
    if (direction == "cudaMemcpyDeviceToHost")
      look_at_copy_to_host(site);
    else if (direction == "cudaMemcpyHostToDevice")
      look_at_copy_to_device(site);
  }

  void look_at_copy_to_device(const Site& site) {
    const Function& function = *site.in.function;
    const Value* source = root_variable(function, site.event->arguments[1]);
    if (!source || source->id.empty() || !is_given_to("pinned", source->id))
      return;
    const std::string id = source->id;
    const Event* use = first_use(
        site.in, *site.event,
        [&](const Event& event) {
          if (writes_element(function, event, id))
            return true;
          const bool overwrites = event.kind == Event::Kind::call && !event.arguments.empty() &&
                                  is_listed(context_, "overwrites", event.callee);
          const Value* target = overwrites ? root_variable(function, event.arguments[0]) : nullptr;
          return target && target->id == id;
        },
        [](const Value&) { return false; });
    if (use)
      add(site,
          fmt::format("the host overwrites `{}` while cudaMemcpyAsync may still be reading it",
                      last_part(source->text)),
          use);
  }

  void look_at_copy_to_host(const Site& site) {
    const Event& copy = *site.event;
    const Value* target = root_variable(*site.in.function, copy.arguments[0]);
    if (!target || target->id.empty() || !is_given_to("pinned", target->id))
      return;
    const std::string id = target->id;
    const auto reads = [&](const Value& value) { return contains(value, id); };
    const Event* use = first_use(
        site.in, copy,
        [&](const Event& event) {
          const std::string name = last_part(event.callee);
          if (event.launch || name.starts_with("cuda") || event.kind == Event::Kind::destroy ||
              event.variable_id == id)
            return false;
          return std::any_of(event.arguments.begin(), event.arguments.end(), reads);
        },
        reads);
    if (use)
      add(site,
          fmt::format("the host reads `{}` while cudaMemcpyAsync may still be writing it",
                      last_part(target->text)),
          use);
  }

  static bool is_to_host(const Context& context, const Site& site) {
    bool found = false;
    for (const Value& argument : site.event->arguments)
      walk(context.project, site.in, argument, {.results = false}, [&](const Visit& visit) {
        const std::string name = last_part(visit.value->text);
        found = found || name == "kCPU" || (visit.value->kind == Value::Kind::enumerator && name == "CPU") ||
                (visit.value->kind == Value::Kind::string && name == "cpu");
        return !found;
      });
    return found;
  }

  void look_at_tensor_copy(const Site& site) {
    const Event& copy = *site.event;
    const auto flag = std::find_if(copy.arguments.begin(), copy.arguments.end(), [](const Value& argument) {
      return argument.kind == Value::Kind::boolean;
    });
    if (flag == copy.arguments.end() || flag->integer == 0 || copy.callee != "at::Tensor::to" ||
        !is_to_host(context_, site))
      return;
    std::string id, name;
    for (const Event& event : site.in.function->events)
      if (event.kind == Event::Kind::declare && event.arguments.size() == 1 &&
          event.arguments[0].kind == Value::Kind::call && event.arguments[0].event == copy.id)
        id = event.variable_id, name = last_part(event.variable);
    if (id.empty())
      return;
    const Event* use = first_use(
        site.in, copy,
        [&](const Event& event) {
          if (event.kind != Event::Kind::call || !event.receiver ||
              !is_listed(context_, "reads", event.callee))
            return false;
          const Value* root = root_variable(*site.in.function, *event.receiver);
          return root && root->id == id;
        },
        [](const Value&) { return false; });
    if (use)
      add(site, fmt::format("the host reads `{}` while the non-blocking copy may still be writing it", name),
          use);
  }

  // Memory that the host and the device share: a launch returns before the kernel has run.
  void look_at_managed_memory(const Site& site) {
    const Function& function = *site.in.function;
    const FunctionRef kernel = context_.project.definition(site.event->callee_usr, *site.in.unit);
    if (!kernel)
      return;
    const std::size_t count = std::min(site.event->arguments.size(), kernel.function->parameters.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Value* memory = root_variable(function, site.event->arguments[i]);
      if (!memory || memory->id.empty() || !memory->type.ends_with("*") || !is_given_to("managed", memory->id))
        continue;
      const std::string id = memory->id;
      const bool written = may_write(kernel, i);
      const auto reads = [&](const Value& value) { return written && uses_element(function, value, id); };
      const Event* use = first_use(
          site.in, *site.event,
          [&](const Event& event) {
            return writes_element(function, event, id) ||
                   std::any_of(event.arguments.begin(), event.arguments.end(), reads);
          },
          reads);
      if (use)
        add(site,
            fmt::format("the host uses `{}` in managed memory while {} may still be running",
                        last_part(memory->text), last_part(site.event->callee)),
            use);
    }
  }

  static const Value* stream_of(const Event& launch) {
    if (launch.configuration.size() < 4 || launch.configuration[3].kind != Value::Kind::variable)
      return nullptr;
    return &launch.configuration[3];
  }

  static bool may_write(const FunctionRef& kernel, std::size_t index) {
    const std::string& type = kernel.function->parameters[index].type;
    return type.ends_with("*") && type.rfind("const ", 0) != 0;
  }

  // Memory that one kernel writes and the other uses.
  std::string shared_memory(const Site& a, const Site& b) const {
    const FunctionRef first = context_.project.definition(a.event->callee_usr, *a.in.unit),
                      second = context_.project.definition(b.event->callee_usr, *b.in.unit);
    if (!first || !second)
      return {};
    for (std::size_t i = 0; i < std::min(a.event->arguments.size(), first.function->parameters.size()); ++i)
      for (std::size_t j = 0; j < std::min(b.event->arguments.size(), second.function->parameters.size());
           ++j) {
        const Value &x = a.event->arguments[i], &y = b.event->arguments[j];
        const bool same = x.kind == Value::Kind::variable && y.kind == Value::Kind::variable &&
                          !x.id.empty() && x.id == y.id;
        if (same && x.type.ends_with("*") && (may_write(first, i) || may_write(second, j)))
          return last_part(x.text);
      }
    return {};
  }

  // A copy on another stream of what the kernel writes, or over what it uses. cudaMemcpy and its kin stand on the
  // default stream, which waits for all but streams made with cudaStreamNonBlocking.
  bool copies_beside(const Site& site, const Value& stream, const Event& event, std::string& memory) const {
    const std::string name = last_part(event.callee);
    if (event.kind != Event::Kind::call || event.arguments.size() < 3)
      return false;
    if (name == "cudaMemcpyAsync" && event.arguments.size() == 5) {
      const Value& other = event.arguments[4];
      if (other.kind != Value::Kind::variable || other.id.empty() || other.id == stream.id ||
          !is_given_to("creates", other.id))
        return false;
    } else if (name != "cudaMemcpy" || !is_non_blocking(stream.id)) {
      return false;
    }
    const FunctionRef kernel = context_.project.definition(site.event->callee_usr, *site.in.unit);
    if (!kernel)
      return false;
    const Event& launch = *site.event;
    const std::size_t count = std::min(launch.arguments.size(), kernel.function->parameters.size());
    for (std::size_t i = 0; i < count; ++i)
      for (const std::size_t copied : {0, 1}) {
        const Value *x = root_variable(*site.in.function, launch.arguments[i]),
                    *y = root_variable(*site.in.function, event.arguments[copied]);
        if (x && y && !x->id.empty() && x->id == y->id && x->type.ends_with("*") &&
            (copied == 0 || may_write(kernel, i))) {
          memory = last_part(x->text);
          return true;
        }
      }
    return false;
  }

  bool is_non_blocking(const std::string& stream) const {
    for (const FunctionRef& ref : context_.project.functions())
      for (const Event& event : ref.function->events)
        if (event.kind == Event::Kind::call && event.arguments.size() >= 2 &&
            last_part(event.callee).starts_with("cudaStreamCreateWith") && contains(event.arguments[0], stream) &&
            (last_part(event.arguments[1].text) == "cudaStreamNonBlocking" || event.arguments[1].integer == 1))
          return true;
    return false;
  }

  void look_at_launch(const Site& site) {
    look_at_managed_memory(site);
    const Value* stream = stream_of(*site.event);
    if (!stream || stream->id.empty() || !is_given_to("creates", stream->id))
      return;
    std::string memory;
    const Event* use = first_use(
        site.in, *site.event,
        [&](const Event& event) {
          if (copies_beside(site, *stream, event, memory))
            return true;
          const Value* other = event.launch ? stream_of(event) : nullptr;
          if (!other || other->id.empty() || other->id == stream->id || !is_given_to("creates", other->id))
            return false;
          memory = shared_memory(site, {site.in, &event});
          return !memory.empty();
        },
        [](const Value&) { return false; });
    if (use)
      add(site, fmt::format("`{}` is used on two streams, and neither waits for the other", memory), use);
  }

  const Context& context_;
  Findings& findings_;
};

} // namespace

void judge_streams(const Context& context, Findings& findings) {
  Judge judge(context, findings);
  for (const FunctionRef& ref : context.project.functions())
    if (!ref.function->is_kernel && !ref.function->is_device)
      for (const Event& event : ref.function->events)
        judge.look({ref, &event});
}

} // namespace reprobe::scan
