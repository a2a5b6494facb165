#include "runtime/op/generators.h"

#include <chrono>
#include <cstring>
#include <thread>

namespace reprobe::op {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;        // for threads that are inside an operator
constexpr auto kShortPatience = 20ms; // after kPatience ran out a few times
constexpr auto kLongestHold = 250ms; // of a thread at the gate: its operator may be part of what is re-executed
constexpr auto kLongestTurn = 30s;   // until another thread has done its own re-execution

at::Tensor state_of(at::Generator& generator) {
  std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator& generator, const at::Tensor& state) {
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == b.numel() && std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

} // namespace

void Gate::enter(ThreadState& thread) {
  // Both sides store, then load, sequentially consistent: either the closing thread sees this one inside, or
  // this one sees the gate closed.
  thread.inside.store(1, std::memory_order_seq_cst);
  for (ThreadState* holder; !stuck_.load() && (holder = holder_.load(std::memory_order_seq_cst)) && holder != &thread;) {
    thread.inside.store(0, std::memory_order_seq_cst);
    std::unique_lock lock(mutex_);
    const bool opened = opened_.wait_for(lock, kLongestHold, [&] { return holder_.load() != holder; });
    lock.unlock();
    thread.inside.store(1, std::memory_order_seq_cst);
    if (!opened) {
      // What is re-executed may wait for this very thread: let it through, and let the re-execution be given up.
      stuck_ = true;
      return;
    }
  }
}

bool Gate::close(ThreadState& thread) {
  const auto patience = failures_.load() < 3
                            ? std::chrono::duration_cast<std::chrono::milliseconds>(kPatience)
                            : kShortPatience;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  // This thread's operator has done its work: whoever holds the gate need not wait for it.
  thread.inside.store(0, std::memory_order_seq_cst);
  const bool turn = closing_.try_lock_until(std::chrono::steady_clock::now() + kLongestTurn);
  thread.inside.store(1, std::memory_order_seq_cst);
  if (!turn)
    return false;
  stuck_ = false;
  holder_.store(&thread, std::memory_order_seq_cst);
  std::vector<ThreadState*> others;
  {
    std::lock_guard lock(registry().threads_mutex);
    others = registry().threads;
  }
  for (ThreadState* other : others) {
    while (other != &thread && other->inside.load(std::memory_order_seq_cst)) {
      if (std::chrono::steady_clock::now() > deadline) {
        ++failures_;
        open(thread);
        return false;
      }
      std::this_thread::sleep_for(50us);
    }
  }
  thread.holds_gate = true;
  return true;
}

void Gate::open(ThreadState& thread) {
  thread.holds_gate = false;
  {
    std::lock_guard lock(mutex_);
    holder_.store(nullptr, std::memory_order_seq_cst);
  }
  opened_.notify_all();
  closing_.unlock();
}

std::vector<GeneratorState> default_generators(c10::Device device) {
  std::vector<GeneratorState> states;
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  states.push_back({cpu, state_of(cpu)});
  if (device.is_cuda()) {
    at::Generator cuda = at::globalContext().defaultGenerator(device);
    states.push_back({cuda, state_of(cuda)});
  }
  return states;
}

std::vector<GeneratorState> changed_since(const std::vector<GeneratorState>& states) {
  std::vector<GeneratorState> changed;
  for (GeneratorState state : states)
    if (!same_bytes(state.before, state_of(state.generator)))
      changed.push_back(std::move(state));
  return changed;
}

PinnedGenerators::PinnedGenerators(ThreadState& thread, std::vector<GeneratorState> states)
    : thread_(thread), states_(std::move(states)) {
  if (states_.empty()) {
    held_ = true;
    return;
  }
  if (!thread.holds_gate)
    closed_ = held_ = registry().gate.close(thread);
  else
    held_ = true; // inside a re-execution that pinned them already
  if (!held_)
    return;
  for (GeneratorState& state : states_)
    after_.push_back(state_of(state.generator));
}

PinnedGenerators::~PinnedGenerators() {
  for (std::size_t i = 0; i < after_.size(); ++i)
    set_state(states_[i].generator, after_[i]);
  if (closed_)
    registry().gate.open(thread_);
}

void PinnedGenerators::reset() {
  if (!held_)
    return;
  for (GeneratorState& state : states_)
    set_state(state.generator, state.before);
}

} // namespace reprobe::op
