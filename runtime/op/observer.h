// The operation observer: what its steps share.
//
// A call goes through them in this order: operators (is it measured at all?), call_site and signature (was
// this call seen before?), arguments and generators (what must be the same in a re-execution), the program's
// own execution, examine (re-execute and compare, results), journal. One leaked registry holds all state:
// threads of the program may outlive every static destructor.
#pragma once

#include "runtime/op/hash.h"
#include "runtime/op/torch_headers.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <optional>
#include <shared_mutex>
#include <unordered_set>
#include <utility>

namespace reprobe::op {

struct Options {
  std::string directory, compare_cuda;
  int rounds = 20, per_signature = 1;
  double budget_seconds = 120;
  std::uint64_t memory = std::uint64_t(2) << 30;
  int every = 1;                     // of a signature's calls, each how manyeth may be examined
  std::uint64_t skip = 0, steps = 0; // steps left out at first; steps looked at then, 0: all
  std::vector<std::string> windows;  // globs of range names; empty: no matter in which
  bool ask_lines = false;            // whether a call's line is flagged: the launcher knows
  std::vector<std::string> selection; // globs of operators; empty: all, unless lines are asked for
  std::string case_directory;                          // empty: no cases are saved
  std::uint64_t case_bytes = std::uint64_t(256) << 20; // of one case, at most
  std::vector<std::pair<std::string, std::string>> not_replayed; // glob, reason
};

/// One operator of the dispatcher, as the observer treats it. Never freed.
struct Operator {
  explicit Operator(const c10::OperatorHandle& handle) : handle(handle) {}
  c10::OperatorHandle handle;
  std::string name, overload;
  bool measured = true;        // false: its children are looked at instead
  bool selected = true;        // named by --ops and --from, or neither was given
  bool excluded = false;       // by --ops '!...': not looked at inside another either
  bool framework = false;      // of LibTorch itself: its schema lies only in ways that one re-execution shows
  std::string reason;          // why it is not measured, when the report should list that
  int generator_argument = -1; // the argument `Generator?`
};

/// Frames of one call in modules of the program, innermost first. Never freed.
struct Site {
  std::uint32_t id = 0;
  std::uint64_t hash = 0;
  std::vector<std::uintptr_t> addresses;
  bool flagged = false; // a finding names its line
};

struct Signature {
  std::uint32_t id = 0;
  std::uint64_t hash = 0;
  const Operator* op = nullptr;
  std::string text, device, direction = "forward", backward_node;
  const Site* site = nullptr;
  bool backward_of_function = false; // tied to an autograd::Function, not to an operator
  std::string autocast = "none";
  bool strict = false, warn_only = false, benchmark = false, cudnn_deterministic = false, grad = true;
  bool tf32_matmul = false, tf32_cudnn = false;
  const Signature* parent = nullptr; // reached inside this operator
  std::atomic<std::uint64_t>* calls = nullptr;
  std::atomic<int> examined{0};
  std::atomic<bool> announced{false}, skip_noted{false};
};

/// Forward calls of one thread by the sequence numbers that they gave to autograd's nodes: [first, last).
struct ForwardCall {
  std::uint64_t first, last;
  const Site* site;
  bool function;  // nodes made before the call, by autograd::Function::apply
  bool in_window; // so its gradient is, too
};

struct BackwardNode {
  const std::string* name;
  const Site* site;
  bool function, in_window;
};

/// A re-execution whose operators are examined one by one.
struct Sandbox {
  const Signature* parent;
  bool entered = false; // the record of the parent itself has been seen
  bool any_varies = false;
};

struct CallContext;

struct ThreadState {
  std::uint64_t record_thread = 0; // RecordFunction's number of this thread
  bool busy = false;               // the observer's own operators
  bool holds_gate = false;
  bool autocast_outside = false;   // at the outermost operator in progress; read when cases are saved
  CallContext* measured = nullptr; // the outermost measured call in progress
  int open = 0;                    // contexts in progress
  Sandbox* sandbox = nullptr;
  std::atomic<int> inside{0}; // in an operator, so possibly drawing random numbers
  static constexpr std::uint64_t kNotFollowed = ~std::uint64_t(0);
  std::uint64_t last_sequence = 0;          // after the last operator; kNotFollowed: outside of the steps
  int backward_pass = -1;                   // the last one that ran a node here
  std::atomic<bool> step_ends{false};       // with this thread's next operator outside of a backward pass
  std::vector<BackwardNode> backward;
  std::mutex forward_mutex;
  std::deque<ForwardCall> forward;
  std::unordered_map<std::uint64_t, Signature*> signatures;
  std::unordered_map<std::uint64_t, const Site*> sites;
  std::unordered_map<const void*, const Operator*> operators;
};

/// Holds other threads at their next operator while a default generator is set to an earlier state.
class Gate {
public:
  void enter(ThreadState&);
  void leave(ThreadState& thread) { thread.inside.store(0, std::memory_order_seq_cst); }
  /// False when other threads stay in their operators for too long.
  bool close(ThreadState&);
  void open(ThreadState&);
  /// A thread was let through after all: since then the generators may have been drawn from.
  bool stuck() const { return stuck_.load(); }

private:
  std::atomic<bool> stuck_{false};
  std::atomic<ThreadState*> holder_{nullptr};
  std::timed_mutex closing_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::atomic<int> failures_{0};
};

struct SharedControl;

struct Registry {
  Options options;
  const SharedControl* control = nullptr; // the launcher's page; null: no signal is waited for
  std::atomic<bool> stopped{false};
  std::atomic<bool> cuda_seen{false}; // in an argument of an operator
  std::atomic<bool> environment_noted{false};
  std::atomic<std::int64_t> spent_nanoseconds{0};
  Gate gate;

