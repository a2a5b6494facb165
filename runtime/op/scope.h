// Which of the program's calls are looked at: by step, by named range, by signal.
//
// A step ends with an outermost backward pass (or where the program marks it): its forward pass, its backward
// pass, and what the optimizer did before them. Calls outside are counted and otherwise left alone.
#pragma once

#include "runtime/op/observer.h"

namespace reprobe::op::scope {

/// Of a node that starts to run on this thread: opens a step's end when it is the first of an outermost pass.
void backward_node(ThreadState& runs, ThreadState* called_from);
/// Before an operator: ends the step when its backward pass is over.
void before_operator(ThreadState&);
/// The program says that a step ends here; from then on only its own marks count.
void mark_step();

/// From 0.
std::uint64_t current_step();

/// Inside --skip and --steps, and not switched off by a signal.
bool in_steps();
/// Inside a range named by --window; true when none is named.
bool in_window(const ThreadState&);

/// A range of the program, as of record_function, NVTX or reprobe::Region. It counts for all threads.
void enter_range(const char* name);
void leave_range(const char* name);
/// NVTX ends ranges without naming them: those of one thread are nested.
void push_range(const char* name);
void pop_range();

/// At the program's end: why nothing was looked at, when that is so.
void remark_on_what_was_missed();

} // namespace reprobe::op::scope
