// Family `timing`: loops that the clock ends.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

// What the loop around `block` does: the events of all blocks that lie on a way from it back to it.
std::vector<const Event*> events_around(const Function& function, const Block& block) {
  std::vector<const Event*> events;
  for (const Block& other : function.blocks)
    if (share_loop(function, block, other))
      for (const std::uint32_t index : other.events)
        if (index < function.events.size())
          events.push_back(&function.events[index]);
  return events;
}

// A loop that waits for something may give up after a while; one that computes must not.
bool waits(const std::vector<const Event*>& events) {
  static const std::set<std::string, std::less<>> waiting = {
      "sleep_for", "sleep_until", "sleep",  "usleep", "nanosleep", "yield",    "wait",      "wait_for",
      "wait_until", "poll",       "select", "join",   "msleep",    "waitKey",  "epoll_wait", "Sleep"};
  return std::any_of(events.begin(), events.end(), [&](const Event* event) {
    return event->kind == Event::Kind::call && waiting.contains(last_part(event->callee));
  });
}

class Clock {
public:
  explicit Clock(const Context& context) : context_(context) {}

  // Where the clock is read whose value decides the condition.
  Site read_by(FunctionRef in, const Value& condition) const {
    Site read;
    walk(context_.project, in, condition, {}, [&](const Visit& visit) {
      const std::string& type = visit.value->type;
      // Numbers from a generator that the clock once seeded are no time, nor is what a network computed.
      if (read || context_.effects.is_engine(type) || type.find("at::Tensor") != std::string::npos ||
          (visit.event && context_.effects.is_engine(visit.event->result_type)))
        return false;
      if (visit.event)
        if (const auto* row = context_.effects.entropy(*visit.event); row && row->at("what") == "the clock")
          read = {visit.in, visit.event};
      return !read;
    });
    return read;
  }

private:
  const Context& context_;
};

void judge_function(const Context& context, const Clock& clock, FunctionRef ref, Findings& findings) {
  const Function& function = *ref.function;
  for (const Block& block : function.blocks) {
    if (!block.in_loop)
      continue;
    for (const Edge& edge : block.successors) {
      if (!edge.condition || !edge.label.empty() || reaches(function, edge.block, block.id))
        continue;
      const Site read = clock.read_by(ref, *edge.condition);
      if (!read)
        continue;
      const std::vector<const Event*> loop = events_around(function, block);
      if (waits(loop) || loop.empty())
        continue;
      const auto last = std::max_element(block.events.begin(), block.events.end());
      Draft draft;
      draft.site = {ref, last == block.events.end() ? loop.front() : &function.events[*last]};
      draft.message = "the clock ends this loop: how many steps are done depends on how fast the machine is";
      draft.fix = findings.rule().fix;
      draft.notes.emplace_back(read, "the clock is read here");
      if (!context.evidence.may_train(ref.function))
        draft.confidence = lowered(findings.rule().confidence);
      findings.add(std::move(draft));
      break;
    }
  }
}

} // namespace

void judge_timing(const Context& context, Findings& findings) {
  const Clock clock(context);
  for (const FunctionRef& ref : context.project.functions())
    if (!ref.function->is_kernel && !ref.function->is_device)
      judge_function(context, clock, ref, findings);
}

} // namespace reprobe::scan
