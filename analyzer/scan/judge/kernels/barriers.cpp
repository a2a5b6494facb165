// Family `barriers`: __shared__ memory that one thread writes and another reads, with no barrier on some path
// between.
//
// Reported is what is clear: the reader's element does not depend on a thread index that the writer's depends
// on, so that other threads wrote it too; or one thread writes what all read. Code of one warp, which many
// kernels still rely on to run in step, gets low confidence.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/kernels/kernel.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

constexpr std::size_t kMostAccesses = 200;

struct Access {
  const Event* event = nullptr;
  const Value* root = nullptr;
  std::vector<const Value*> indices;
  bool write = false;
};

// `tile[y][x]`: tile, and both indices.
const Value* array_of(const Function& function, const Value& base, std::vector<const Value*>& indices) {
  if (base.kind == Value::Kind::compound && base.text == "[]" && base.operands.size() == 2) {
    indices.push_back(&base.operands[1]);
    return array_of(function, base.operands[0], indices);
  }
  return base.kind == Value::Kind::variable ? &base : nullptr;
}

class Barriers {
public:
  Barriers(const Context& context, const Kernel& kernel, Findings& findings)
      : context_(context), kernel_(kernel), function_(*kernel.ref().function), findings_(findings) {}

  void judge() {
    collect();
    if (accesses_.size() > kMostAccesses)
      return;
    find_waiting();
    for (const Access& write : accesses_)
      if (write.write)
        for (const Access& read : accesses_)
          if (!read.write && read.root->id == write.root->id && conflict(write, read) &&
              reaches(*write.event, *read.event))
            return report(write, read); // one a kernel: others follow from it
  }

private:
  void collect() {
    for (const Event& event : function_.events) {
      if (event.kind != Event::Kind::access || !event.receiver || event.arguments.empty() ||
          event.result_type.ends_with("]"))
        continue;
      Access access;
      access.event = &event;
      access.indices.push_back(&event.arguments[0]);
      access.root = array_of(function_, *event.receiver, access.indices);
      access.write = event.text == "write";
      if (access.root && kernel_.is_shared(access.root->id) && !escapes(access.root->id))
        accesses_.push_back(std::move(access));
    }
  }

  // Handed to a function or another name: what happens to it there is not followed.
  bool escapes(const std::string& id) {
    const auto known = escaped_.find(id);
    if (known != escaped_.end())
      return known->second;
    bool out = false;
    for (const Event& event : function_.events)
      for (const Value& argument : event.arguments)
        out = out || (event.kind != Event::Kind::access && argument.id == id);
    return escaped_[id] = out;
  }

  bool waits(FunctionRef in, const Event& event, int depth = 0) const {
    if (event.kind != Event::Kind::call || depth > 3)
      return false;
    if (is_device_function(context_, "barrier", event.callee) ||
        (event.callee == "asm" && !event.arguments.empty() &&
         event.arguments[0].text.find("bar") != std::string::npos))
      return true;
    const FunctionRef callee = context_.project.definition(event.callee_usr, *in.unit);
    return callee && std::any_of(callee.function->events.begin(), callee.function->events.end(),
                                 [&](const Event& inner) { return waits(callee, inner, depth + 1); });
  }

  void find_waiting() {
    for (const Event& event : function_.events)
      if (waits(kernel_.ref(), event))
        waiting_.insert(event.id);
    for (const Block& block : function_.blocks)
      for (std::uint32_t event : block.events)
        if (waiting_.contains(event) && block.in_loop)
          for (const Block& other : function_.blocks)
            if (share_loop(function_, block, other))
              loops_with_barrier_.insert(other.id);
  }

  static bool is_possible(const Edge& edge) {
    if (!edge.condition || !edge.label.empty())
      return true;
    const Value& condition = *edge.condition;
    const bool constant = condition.kind == Value::Kind::boolean || condition.kind == Value::Kind::integer;
    return !constant || (condition.integer != 0) == edge.when;
  }

  // A loop that holds a barrier is taken to be entered: what leaves it has waited.
  bool leaves_waiting_loop(std::uint32_t from, std::uint32_t to) const {
    return loops_with_barrier_.contains(from) && !loops_with_barrier_.contains(to);
  }

  // An element is written when its assignment is: what is assigned has been read by then.
  const Event& completed(const Event& write) const {
    const Event* out = &write;
    for (const Event& event : function_.events)
      if (event.kind == Event::Kind::assign && event.id > write.id && kernel_.block_of(event) == kernel_.block_of(write) &&
          event.range.begin.offset <= write.range.begin.offset && write.range.end.offset <= event.range.end.offset &&
          event.range.begin.file == write.range.begin.file) {
        out = &event;
        break;
      }
    return *out;
  }

