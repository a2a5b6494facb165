#include "runtime/op/scope.h"

#include "runtime/op/journal.h"

#include <algorithm>
#include <fnmatch.h>

namespace torch::autograd {
TORCH_API int get_current_graph_task_id(); // torch/csrc/autograd/graph_task.h; -1 outside of a backward pass
}

namespace reprobe::op::scope {
namespace {

constexpr std::size_t kRememberedPasses = 64; // that may run at once

struct Passes {
  std::mutex mutex;
  std::deque<int> seen;
};

Passes& passes() {
  static Passes* passes = new Passes;
  return *passes;
}

std::atomic<std::uint64_t> step_of_program{0};
std::atomic<bool> marked{false}; // by the program itself
std::atomic<int> open_windows{0};
std::atomic<bool> window_seen{false}, steps_seen{false};

bool is_window(const char* name) {
  const auto& windows = registry().options.windows;
  return std::any_of(windows.begin(), windows.end(),
                     [&](const std::string& glob) { return ::fnmatch(glob.c_str(), name, 0) == 0; });
}

/// Ranges of this thread that NVTX has open: whether each is a window.
std::vector<bool>& pushed() {
  thread_local std::vector<bool>* ranges = new std::vector<bool>; // ends after the thread's own destructors
  return *ranges;
}

void open_window() {
  window_seen = true;
  ++open_windows;
}

} // namespace

void backward_node(ThreadState& runs, ThreadState* called_from) {
  const int pass = torch::autograd::get_current_graph_task_id();
  if (pass == runs.backward_pass || pass < 0)
    return;
  runs.backward_pass = pass;
  if (!runs.backward.empty())
    return; // a pass inside a node of another one, as of checkpointing
  std::lock_guard lock(passes().mutex);
  auto& seen = passes().seen;
  if (std::find(seen.begin(), seen.end(), pass) != seen.end())
    return;
  if (seen.size() == kRememberedPasses)
    seen.pop_front();
  seen.push_back(pass);
  // The thread that called backward() made most of its nodes; it goes on when all of them have run.
  (called_from ? called_from : &runs)->step_ends.store(true, std::memory_order_relaxed);
}

void before_operator(ThreadState& thread) {
  if (!thread.step_ends.load(std::memory_order_relaxed) || torch::autograd::get_current_graph_task_id() >= 0)
    return;
  thread.step_ends.store(false, std::memory_order_relaxed);
  if (!marked.load(std::memory_order_relaxed))
    step_of_program.fetch_add(1, std::memory_order_relaxed);
}

void mark_step() {
  if (!marked.exchange(true))
    step_of_program = 0;
  step_of_program.fetch_add(1, std::memory_order_relaxed);
}

bool in_steps() {
  const Options& options = registry().options;
  const SharedControl* control = registry().control;
  if (control && !control->listening.load(std::memory_order_relaxed))
    return false;
  if (options.skip == 0 && options.steps == 0)
    return true;
  const std::uint64_t step = step_of_program.load(std::memory_order_relaxed);
  const bool inside = step >= options.skip && (options.steps == 0 || step - options.skip < options.steps);
  if (inside)
    steps_seen.store(true, std::memory_order_relaxed);
  return inside;
}

bool in_window(const ThreadState& thread) {
  if (registry().options.windows.empty() || open_windows.load(std::memory_order_relaxed) > 0)
    return true;
  return !thread.backward.empty() && thread.backward.back().in_window;
}

void enter_range(const char* name) {
  if (is_window(name))
    open_window();
}

void leave_range(const char* name) {
  if (is_window(name))
    --open_windows;
}

void push_range(const char* name) {
  const bool window = is_window(name);
  pushed().push_back(window);
  if (window)
    open_window();
}

void pop_range() {
  if (pushed().empty())
    return; // opened before the observer was there
  if (pushed().back())
    --open_windows;
  pushed().pop_back();
}

std::uint64_t current_step() { return step_of_program.load(std::memory_order_relaxed); }

void remark_on_what_was_missed() {
  const Options& options = registry().options;
  if (!options.windows.empty() && !window_seen) {
    std::string names;
    for (const std::string& window : options.windows)
      names += (names.empty() ? "" : ", ") + window;
    journal::remark("no range named " + names + " was entered");
  }
  if (options.skip > 0 && !steps_seen)
    journal::remark("the program ended in step " + std::to_string(current_step()) + ", and the first " +
                    std::to_string(options.skip) + " were to be skipped");
}

} // namespace reprobe::op::scope
