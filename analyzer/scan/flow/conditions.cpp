#include "analyzer/scan/flow/conditions.h"

#include "analyzer/scan/flow/project.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

namespace reprobe::scan {
namespace {

constexpr std::size_t kLongestSymbol = 400;
constexpr int kDeepest = 12;

// Unique text for an expression; empty when two evaluations need not agree.
std::string symbol_of(const Function& function, const Value& value, const Constants& constants, int depth) {
  if (depth > kDeepest)
    return {};
  switch (value.kind) {
  case Value::Kind::integer:
  case Value::Kind::boolean:
  case Value::Kind::enumerator:
    return std::to_string(value.integer);
  case Value::Kind::floating:
    return std::to_string(value.floating);
  case Value::Kind::string:
    return '"' + value.text + '"';
  case Value::Kind::null:
    return "null";
  case Value::Kind::function:
    return value.id.empty() ? value.text : value.id;
  case Value::Kind::variable: {
    if (const auto known = constants.find(value.id); known != constants.end())
      return std::to_string(known->second);
    std::string symbol = "<" + (value.id.empty() ? value.text : value.id) + ">";
    for (const Value& object : value.operands) {
      const std::string of = symbol_of(function, object, constants, depth + 1);
      if (of.empty())
        return {};
      if (of != "<this>")
        symbol += "@" + of;
    }
    return symbol;
  }
  case Value::Kind::compound: {
    std::string symbol = "(" + value.text;
    if (value.text == "++" || value.text == "--")
      return {};
    for (const Value& operand : value.operands) {
      const std::string part = symbol_of(function, operand, constants, depth + 1);
      if (part.empty())
        return {};
      symbol += " " + part;
    }
    return symbol.size() < kLongestSymbol ? symbol + ")" : std::string();
  }
  case Value::Kind::call: {
    const Event* event = event_of(function, value.event);
    if (!event)
      return {};
    std::string symbol = event->callee + "(";
    if (event->receiver) {
      const std::string object = symbol_of(function, *event->receiver, constants, depth + 1);
      if (object.empty())
        return {};
      symbol += object;
    }
    for (const Value& argument : event->arguments) {
      const std::string part = symbol_of(function, argument, constants, depth + 1);
      if (part.empty())
        return {};
      symbol += "," + part;
    }
    // A call without any argument may answer anew each time: `rand()`, `next()`.
    if (!event->receiver && event->arguments.empty() &&
        event->callee.find("::is_available") == std::string::npos)
      return {};
    return symbol.size() < kLongestSymbol ? symbol + ")" : std::string();
  }
  default:
    return {};
  }
}

bool is_constant(const Value& value) {
  return value.kind == Value::Kind::boolean || value.kind == Value::Kind::integer ||
         value.kind == Value::Kind::enumerator;
}

Truth named(std::string symbol) {
  return symbol.empty() ? Truth::unknown() : Truth{Truth::Kind::symbol, std::move(symbol), false};
}

Truth truth_at(const Function& function, const Value& value, const Constants& constants, int depth);

Truth comparison(const Function& function, const Value& value, const Constants& constants, int depth) {
  const Value &left = value.operands[0], &right = value.operands[1];
  const bool equal = value.text == "==" || value.text == "!=";
  const bool negated = value.text == "!=" || value.text == ">=" || value.text == "<=";
  const auto integer = [&](const Value& side) -> std::optional<std::int64_t> {
    if (is_constant(side))
      return side.integer;
    const auto known = constants.find(side.id);
    if (side.kind != Value::Kind::variable || known == constants.end())
      return std::nullopt;
    return known->second;
  };
  const auto a = integer(left), b = integer(right);
  if (a && b) {
    const bool less = value.text == "<" || value.text == ">=" ? *a < *b : *b < *a;
    return Truth::of((equal ? *a == *b : less) != negated);
  }
  // `flag == false` speaks of `flag`.
  if (equal && b && (*b == 0 || right.kind == Value::Kind::boolean) && depth < kDeepest) {
    const Truth of_left = truth_at(function, left, constants, depth + 1);
    return (*b == 0) != negated ? !of_left : of_left;
  }
  const std::string l = symbol_of(function, left, constants, depth + 1),
                    r = symbol_of(function, right, constants, depth + 1);
  if (l.empty() || r.empty())
    return Truth::unknown();
  const bool swap = value.text == ">" || value.text == "<=" || (equal && r < l);
  Truth truth = named((equal ? "(== " : "(< ") + (swap ? r + " " + l : l + " " + r) + ")");
  return negated ? !truth : truth;
}

Truth truth_at(const Function& function, const Value& value, const Constants& constants, int depth) {
  if (depth > kDeepest)
    return Truth::unknown();
  if (is_constant(value))
    return Truth::of(value.integer != 0);
  if (value.kind == Value::Kind::null)
    return Truth::of(false);
  if (value.kind == Value::Kind::variable)
    if (const auto known = constants.find(value.id); known != constants.end())
      return Truth::of(known->second != 0);
  if (value.kind == Value::Kind::compound) {
    if (value.text == "!" && value.operands.size() == 1)
      return !truth_at(function, value.operands[0], constants, depth + 1);
    if ((value.text == "cast" || value.text == "{}") && value.operands.size() == 1)
      return truth_at(function, value.operands[0], constants, depth + 1);
    static const std::string comparisons[] = {"==", "!=", "<", ">", "<=", ">="};
    if (value.operands.size() == 2 &&
        std::find(std::begin(comparisons), std::end(comparisons), value.text) != std::end(comparisons))
      return comparison(function, value, constants, depth);
  }
  return named(symbol_of(function, value, constants, depth));
}

} // namespace

Truth Truth::operator!() const {
  Truth out = *this;
  if (kind == Kind::yes)
    out.kind = Kind::no;
  else if (kind == Kind::no || kind == Kind::unset)
    out.kind = Kind::yes;
  else if (kind == Kind::symbol)
    out.negated = !negated;
  return out;
}

bool Truth::operator<(const Truth& other) const {
  return std::tie(kind, symbol, negated) < std::tie(other.kind, other.symbol, other.negated);
}

Truth truth_of(const Function& function, const Value& value, const Constants& constants) {
  return truth_at(function, value, constants, 0);
}

Truth under(const Truth& truth, const Assumptions& assumptions) {
  if (truth.kind != Truth::Kind::symbol)
    return truth;
  const auto known = assumptions.find(truth.symbol);
  return known == assumptions.end() ? truth : Truth::of(known->second != truth.negated);
}

bool assume(Assumptions& assumptions, const Truth& truth, bool value) {
  const Truth now = under(truth, assumptions);
  if (now.kind == Truth::Kind::yes)
    return value;
  if (now.kind == Truth::Kind::no)
    return !value;
  if (now.kind == Truth::Kind::symbol)
    assumptions[now.symbol] = value != now.negated;
  return true;
}

void forget(Assumptions& assumptions, const std::string& variable_id) {
  if (variable_id.empty())
    return;
  const std::string part = "<" + variable_id + ">";
  std::erase_if(assumptions,
                [&](const auto& assumption) { return assumption.first.find(part) != std::string::npos; });
}

} // namespace reprobe::scan
