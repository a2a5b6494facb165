// Code that several threads run at once: where it starts, what it shares with the other threads, where it holds a
// lock, and which of its indices keep the threads apart.
#pragma once

#include "analyzer/scan/judge/context.h"

#include <functional>
#include <memory>

namespace reprobe::scan {

/// A place where threads start: a call, a constructor, or an OpenMP pragma.
struct Start {
  Site site;                      // for OpenMP: the first event of the statement
  const Pragma* pragma = nullptr; // OpenMP
  bool many = false;              // several threads run the same code
  bool beside = false;            // another start of the same code in the same function
  bool queued = false;            // which thread runs which piece depends on timing
};

/// A function that runs in such a thread, and what is known of its parameters and variables there.
class Frame {
public:
  const Start* start = nullptr;
  FunctionRef function;
  const Frame* caller = nullptr; // null for what the thread runs first
  const Event* call = nullptr;   // in the caller
  bool locked = false, single = false; // at the call already

  /// Whether the threads see the same object.
  bool is_shared(const Value&) const;
  /// Whether the value differs from thread to thread in a way that keeps them apart.
  bool is_split(const Value&) const;
  bool is_locked_at(const Event&) const;
  /// Whether only one of the threads comes here (`if (thread == 0)`, omp single).
  bool is_single_at(const Event&) const;
  bool contains(const Event&) const;
  bool is_outermost() const { return caller == nullptr; }

private:
  friend class Threads;
  struct Facts;
  bool declares(const std::string& id) const;
  bool is_shared(const Value&, int depth) const;
  bool is_split(const Value&, int depth) const;
  bool is_shared_local(const Value&, int depth) const;

  const Context* context_ = nullptr;
  const Facts* facts_ = nullptr; // of the function
  const Frame* outside_ = nullptr;  // for what the thread runs first: the function that starts it
  bool starts_ = false;             // this frame is such a function
  bool this_shared_ = false;
  std::set<std::string> shared_, split_, own_; // ids of parameters and variables
  std::set<std::string> own_names_;            // private(…) and reduction(…) of OpenMP
};

/// Visits every event that the project's threads may run, with the frame that it stands in.
void for_each_threaded_event(const Context&, const std::function<void(const Frame&, const Event&)>& visit);

/// OpenMP's directives on a statement: "parallel", "for", "critical" …; empty for other pragmas.
std::set<std::string> openmp_directives(const Pragma&);
/// The variables of `reduction(op : a, b)` with such an operator ("+", "-", "*").
std::vector<std::pair<std::string, std::string>> openmp_reductions(const Pragma&); // operator, name

bool is_inside(const Range& outer, const Position&);
bool is_mutator(const std::string& method);  // push_back, insert, clear …
bool is_container(const std::string& type);  // of the standard library

} // namespace reprobe::scan
