// One kernel: which threads run an event, and whether an expression has another value in each of them.
//
// Everything is read off the facts: thread indices that occur in an expression, also through variables and
// the user's own functions; the conditions that must hold where an event stands; the memory that it writes.
#pragma once

#include "analyzer/scan/judge/context.h"

namespace reprobe::scan {

/// Directions in which threads differ, as bits: threadIdx.x, .y, .z, blockIdx.x, .y, .z.
using Dimensions = unsigned;
inline constexpr Dimensions kThreadDimensions = 0b000111, kAllDimensions = 0b111111;

/// What an expression is made of.
struct Spread {
  Dimensions dimensions = 0; // indices that occur in it
  bool memory = false;       // a value loaded from memory
  bool shared = false;       // a value of a __shared__ variable
  bool opaque = false;       // something that is not followed: a foreign call, an array of the thread's own
  bool unknown = false; // a variable of which nothing is known, such as a macro that a build would define
  bool is_own() const {
    return dimensions != 0 && !opaque && !shared;
  } ///< surely another value in other threads
};

/// A condition that has the value `when` wherever the event is reached.
struct Guard {
  const Value* condition = nullptr;
  bool when = true;
};

/// A write to memory that several threads can reach.
struct Store {
  const Event* event = nullptr;
  const Value* address = nullptr; // the element: `a[i]`, `*p`, a __shared__ variable
  const Value* root = nullptr;    // the array or pointer
  const Value* stored = nullptr;  // null for ++ and --
  bool update = false;            // reads the element first: `a[i] += x`, `a[i] = a[i] + x`
  bool shared = false;            // to __shared__ memory
};

/// `threadIdx.x * 4 + stride + 1`: multiples of thread indices and of variables, and a constant.
struct Linear {
  std::map<std::string, std::int64_t> threads, symbols; // "threadIdx.x", "blockIdx.x*blockDim.x"; USRs
  std::int64_t constant = 0;
  bool operator==(const Linear&) const = default;
};

class Kernel {
public:
  Kernel(const Context&, FunctionRef);

  FunctionRef ref() const { return ref_; }
  Spread spread(const Value&) const;
  /// Nothing when the value is not of this form, or is made of variables that differ between threads.
  std::optional<Linear> linear(const Value&) const;
  const std::vector<Guard>& guards(const Event&) const;
  /// Directions in which one thread alone gets to the event: `if (threadIdx.x == 0)`. All, where that cannot
  /// be told.
  Dimensions pinned(const Event&) const;
  std::vector<Store> stores() const;
  /// Memory that belongs to one thread: an array or variable of its own, also through a pointer.
  bool points_to_own(const Value& pointer, int depth = 0) const;
  /// __shared__ memory, also through a pointer.
  bool points_to_shared(const Value& pointer, int depth = 0) const;

  bool is_shared(const std::string& variable_id) const { return shared_.contains(variable_id); }
  bool is_local_array(const std::string& variable_id) const { return arrays_.contains(variable_id); }
  /// The block that holds the event; null where there is no graph.
  const Block* block_of(const Event&) const;

private:
  struct Walk;
  void add(const Value&, Walk&, Spread&, int depth) const;
  void add_operands(const Value&, Walk&, Spread&, int depth) const;
  void add_variable(const Value&, Walk&, Spread&, int depth) const;
  void add_element(const Value& base, const Value* index, Walk&, Spread&, int depth) const;
  void add_call(FunctionRef, const Event&, Walk&, Spread&, int depth) const;
  Dimensions pinned_by(const Guard&, int depth) const;
  std::optional<Linear> linear(const Value&, int depth) const;
  std::optional<Linear> linear_variable(const Value&, int depth) const;

  const Context& context_;
  FunctionRef ref_;
  std::set<std::string> shared_, arrays_;
  std::map<std::uint32_t, std::uint32_t> blocks_; // of events
  void find_guards() const;
  mutable std::vector<std::vector<Guard>> guards_; // by block, found when first asked for
  mutable std::unordered_map<const Value*, Spread> spreads_;
};

/// Names that the table `device-functions` lists under a kind.
bool is_device_function(const Context&, const std::string& kind, const std::string& callee);

/// What a value loads or is computed from, with its variables replaced by their only definition: equal text,
/// equal value.
std::string canonical(const Codebase&, FunctionRef, const Value&);

} // namespace reprobe::scan
