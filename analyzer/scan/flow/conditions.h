// Conditions of branches and values of switches, so that opposite branches are never taken for one path.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <map>
#include <string>

namespace reprobe::scan {

/// Three-valued, or a named condition whose value is not known: `deterministic`, `!deterministic`.
struct Truth {
  enum class Kind : std::uint8_t { unset, no, yes, symbol, unknown };
  Kind kind = Kind::unset;
  std::string symbol;
  bool negated = false;

  static Truth of(bool value) { return {value ? Kind::yes : Kind::no, {}, false}; }
  static Truth unknown() { return {Kind::unknown, {}, false}; }
  Truth operator!() const;
  bool operator==(const Truth&) const = default;
  bool operator<(const Truth&) const;
};

using Assumptions = std::map<std::string, bool>;

/// Values of local variables that are known on the path.
using Constants = std::map<std::string, std::int64_t>;

/// The truth of an expression; symbols are equal exactly when they must have the same value (as long as
/// nothing that they are made of is written to).
Truth truth_of(const Function&, const Value&, const Constants&);

/// What `truth` is under the assumptions: yes, no, or still open (a symbol, unknown).
Truth under(const Truth&, const Assumptions&);

/// Adds the assumption that `truth` has this value; false when it cannot have it.
bool assume(Assumptions&, const Truth&, bool value);

/// Forgets what depends on a variable that is written to.
void forget(Assumptions&, const std::string& variable_id);

} // namespace reprobe::scan