  std::mutex threads_mutex;
  std::vector<ThreadState*> threads;

  std::shared_mutex operators_mutex;
  std::unordered_map<const void*, Operator*> operators;

  std::mutex signatures_mutex;
  std::unordered_map<std::uint64_t, Signature*> signatures;
  std::mutex sites_mutex;
  std::unordered_map<std::uint64_t, const Site*> sites;

  double budget_left() const { return options.budget_seconds - double(spent_nanoseconds.load()) * 1e-9; }
};

Registry& registry();
ThreadState& this_thread();

/// The observer's own use of LibTorch on this thread: no callbacks, no autograd.
class OwnWork {
public:
  explicit OwnWork(ThreadState& thread) : thread_(thread), before_(thread.busy) { thread.busy = true; }
  ~OwnWork() { thread_.busy = before_; }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

private:
  ThreadState& thread_;
  bool before_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
};

// operators.cpp
const Operator* find_operator(ThreadState&, const at::RecordFunction&);
/// Globs name what to measure; with '!' before them, what not to. The latter win.
bool is_selected(const Options&, const std::string& name);
/// Null: no such operator is registered in this process.
const Operator* find_operator(const std::string& name, const std::string& overload);

// call_site.cpp
const Site* call_site(ThreadState&);
/// Path and offset (as the symbolizer takes it) of an address in a module; empty when it lies in none.
std::pair<std::string, std::uintptr_t> locate(std::uintptr_t address);

// signature.cpp
struct Position { // where a call belongs in the source
  const Site* site = nullptr;
  const BackwardNode* backward = nullptr;
};
Signature* find_signature(ThreadState&, const Operator&, c10::ArrayRef<const c10::IValue> inputs,
                          const Position&);
std::string dtype_name(c10::ScalarType);

// observer.cpp
/// Reads the options that the launcher left in `directory` and opens the journal there. Empty, or why nothing can be
/// done with the LibTorch whose library is `libtorch`.
std::string start_journal(const char* libtorch, const char* directory);

// environment.cpp
std::string environment_json();

} // namespace reprobe::op
