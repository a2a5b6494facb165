#include "analyzer/scan/judge/call_conditions.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/tensors/tensors.h"
#include "rules/error.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool is_module(const OperatorCall& call) {
  return call.site.event->kind == Event::Kind::construct;
}

bool argument_names(const Context& context, const OperatorCall& call, const json& condition) {
  std::vector<std::string> names = condition.at("any").get<std::vector<std::string>>();
  for (const json& text : condition.value("strings", json::array()))
    names.push_back(text.get<std::string>());
  return std::any_of(
      call.site.event->arguments.begin(), call.site.event->arguments.end(),
      [&](const Value& argument) { return mentions(context.project, call.site.in, argument, names); });
}

bool string_argument(const Context& context, const OperatorCall& call, const json& condition) {
  bool found = false;
  for (const Value& argument : call.site.event->arguments) {
    if (argument.type.find("Tensor") != std::string::npos)
      continue;
    walk(context.project, call.site.in, argument, {.parameters = true}, [&](const Visit& visit) {
      for (const json& text : condition.at("any"))
        found |= visit.value->kind == Value::Kind::string && visit.value->text == text.get<std::string>();
      return !found;
    });
  }
  return found;
}

bool boolean_argument(const Context& context, const OperatorCall& call, const json& condition) {
  const Value* argument = argument_of(call, condition.at("index").get<std::size_t>());
  if (!argument)
    return false; // left out: the default is false, and no row asks for that
  const auto value = constant_integer(context.project, call.site.in, *argument);
  return value && (*value != 0) == condition.at("value").get<bool>();
}

bool weights_given(const Context&, const OperatorCall& call, const json&) {
  const Value* weights = argument_of(call, 0);
  if (!weights || weights->kind == Value::Kind::null || weights->kind == Value::Kind::integer)
    return false;
  const bool empty = weights->kind == Value::Kind::compound && weights->operands.empty();
  return !empty && weights->source != "{}" && weights->source.find("nullopt") == std::string::npos;
}

bool output_size_one(const Context& context, const OperatorCall& call, const json&) {
  const std::vector<Value>& arguments = call.site.event->arguments;
  if (arguments.empty())
    return false;
  bool ones = false, other = false;
  walk(context.project, call.site.in, arguments.back(), {.results = false}, [&](const Visit& visit) {
    const Value& value = *visit.value;
    if (value.kind == Value::Kind::integer)
      (value.integer == 1 ? ones : other) = true;
    else if (value.kind == Value::Kind::unknown || value.kind == Value::Kind::null)
      other = true;
    else if (value.kind == Value::Kind::variable && context.project.definitions(value.id, visit.in).empty())
      other = true;
    return !other;
  });
  return ones && !other;
}

bool windows_apart(const Context& context, const OperatorCall& call, const json&) {
  std::optional<std::int64_t> window, stride;
  bool has_stride = false;
  for (const Value& argument : call.site.event->arguments)
    walk(context.project, call.site.in, argument, {.results = false, .chained = true},
         [&](const Visit& visit) {
           if (!visit.event) {
             if (visit.value->kind == Value::Kind::integer && !window)
               window = visit.value->integer;
             return true;
           }
           if (last_part(visit.event->callee) == "stride" && !visit.event->arguments.empty()) {
             has_stride = true;
             stride = constant_integer(context.project, visit.in, visit.event->arguments[0]);
             if (visit.event->receiver)
               walk(context.project, visit.in, *visit.event->receiver, {}, [&](const Visit& inner) {
                 if (inner.value->kind == Value::Kind::integer && !window)
                   window = inner.value->integer;
                 return !window;
               });
             return false;
           }
           return true;
         });
  if (!is_module(call) && call.site.event->arguments.size() > 1)
    return false; // positional: not looked into
  return !has_stride || (window && stride && *stride >= *window);
}

bool sparse_argument(const Context& context, const OperatorCall& call, const json&) {
  bool found = false;
  const auto look = [&](const Value& value) {
    walk(context.project, call.site.in, value, {}, [&](const Visit& visit) {
      const std::string name = visit.event ? last_part(visit.event->callee) : std::string();
      found |= name.find("to_sparse") != std::string::npos || name.find("sparse_coo") != std::string::npos ||
               name.find("sparse_csr") != std::string::npos;
      return !found && name != "to_dense";
    });
  };
  if (call.site.event->receiver)
    look(*call.site.event->receiver);
  for (const Value& argument : call.site.event->arguments)
    look(argument);
  return found;
}

