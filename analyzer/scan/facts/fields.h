// Each struct of the facts lists its fields once; the writers and readers of both forms walk the same list.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <type_traits>

namespace reprobe::scan {

template <class Visitor>
void fields(Visitor& v, Value& x) {
  v("k", x.kind), v("t", x.text), v("id", x.id), v("ty", x.type), v("i", x.integer), v("f", x.floating);
  v("e", x.event), v("o", x.operands), v("s", x.source), v("at", x.at), v("len", x.length);
}

template <class Visitor>
void fields(Visitor& v, Event& x) {
  v("k", x.kind), v("id", x.id), v("at", x.range), v("n", x.name), v("c", x.callee), v("u", x.callee_usr);
  v("r", x.resolved), v("x", x.external), v("ta", x.template_arguments), v("rc", x.receiver);
  v("a", x.arguments), v("rt", x.result_type), v("ru", x.result_used), v("l", x.launch);
  v("cf", x.configuration), v("v", x.variable), v("vi", x.variable_id), v("t", x.text), v("m", x.macro);
}

template <class Visitor>
void fields(Visitor& v, Edge& x) {
  v("b", x.block), v("if", x.condition), v("w", x.when), v("l", x.label);
}

template <class Visitor>
void fields(Visitor& v, Block& x) {
  v("id", x.id), v("e", x.events), v("to", x.successors), v("lp", x.in_loop);
}

template <class Visitor>
void fields(Visitor& v, Parameter& x) {
  v("n", x.name), v("ty", x.type), v("id", x.id), v("ref", x.reference);
}

template <class Visitor>
void fields(Visitor& v, Function& x) {
  v("u", x.usr), v("n", x.name), v("at", x.range), v("p", x.parameters), v("rt", x.result_type);
  v("main", x.is_main), v("ctor", x.is_constructor), v("lambda", x.is_lambda), v("kernel", x.is_kernel);
  v("device", x.is_device), v("pattern", x.is_template_pattern), v("owner", x.owner);
  v("overrides", x.overrides), v("in", x.entry);
  v("out", x.exit), v("events", x.events), v("blocks", x.blocks);
}

template <class Visitor>
void fields(Visitor& v, Pragma& x) {
  v("at", x.where), v("t", x.text), v("s", x.statement);
}

template <class Visitor>
void fields(Visitor& v, SuppressionComment& x) {
  v("at", x.where), v("t", x.text);
}

template <class Visitor>
void fields(Visitor& v, SourceFile& x) {
  v("p", x.path), v("user", x.user), v("digest", x.digest);
}

template <class Visitor>
void fields(Visitor& v, TranslationUnit& x) {
  v("main_file", x.main_file), v("language", x.language), v("status", x.status), v("reason", x.reason);
  v("missing_headers", x.missing_headers), v("errors", x.errors), v("flags", x.flags);
  v("libtorch", x.libtorch_version), v("cuda", x.cuda_version), v("inferred_flags", x.inferred_flags);
  v("includes", x.includes), v("files", x.files), v("pragmas", x.pragmas);
  v("suppressions", x.suppressions), v("functions", x.functions);
}

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// The largest value of an enumeration.
template <class T>
constexpr int last_kind() {
  if constexpr (std::is_same_v<T, Value::Kind>)
    return static_cast<int>(Value::Kind::compound);
  else
    return static_cast<int>(Event::Kind::access);
}

/// Calls `change` with every place in `value` and all that it holds.
template <class Change>
class EachPosition {
public:
  explicit EachPosition(const Change& change) : change_(change) {}
  template <class T>
  void operator()(const char*, T& value) {
    visit(value);
  }
  template <class T>
  void visit(T& value) {
    if constexpr (std::is_same_v<T, Position>) {
      change_(value);
    } else if constexpr (std::is_same_v<T, Range>) {
      change_(value.begin), change_(value.end);
    } else if constexpr (IsOptional<T>::value) {
      if (value)
        visit(*value);
    } else if constexpr (IsVector<T>::value) {
      for (auto& each : value)
        visit(each);
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      fields(*this, value);
    }
  }

private:
  const Change& change_;
};

template <class T, class Change>
void for_each_position(T& value, const Change& change) {
  EachPosition<Change>(change).visit(value);
}

/// Indices come from outside: whoever walks the graph must be able to trust them. Empty when they are good.
std::string bad_index(const TranslationUnit&);

} // namespace reprobe::scan
