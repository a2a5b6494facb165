// Loops in the control flow graph, and whether what a loop does depends on the order of its elements.
#pragma once

#include "analyzer/scan/judge/context.h"

namespace reprobe::scan {

/// The events of a loop's body and condition, in source order.
std::vector<const Event*> body_of(const Function&, const Event& iterate);

struct OrderEffect {
  const Event* event = nullptr; // what depends on the order
  std::string what;             // "appends to `paths`"
  std::string container_id;     // of the sequence that is filled, empty for others
  const Value* container = nullptr;
};

/// What in the body depends on the order in which elements come; empty when nothing does.
std::vector<OrderEffect> order_effects(const Context&, FunctionRef, const Event& iterate);
/// The same of a function that is run for each element.
std::vector<OrderEffect> order_effects(const Context&, FunctionRef body);

bool is_sequence(const std::string& type); // std::vector, std::string, std::queue …

/// Whether the container is sorted later: in the same function, where it is handed on, or where it is
/// returned to.
bool is_sorted_later(const Context&, FunctionRef, const OrderEffect&, int depth = 0);

} // namespace reprobe::scan
