#include "runtime/op/observer.h"

#include "runtime/op/examine.h"
#include "runtime/op/flags.h"
#include "runtime/op/journal.h"
#include "runtime/op/scope.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

extern char** environ;

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
  thread.forward.push_back({first, last, site, function, scope::in_window(thread)});
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

/// Examines the first calls of each signature, or of each `every` calls the first.
bool take(Signature& signature, std::uint64_t call) {
  if (call % static_cast<std::uint64_t>(registry().options.every) != 0)
    return false;
  int before = signature.examined.load(std::memory_order_relaxed);
  while (before < registry().options.per_signature)
    if (signature.examined.compare_exchange_weak(before, before + 1))
      return true;
  return false;
}

/// Of the calls outside of steps and windows, those that would be examined inside.
void count_outside(ThreadState& thread, CallContext& context) {
  journal::page().outside.fetch_add(1, std::memory_order_relaxed);
  thread.measured = &context; // what it calls is not counted again
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
  const bool outermost = thread.open++ == 0 && !thread.sandbox;
  bool in_steps = true;
  if (outermost) {
    registry().gate.enter(thread);
    scope::before_operator(thread);
    thread.record_thread = record.threadId();
    in_steps = scope::in_steps();
    context->sequence = in_steps ? at::sequence_number::peek() : ThreadState::kNotFollowed;
    if (!registry().options.case_directory.empty())
      thread.autocast_outside =
          at::autocast::is_autocast_enabled(at::kCPU) || at::autocast::is_autocast_enabled(at::kCUDA);
    if (in_steps && context->sequence > thread.last_sequence && thread.backward.empty()) {
      // Nodes were made since the last operator: autograd::Function::apply makes its own before it calls
      // forward().
      context->site = call_site(thread);
      remember_forward(thread, thread.last_sequence, context->sequence, context->site, true);
    }
  } else if (!thread.sandbox) {
    in_steps = scope::in_steps();
  }
  // Inside a re-execution everything but what was left out by name: which part is to blame?
  bool chosen = op->measured && (thread.sandbox ? !op->excluded : op->selected);
  std::optional<Position> position;
  if (outermost && in_steps && op->measured && !op->excluded && registry().options.ask_lines) {
    position = position_of(thread, *context);
    chosen |= position->site && position->site->flagged;
  }
  const bool listed = !op->measured && !op->reason.empty() && op->selected;
  if (!chosen && !listed)
    return context;
  if (!in_steps || !(thread.sandbox || scope::in_window(thread))) {
    count_outside(thread, *context);
    return context;
  }
  if (!position)
    position = position_of(thread, *context);
  if (!thread.sandbox && flags::changed())
    flags::note(*op, position->site, scope::current_step());
  context->signature = find_signature(thread, *op, record.inputs(), *position);
  std::uint64_t call = 0;
  if (context->signature) {
    call = context->signature->calls->fetch_add(1, std::memory_order_relaxed);
    if (listed)
      journal::skipped(*context->signature, op->reason);
  }
  if (chosen) {
    thread.measured = context.get();
    context->exceptions = std::uncaught_exceptions();
    if (context->signature && take(*context->signature, call))
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
  if (context.sequence == ThreadState::kNotFollowed) {
    thread.last_sequence = ThreadState::kNotFollowed;
  } else {
    const std::uint64_t sequence = at::sequence_number::peek();
    if (sequence > context.sequence && thread.backward.empty()) {
      if (!context.site)
        context.site = call_site(thread);
      remember_forward(thread, context.sequence, sequence, context.site, false);
    }
    thread.last_sequence = sequence;
  }
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
    BackwardNode node{intern(record.name()), nullptr, false, false};
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
        node.in_window = call->in_window;
      }
    }
    scope::backward_node(thread, forward);
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

/// What the launcher wrote for the observer: NAME=value, a line each.
class Settings {
public:
  explicit Settings(const std::string& directory) {
    for (const std::string& line : read_lines(directory + "/settings"))
      if (const auto equals = line.find('='); equals != std::string::npos)
        values_[line.substr(0, equals)] = line.substr(equals + 1);
  }
  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string() : found->second;
  }
  template <class Number>
  void read_number(const std::string& name, Number& value) const {
    if (const std::string given = text(name); !given.empty())
      value = static_cast<Number>(std::strtod(given.c_str(), nullptr));
  }

private:
  std::map<std::string, std::string> values_;
};

void read_options(Options& options, const std::string& directory) {
  options.directory = directory;
  const Settings settings(directory);
  options.compare_cuda = settings.text("REPROBE_COMPARE_CUDA");
  settings.read_number("REPROBE_ROUNDS", options.rounds);
  settings.read_number("REPROBE_PER_SIGNATURE", options.per_signature);
  settings.read_number("REPROBE_EVERY", options.every);
  settings.read_number("REPROBE_SKIP", options.skip);
  settings.read_number("REPROBE_STEPS", options.steps);
  settings.read_number("REPROBE_ASK_LINES", options.ask_lines);
  settings.read_number("REPROBE_BUDGET_SECONDS", options.budget_seconds);
  settings.read_number("REPROBE_MEMORY_BYTES", options.memory);
  options.windows = read_lines(options.directory + "/windows");
  options.case_directory = settings.text("REPROBE_CASE_DIRECTORY");
  settings.read_number("REPROBE_CASE_BYTES", options.case_bytes);
  options.selection = read_lines(options.directory + "/selection");
  for (const std::string& line : read_lines(options.directory + "/not-replayed"))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      options.not_replayed.emplace_back(line.substr(0, tab), line.substr(tab + 1));
}

std::string libtorch_root(const std::string& library) {
  const std::string folder = library.substr(0, library.rfind('/'));
  return folder.substr(0, folder.rfind('/'));
}

