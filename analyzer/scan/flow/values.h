// Where a value comes from: the variable at the root of an expression, and everything that flows into it.
#pragma once

#include "analyzer/scan/flow/project.h"

#include <functional>
#include <optional>

namespace reprobe::scan {

/// The variable that an expression speaks of: `v` in `v.begin()`, `&v[i]`, `*v`, `std::move(v)`; null when
/// there is none.
const Value* root_variable(const Function&, const Value&);

/// The value and, below it, all its operands.
void for_each_value(const Value&, const std::function<void(const Value&)>& visit);

/// Index of the parameter with this id, or -1.
int parameter_index(const Function&, const std::string& id);

/// One step of a walk: a value, and the function in which it stands.
struct Visit {
  FunctionRef in;
  const Value* value = nullptr;
  const Event* event = nullptr; // what a call or a variable's definition refers to
};

struct WalkOptions {
  bool variables = true;   // go on to what a variable was given
  bool parameters = false; // go on to the arguments of all callers
  bool calls = true;       // go on to the arguments and the object of a call
  bool results = true;     // go on to what a user function returns
  bool chained = false;    // also to the arguments of methods called on a variable (`options.mode(x)`)
  int deepest = 40;
};

/// Visits what flows into `value`, nearest first. `visit` returns false to go no further along that path.
void walk(const Codebase&, FunctionRef, const Value& value, const WalkOptions&,
          const std::function<bool(const Visit&)>& visit);

/// The values that a function returns, where the facts tell.
std::vector<const Value*> returned_values(const Function&);

/// The one constant that the value has; nothing when it has several or is not known.
std::optional<std::int64_t> constant_integer(const Codebase&, FunctionRef, const Value&);

} // namespace reprobe::scan