bool tensor_value(const Context&, const OperatorCall& call, const json& condition) {
  const Value* value = argument_of(call, condition.at("argument").get<std::size_t>());
  if (!value)
    return false;
  const bool number = value->kind == Value::Kind::integer || value->kind == Value::Kind::floating ||
                      value->kind == Value::Kind::boolean || is_integer_type(value->type) ||
                      is_floating_type(value->type);
  return !number && value->type.find("Scalar") == std::string::npos;
}

bool repeated_indices(const Context& context, const OperatorCall& call, const json& condition) {
  const Value* indices = argument_of(call, condition.at("argument").get<std::size_t>());
  return indices && has_repeated_indices(context.project, call.site.in, *indices);
}

bool one_index_a_row(const Context& context, const OperatorCall& call, const json& condition) {
  const Value *dimension = argument_of(call, condition.at("dimension").get<std::size_t>()),
              *index = argument_of(call, condition.at("argument").get<std::size_t>());
  const auto along = dimension ? constant_integer(context.project, call.site.in, *dimension) : std::nullopt;
  return along && index &&
         has_one_index_a_row(context.project, call.site.in, *index, call.site.event->id, *along);
}

bool unique_indices(const Context& context, const OperatorCall& call, const json& condition) {
  const Value* indices = argument_of(call, condition.at("argument").get<std::size_t>());
  return indices && has_unique_indices(context.project, call.site.in, *indices);
}

bool result_is_tuple(const Context&, const OperatorCall& call, const json&) {
  const Event& event = *call.site.event;
  if (!event.result_type.empty())
    return event.result_type.find("tuple") != std::string::npos;
  return argument_of(call, 0) != nullptr;
}

bool half_precision(const Context& context, const OperatorCall& call, const json&) {
  return context.evidence.may_be_half(call.site.in.function);
}

bool dense_prediction(const Context& context, const OperatorCall& call, const json&) {
  return context.evidence.predicts_images(call.site.in.function);
}

bool overlapping_memory(const Context& context, const OperatorCall& call, const json&) {
  const Value* tensor = first_tensor(call);
  return tensor && is_expanded(context.project, call.site.in, *tensor);
}

using Test = bool (*)(const Context&, const OperatorCall&, const json&);
const std::map<std::string, Test, std::less<>> kTests = {{"argument-names", argument_names},
                                                         {"string-argument", string_argument},
                                                         {"boolean-argument", boolean_argument},
                                                         {"weights-given", weights_given},
                                                         {"result-is-tuple", result_is_tuple},
                                                         {"output-size-one", output_size_one},
                                                         {"windows-apart", windows_apart},
                                                         {"unique-indices", unique_indices},
                                                         {"one-index-a-row", one_index_a_row},
                                                         {"repeated-indices", repeated_indices},
                                                         {"tensor-value", tensor_value},
                                                         {"sparse-argument", sparse_argument},
                                                         {"half-precision", half_precision},
                                                         {"dense-prediction", dense_prediction},
                                                         {"overlapping-memory", overlapping_memory}};

} // namespace

const Value* first_tensor(const OperatorCall& call) {
  const Event& event = *call.site.event;
  if (is_module(call))
    return nullptr;
  if (call.method)
    return event.receiver ? &*event.receiver : nullptr;
  return event.arguments.empty() ? nullptr : &event.arguments[0];
}

const Value* argument_of(const OperatorCall& call, std::size_t index) {
  const std::size_t at = index + (call.method || is_module(call) ? 0 : 1);
  return at < call.site.event->arguments.size() ? &call.site.event->arguments[at] : nullptr;
}

bool holds(const Context& context, const OperatorCall& call, const json& condition) {
  const std::string test = condition.at("test").get<std::string>();
  const auto found = kTests.find(test);
  if (found == kTests.end())
    throw Error("no such condition", "rules/tables/operators.yaml", "`" + test + "`",
                "see analyzer/scan/judge/call_conditions.h", 3);
  return found->second(context, call, condition);
}

} // namespace reprobe::scan
