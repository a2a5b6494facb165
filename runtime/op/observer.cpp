#include "runtime/op/observer.h"

#include "runtime/op/examine.h"
#include "runtime/op/journal.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <pthread.h>
#include <torch/version.h>

namespace reprobe::op {

Registry& registry() {
  static Registry* registry = new Registry;
  return *registry;
}

ThreadState& this_thread() {
  thread_local ThreadState* thread = nullptr;
  if (!thread) {
    thread = new ThreadState; // stays: other threads look up forward calls in it
    std::lock_guard lock(registry().threads_mutex);
    registry().threads.push_back(thread);
  }
  return *thread;
}

namespace {

constexpr std::size_t kRememberedForwardCalls = 1u << 16;

/// The forward call that made the autograd node of this number on this thread.
const ForwardCall* find_forward(ThreadState& forward, std::uint64_t sequence) {
  const auto after =
      std::upper_bound(forward.forward.begin(), forward.forward.end(), sequence,
                       [](std::uint64_t value, const ForwardCall& call) { return value < call.first; });
  if (after == forward.forward.begin())
    return nullptr;
  const auto& call = *std::prev(after);
  return sequence < call.last ? &call : nullptr;
}

void remember_forward(ThreadState& thread, std::uint64_t first, std::uint64_t last, const Site* site,
                      bool function) {
  std::lock_guard lock(thread.forward_mutex);
  if (thread.forward.size() == kRememberedForwardCalls)
    thread.forward.pop_front();
  thread.forward.push_back({first, last, site, function});
}

Position position_of(ThreadState& thread, CallContext& context) {
  Position position;
  if (thread.sandbox) {
    position.site = thread.sandbox->parent->site;
  } else if (!thread.backward.empty()) {
    position.backward = &thread.backward.back();
    position.site = position.backward->site;
  } else {
    position.site = context.site = call_site(thread);
  }
  return position;
}

/// Examines the first calls of each signature.
bool take(Signature& signature) {
  int before = signature.examined.load(std::memory_order_relaxed);
  while (before < registry().options.per_signature)
    if (signature.examined.compare_exchange_weak(before, before + 1))
      return true;
  return false;
}

std::unique_ptr<CallContext> start(const at::RecordFunction& record) {
  ThreadState& thread = this_thread();
  if (thread.busy || thread.measured || registry().stopped.load(std::memory_order_relaxed))
    return nullptr;
  const Operator* op = find_operator(thread, record);
  if (!op)
    return nullptr;
  if (thread.sandbox && !thread.sandbox->entered) {
    thread.sandbox->entered = true;
    return nullptr;
  }
  auto context = std::make_unique<CallContext>();
  context->thread = &thread;
  context->op = op;
  if (thread.open++ == 0 && !thread.sandbox) {
    registry().gate.enter(thread);
    thread.record_thread = record.threadId();
    context->sequence = at::sequence_number::peek();
    if (!registry().options.case_directory.empty())
      thread.autocast_outside =
          at::autocast::is_autocast_enabled(at::kCPU) || at::autocast::is_autocast_enabled(at::kCUDA);
    if (context->sequence > thread.last_sequence && thread.backward.empty()) {
      // Nodes were made since the last operator: autograd::Function::apply makes its own before it calls
      // forward().
      context->site = call_site(thread);
      remember_forward(thread, thread.last_sequence, context->sequence, context->site, true);
    }
  }
  const bool listed = !op->measured && !op->reason.empty();
  if ((op->measured && op->selected) || listed) {
    const Position position = position_of(thread, *context);
    context->signature = find_signature(thread, *op, record.inputs(), position);
    if (context->signature) {
      context->signature->calls->fetch_add(1, std::memory_order_relaxed);
      if (listed)
        journal::skipped(*context->signature, op->reason);
    }
  }
  if (op->measured && op->selected) {
    thread.measured = context.get();
    context->exceptions = std::uncaught_exceptions();
    if (context->signature && take(*context->signature))
      save_call(*context, record.inputs());
  }
  return context;
}

void finish(const at::RecordFunction& record, CallContext& context) {
  ThreadState& thread = *context.thread;
  if (&thread != &this_thread())
    return; // an operator that ends on another thread: its state is not ours to touch
  if (context.saved) {
    if (std::uncaught_exceptions() > context.exceptions) {
      context.signature->examined.fetch_sub(1); // the next call may succeed
      if (!thread.sandbox)
        journal::skipped(*context.signature, "the operator threw an exception");
      OwnWork own(thread);
      context.saved.reset();
    } else if (!registry().stopped) {
      const auto& outputs = record.outputs();
      examine(context, c10::ArrayRef<c10::IValue>(const_cast<c10::IValue*>(outputs.data()), outputs.size()));
    }
  }
  if (thread.measured == &context)
    thread.measured = nullptr;
  if (--thread.open > 0 || thread.sandbox)
    return;
  const std::uint64_t sequence = at::sequence_number::peek();
  if (sequence > context.sequence && thread.backward.empty()) {
    if (!context.site)
      context.site = call_site(thread);
    remember_forward(thread, context.sequence, sequence, context.site, false);
  }
  thread.last_sequence = sequence;
  registry().gate.leave(thread);
}

// LibTorch calls these around every operator; nothing may leave them.

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& record) {
  try {
    return start(record);
  } catch (...) {
    return nullptr;
  }
}

void on_end(const at::RecordFunction& record, at::ObserverContext* context) {
  if (!context)
    return;
  try {
    finish(record, *static_cast<CallContext*>(context));
  } catch (...) {
  }
}

struct BackwardContext : at::ObserverContext {
  ThreadState* thread = nullptr;
};

const std::string* intern(const char* name) {
  static auto* names = new std::unordered_set<std::string>;
  static auto* mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  return &*names->insert(name).first;
}

std::unique_ptr<at::ObserverContext> on_backward_start(const at::RecordFunction& record) {
  try {
    ThreadState& thread = this_thread();
    if (thread.busy || thread.measured || thread.sandbox ||
        registry().stopped.load(std::memory_order_relaxed))
      return nullptr;
    BackwardNode node{intern(record.name()), nullptr, false};
    ThreadState* forward = nullptr;
    {
      std::lock_guard lock(registry().threads_mutex);
      for (ThreadState* other : registry().threads)
        if (other->record_thread == record.forwardThreadId())
          forward = other;
    }
    if (forward && record.forwardThreadId() != 0 && record.seqNr() >= 0) {
      std::lock_guard lock(forward->forward_mutex);
      if (const ForwardCall* call = find_forward(*forward, static_cast<std::uint64_t>(record.seqNr()))) {
        node.site = call->site;
        node.function = call->function;
      }
    }
    auto context = std::make_unique<BackwardContext>();
    context->thread = &thread;
    thread.backward.push_back(node);
    return context;
  } catch (...) {
    return nullptr;
  }
}

void on_backward_end(const at::RecordFunction&, at::ObserverContext* context) {
  if (!context)
    return;
  ThreadState& thread = *static_cast<BackwardContext*>(context)->thread;
  if (&thread == &this_thread() && !thread.backward.empty())
    thread.backward.pop_back();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty())
      lines.push_back(line);
  return lines;
}