  bool reaches(const Event& write, const Event& to) const {
    const Event& from = completed(write);
    std::set<std::uint32_t> seen;
    const Block* start = kernel_.block_of(from);
    if (!start)
      return false;
    const auto place = std::find(start->events.begin(), start->events.end(), from.id);
    std::vector<std::pair<std::uint32_t, std::size_t>> open = {
        {start->id, place - start->events.begin() + 1}};
    while (!open.empty()) {
      auto [id, next] = open.back();
      open.pop_back();
      const Block& block = function_.blocks[id];
      bool waited = false;
      for (; next < block.events.size() && !waited; ++next) {
        if (block.events[next] == to.id)
          return true;
        waited = waiting_.contains(block.events[next]);
      }
      if (waited)
        continue;
      for (const Edge& edge : block.successors)
        if (is_possible(edge) && !leaves_waiting_loop(id, edge.block) &&
            edge.block < function_.blocks.size() && seen.insert(edge.block).second)
          open.emplace_back(edge.block, 0);
    }
    return false;
  }

  Spread spread_of(const Access& access) const {
    Spread out;
    for (const Value* index : access.indices) {
      const Spread one = kernel_.spread(*index);
      out.dimensions |= one.dimensions;
      out.memory |= one.memory, out.shared |= one.shared, out.opaque |= one.opaque || one.unknown;
    }
    return out;
  }

  std::string text_of(const Access& access) const {
    std::string out;
    for (const Value* index : access.indices)
      out += canonical(context_.project, kernel_.ref(), *index) + ";";
    return out;
  }

  // Whether the reader's element may be one that another thread writes, surely enough to say so.
  bool conflict(const Access& write, const Access& read) const {
    const Spread written = spread_of(write), wanted = spread_of(read);
    if (written.opaque || written.memory || written.shared || wanted.opaque || wanted.memory || wanted.shared)
      return false;
    const std::string from = text_of(write), to = text_of(read);
    const Dimensions writer = kernel_.pinned(*write.event) & kThreadDimensions;
    const Dimensions reader = kernel_.pinned(*read.event) & kThreadDimensions;
    if (from == to)
      return writer && !reader && !(wanted.dimensions & kThreadDimensions);
    if (writer || reader)
      return false;
    return (written.dimensions & kThreadDimensions & ~wanted.dimensions) || is_anothers(write, read);
  }

  // The element at a known distance from the writer's, which this thread never writes itself: `s[t]` and
  // `s[t + 1]`, `s[255 - t]`, `s[t + stride]`.
  bool is_anothers(const Access& write, const Access& read) const {
    const std::optional<std::vector<Linear>> wanted = linear(read), written = linear(write);
    if (!wanted || !written || *wanted == *written || wanted->size() != written->size() || !has_threads(*written))
      return false;
    for (const Access& other : accesses_)
      if (other.write && other.root->id == write.root->id) {
        const std::optional<std::vector<Linear>> own = linear(other);
        const bool plain = own && std::all_of(own->begin(), own->end(),
                                              [](const Linear& index) { return index.symbols.empty(); });
        if (!plain || *own == *wanted)
          return false;
      }
    return true;
  }

  std::optional<std::vector<Linear>> linear(const Access& access) const {
    std::vector<Linear> out;
    for (const Value* index : access.indices) {
      const std::optional<Linear> one = kernel_.linear(*index);
      if (!one)
        return std::nullopt;
      out.push_back(*one);
    }
    return out;
  }

  static bool has_threads(const std::vector<Linear>& indices) {
    return std::any_of(indices.begin(), indices.end(), [](const Linear& index) { return !index.threads.empty(); });
  }

  // `if (tid < 32)`: one warp.
  bool is_one_warp(const Event& event) const {
    for (const Guard& guard : kernel_.guards(event)) {
      const Value& condition = *guard.condition;
      if (guard.when && condition.kind == Value::Kind::compound && condition.operands.size() == 2 &&
          (condition.text == "<" || condition.text == "<=") &&
          ((condition.operands[1].kind == Value::Kind::integer && condition.operands[1].integer <= 32) ||
           condition.operands[1].text == "warpSize"))
        return true;
    }
    return false;
  }

  void report(const Access& write, const Access& read) {
    Draft draft;
    draft.site = {kernel_.ref(), read.event};
    draft.message = fmt::format("`{}` is read here with no barrier since other threads wrote to it",
                                last_part(read.root->text));
    draft.fix = findings_.rule().fix;
    draft.confidence =
        is_one_warp(*write.event) && is_one_warp(*read.event) ? "low" : findings_.rule().confidence;
    draft.devices = {"cuda"};
    draft.kernels = {function_.name};
    draft.notes.emplace_back(Site{kernel_.ref(), write.event}, "written here");
    findings_.add(std::move(draft));
  }

  const Context& context_;
  const Kernel& kernel_;
  const Function& function_;
  Findings& findings_;
  std::vector<Access> accesses_;
  std::set<std::uint32_t> waiting_, loops_with_barrier_;
  std::map<std::string, bool> escaped_;
};

} // namespace

void judge_barriers(const Context& context, Findings& findings) {
  for (const FunctionRef& ref : context.project.functions())
    if (ref.function->is_kernel && !ref.function->blocks.empty()) {
      const Kernel kernel(context, ref);
      Barriers(context, kernel, findings).judge();
    }
}

} // namespace reprobe::scan