/// LibTorch's own word for its version, from the files beside the mapped library; empty when there are none.
std::string version_beside(const std::string& libtorch) {
  const std::string root = libtorch_root(libtorch);
  for (const std::string& line : read_lines(root + "/version.py"))
    if (line.rfind("__version__", 0) == 0)
      if (const auto quote = line.find_first_of("'\""); quote != std::string::npos)
        return line.substr(quote + 1, line.find_last_of("'\"") - quote - 1);
  const auto lines = read_lines(root + "/build-version");
  return lines.empty() ? std::string() : lines.front();
}

/// Where no launcher waits for the program's end, it starts one itself to write the measurements.
void collect(const std::string& directory) {
  const Settings settings(directory);
  const std::string executable = settings.text("REPROBE_COLLECTOR"), output = settings.text("REPROBE_OUTPUT");
  if (executable.empty())
    return;
  const char* arguments[] = {"reprobe", "run", "--collect", directory.c_str(), "-o", output.c_str(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, executable.c_str(), nullptr, nullptr, const_cast<char**>(arguments), environ) == 0)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void at_exit() {
  if (registry().stopped.exchange(true))
    return;
  try {
    scope::remark_on_what_was_missed();
    journal::environment(environment_json());
    journal::end();
    collect(registry().options.directory);
  } catch (...) {
  }
}

void in_forked_child() {
  if (!registry().stopped.exchange(true))
    journal::forked();
}

std::unique_ptr<at::ObserverContext> on_range_start(const at::RecordFunction& record) {
  scope::enter_range(record.name());
  return nullptr;
}

void on_range_end(const at::RecordFunction& record, at::ObserverContext*) {
  scope::leave_range(record.name());
}

void follow_operators() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                              .needsInputs(true)
                              .needsOutputs(true)
                              .scopes({at::RecordScope::FUNCTION}));
    at::addGlobalCallback(at::RecordFunctionCallback(on_backward_start, on_backward_end)
                              .scopes({at::RecordScope::BACKWARD_FUNCTION}));
  });
}

/// While no operator of the dispatcher is selected, LibTorch is left alone: nothing is called, no arguments
/// are boxed. A library that is loaded later may still bring one.
class WaitForSelected : public c10::OpRegistrationListener {
  void onOperatorRegistered(const c10::OperatorHandle& op) override {
    if (is_selected(registry().options, op.operator_name().name))
      follow_operators();
  }
  void onOperatorDeregistered(const c10::OperatorHandle&) override {}
};

const SharedControl* map_control(const std::string& directory) {
  const int file = ::open((directory + "/control").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return nullptr; // no signal is waited for
  void* page = ::mmap(nullptr, sizeof(SharedControl), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return page == MAP_FAILED ? nullptr : static_cast<const SharedControl*>(page);
}

} // namespace

std::string start_journal(const char* libtorch, const char* directory) {
  const std::string version = version_beside(libtorch);
  if (!version.empty() && version.substr(0, version.find('+')) != TORCH_VERSION)
    return "the program uses LibTorch " + version + ", the observer was built for " TORCH_VERSION
           " (build Reprobe with the program's LibTorch: -DTorch_DIR=" + libtorch_root(libtorch) + "/share/cmake/Torch)";
  read_options(registry().options, directory);
  return journal::open(directory) ? "" : "the journal in the run directory cannot be written";
}

namespace {

const char* observe(const char* libtorch, const char* directory) {
  static std::string failure;
  static std::atomic<bool> begun{false};
  if (begun.exchange(true))
    return "it is observed already";
  failure = start_journal(libtorch, directory);
  if (!failure.empty())
    return failure.c_str();
  const Options& options = registry().options;
  registry().control = map_control(directory);
  ::pthread_atfork(nullptr, nullptr, in_forked_child);
  at::globalContext(); // made before, so destroyed after at_exit has read its flags
  std::atexit(at_exit);
  if (!options.windows.empty())
    at::addGlobalCallback(
        at::RecordFunctionCallback(on_range_start, on_range_end).scopes({at::RecordScope::USER_SCOPE}));
  // Never taken back: operators may be registered until the very end.
  new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<WaitForSelected>()));
  if (options.ask_lines)
    follow_operators();
  return nullptr;
}

template <class Body>
void guarded(Body&& body) { // nothing may leave what the program calls
  try {
    if (!registry().stopped.load(std::memory_order_relaxed))
      body();
  } catch (...) {
  }
}

} // namespace
} // namespace reprobe::op

// What the preloaded shim and runtime/include/reprobe/observe.h call.

#define REPROBE_EXPORT extern "C" __attribute__((visibility("default")))

/// Called before the program's main, or by the program; null, or why nothing is observed.
REPROBE_EXPORT const char* reprobe_observe(const char* libtorch, const char* directory) {
  try {
    return reprobe::op::observe(libtorch, directory);
  } catch (const std::exception& error) {
    static std::string failure;
    return (failure = error.what()).c_str();
  } catch (...) {
    return "the observer failed to start";
  }
}

REPROBE_EXPORT void reprobe_region_begin(const char* name) {
  reprobe::op::guarded([&] { reprobe::op::scope::enter_range(name); });
}

REPROBE_EXPORT void reprobe_region_end(const char* name) {
  reprobe::op::guarded([&] { reprobe::op::scope::leave_range(name); });
}

REPROBE_EXPORT void reprobe_range_push(const char* name) {
  reprobe::op::guarded([&] { reprobe::op::scope::push_range(name); });
}

REPROBE_EXPORT void reprobe_range_pop() {
  reprobe::op::guarded([] { reprobe::op::scope::pop_range(); });
}

REPROBE_EXPORT void reprobe_step() {
  reprobe::op::guarded([] { reprobe::op::scope::mark_step(); });
}
