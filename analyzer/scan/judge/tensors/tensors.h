// What is known of a tensor at a call without running the program: gradient, dtype, device, repeated indices.
#pragma once

#include "analyzer/scan/flow/project.h"
#include "analyzer/scan/flow/values.h"

#include <cstdint>

namespace reprobe::scan {

struct TensorTraits {
  enum class Gradient : std::uint8_t { none, unknown, required } gradient = Gradient::unknown;
  /// `as_before`: while traits are computed, what an assignment like `x = x.view(…)` leaves as it was.
  enum class Data : std::uint8_t { unknown, integer, floating, as_before } data = Data::unknown;
  enum class Device : std::uint8_t { unknown, cpu, cuda, as_before } device = Device::unknown;
};

/// `used_by`: the event whose argument or object it is.
TensorTraits traits_of(const Codebase&, FunctionRef, const Value&, std::uint32_t used_by);

/// Whether the indices are known to be all different (a permutation, arange, nonzero …).
bool has_unique_indices(const Codebase&, FunctionRef, const Value&);
/// Whether the index has one entry along this dimension (`x.unsqueeze(dim)`, `x.view({-1, 1})`), so that no
/// two of its entries meet in a row. `used_by`: the event whose argument it is.
bool has_one_index_a_row(const Codebase&, FunctionRef, const Value& index, std::uint32_t used_by,
                         std::int64_t dimension);
/// Whether they are known to repeat, or to be computed in a way that repeats (randint, clamp, remainder …).
bool has_repeated_indices(const Codebase&, FunctionRef, const Value&);
/// Whether it is a view whose elements share addresses: expanded, and not copied since.
bool is_expanded(const Codebase&, FunctionRef, const Value&);
/// Whether one of the names (without namespace) occurs in what the value is made of.
bool mentions(const Codebase&, FunctionRef, const Value&, const std::vector<std::string>& names);

} // namespace reprobe::scan