template <class Number>
void read_number(const char* name, Number& value) {
  if (const char* text = std::getenv(name); text && *text)
    value = static_cast<Number>(std::strtod(text, nullptr));
}

void read_options(Options& options) {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  options.directory = text("REPROBE_RUN_DIRECTORY");
  options.compare_cuda = text("REPROBE_COMPARE_CUDA");
  read_number("REPROBE_ROUNDS", options.rounds);
  read_number("REPROBE_PER_SIGNATURE", options.per_signature);
  read_number("REPROBE_BUDGET_SECONDS", options.budget_seconds);
  read_number("REPROBE_MEMORY_BYTES", options.memory);
  options.case_directory = text("REPROBE_CASE_DIRECTORY");
  read_number("REPROBE_CASE_BYTES", options.case_bytes);
  options.selection = read_lines(options.directory + "/selection");
  for (const std::string& line : read_lines(options.directory + "/not-replayed"))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      options.not_replayed.emplace_back(line.substr(0, tab), line.substr(tab + 1));
}

/// LibTorch's own word for its version, from the files beside the mapped library; empty when there are none.
std::string version_beside(const std::string& libtorch) {
  const std::string root = libtorch.substr(0, libtorch.rfind('/')) + "/..";
  for (const std::string& line : read_lines(root + "/version.py"))
    if (line.rfind("__version__", 0) == 0)
      if (const auto quote = line.find_first_of("'\""); quote != std::string::npos)
        return line.substr(quote + 1, line.find_last_of("'\"") - quote - 1);
  const auto lines = read_lines(root + "/build-version");
  return lines.empty() ? std::string() : lines.front();
}

void at_exit() {
  if (registry().stopped.exchange(true))
    return;
  try {
    journal::environment(environment_json());
    journal::end();
  } catch (...) {
  }
}

void in_forked_child() {
  if (!registry().stopped.exchange(true))
    journal::forked();
}

} // namespace

std::string start_journal(const char* libtorch) {
  const std::string version = version_beside(libtorch);
  if (!version.empty() && version.substr(0, version.find('+')) != TORCH_VERSION)
    return "the program uses LibTorch " + version + ", the observer was built for " TORCH_VERSION
           " (build Reprobe with the program's LibTorch: -DTorch_DIR=...)";
  read_options(registry().options);
  return journal::open(registry().options.directory) ? ""
                                                     : "the journal in the run directory cannot be written";
}

namespace {

const char* observe(const char* libtorch) {
  static std::string failure;
  failure = start_journal(libtorch);
  if (!failure.empty())
    return failure.c_str();
  ::pthread_atfork(nullptr, nullptr, in_forked_child);
  std::atexit(at_exit);
  at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                            .needsInputs(true)
                            .needsOutputs(true)
                            .scopes({at::RecordScope::FUNCTION}));
  at::addGlobalCallback(at::RecordFunctionCallback(on_backward_start, on_backward_end)
                            .scopes({at::RecordScope::BACKWARD_FUNCTION}));
  return nullptr;
}

} // namespace
} // namespace reprobe::op

/// Called by the preloaded shim before the program's main; null, or why nothing is observed.
extern "C" __attribute__((visibility("default"))) const char* reprobe_observe(const char* libtorch) {
  try {
    return reprobe::op::observe(libtorch);
  } catch (const std::exception& error) {
    static std::string failure;
    return (failure = error.what()).c_str();
  } catch (...) {
    return "the observer failed to start";
  }
}
