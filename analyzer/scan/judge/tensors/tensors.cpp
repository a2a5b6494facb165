#include "analyzer/scan/judge/tensors/tensors.h"

#include "analyzer/scan/flow/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace reprobe::scan {
namespace {

using Names = std::set<std::string, std::less<>>;
using Gradient = TensorTraits::Gradient;
using Data = TensorTraits::Data;
using Device = TensorTraits::Device;

const Names kFactories = {"zeros",         "ones",        "full",         "empty",        "rand",
                          "randn",         "randint",     "randperm",     "arange",       "linspace",
                          "logspace",      "eye",         "tensor",       "from_blob",    "range",
                          "scalar_tensor", "hann_window", "tril_indices", "triu_indices", "sparse_coo_tensor",
                          "normal",        "meshgrid"};
const Names kLikeFactories = {"zeros_like", "ones_like",  "full_like",    "empty_like",
                              "rand_like",  "randn_like", "randint_like", "new_zeros",
                              "new_ones",   "new_full",   "new_empty",    "new_tensor"};
const Names kIndexResults = {"argmax",       "argmin",    "argsort",     "nonzero",
                             "searchsorted", "bucketize", "multinomial", "unique_dim"};
const Names kBooleanResults = {"gt",         "lt",         "ge",          "le",         "eq",
                               "ne",         "operator>",  "operator<",   "operator>=", "operator<=",
                               "operator==", "operator!=", "logical_and", "logical_or", "logical_not",
                               "isnan",      "isinf",      "isfinite",    "any",        "all",
                               "equal",      "operator!",  "greater",     "less",       "greater_equal",
                               "less_equal"};
const Names kIntegerDtypes = {"kInt",  "kInt8", "kInt16", "kInt32", "kInt64",  "kLong",   "kShort",
                              "kChar", "kByte", "kBool",  "kUInt8", "kUInt16", "kUInt32", "Int",
                              "Long",  "Short", "Char",   "Byte",   "Bool"};
const Names kFloatingDtypes = {"kFloat",   "kDouble", "kHalf",  "kBFloat16", "kFloat32", "kFloat64",
                               "kFloat16", "Float",   "Double", "Half",      "BFloat16"};
const Names kDetaching = {"detach", "detach_", "data", "variable_data", "tensor_data"};
const Names kUnique = {"arange", "randperm", "nonzero",  "argsort",      "topk",
                       "unique", "_unique",  "_unique2", "unique_dim",   "unique_consecutive",
                       "sort",   "where",    "linspace", "tril_indices", "triu_indices"};
const Names kRepeating = {"randint",   "zeros",        "zeros_like", "remainder",
                          "fmod",      "floor_divide", "clamp",      "clamp_",
                          "clamp_min", "clamp_max",    "bucketize",  "searchsorted",
                          "argmax",    "argmin",       "repeat",     "repeat_interleave",
                          "operator%", "remainder_",   "floor",      "floor_",
                          "round",     "hash"};
const Names kTransparent = {
    "to",      "contiguous", "view",       "reshape",   "slice",   "narrow", "cuda",  "cpu",      "detach",
    "clone",   "squeeze",    "unsqueeze",  "flatten",   "get",     "toType", "type",  "expand",   "expand_as",
    "select",  "operator[]", "index",      "transpose", "permute", "t",      "value", "move",     "forward",
    "view_as", "operator()", "unsqueeze_", "squeeze_",  "long_",   "flip",   "Slice", "operator="};

constexpr std::size_t kMostSteps = 20000; // of one question: values that depend on each other in circles
constexpr std::uint32_t kAnywhere = ~0u;  // no event: all definitions of a variable count

bool is_tensor(const std::string& type) {
  return type.empty() || type.find("Tensor") != std::string::npos ||
         type.find("Variable") != std::string::npos;
}

// Names of dtypes, devices and options among the arguments of one call, chained options included.
struct Mentioned {
  bool integer = false, floating = false, cpu = false, cuda = false, device = false, gradient = false;
};

Mentioned mentioned_in(const Codebase& project, FunctionRef in, const Event& event, std::size_t first) {
  Mentioned found;
  for (std::size_t i = first; i < event.arguments.size(); ++i)
    walk(project, in, event.arguments[i], {.results = false, .chained = true, .deepest = 12},
         [&](const Visit& visit) {
           const Value& value = *visit.value;
           const std::string name = last_part(value.text);
           if (value.kind == Value::Kind::variable || value.kind == Value::Kind::enumerator) {
             found.integer |= kIntegerDtypes.contains(name);
             found.floating |= kFloatingDtypes.contains(name);
             found.cpu |= name == "kCPU" || name == "CPU";
             found.cuda |= name == "kCUDA" || name == "CUDA";
             found.device |= value.type.find("c10::Device") != std::string::npos;
           }
           if (value.kind == Value::Kind::string) {
             found.cpu |= value.text == "cpu";
             found.cuda |= value.text.rfind("cuda", 0) == 0;
           }
           if (visit.event && name == "requires_grad") {
             const auto& arguments = visit.event->arguments;
             found.gradient |=
                 arguments.empty() || arguments[0].kind != Value::Kind::boolean || arguments[0].integer != 0;
           }
           if (visit.event && (name == "device" || name == "options"))
             found.device = true;
           // Another tensor's data say nothing about the options.
           return !visit.event || !is_tensor(visit.event->result_type) ||
                  visit.event->result_type.find("Options") != std::string::npos;
         });
  return found;
}

// The definition that certainly holds at an event: the last one before it in its block.
const Event* last_definition(FunctionRef in, const std::string& id, std::uint32_t before) {
  const Event* last = nullptr;
  for (const Block& block : in.function->blocks) {
    if (std::find(block.events.begin(), block.events.end(), before) == block.events.end())
      continue;
    for (std::uint32_t index : block.events) {
      if (index == before)
        break;
      const Event& event = in.function->events[index];
      const bool assigns =
          (event.kind == Event::Kind::assign && event.text == "=") || is_object_assignment(event);
      if ((event.kind == Event::Kind::declare && event.variable_id == id) ||
          (assigns && event.receiver && event.receiver->id == id))
        last = &event;
    }
  }
  return last;
}

class Traits {
public:
  /// `before`: the event that uses the value.
  Traits(const Codebase& project, std::uint32_t before) : project_(project), before_(before) {}

  TensorTraits of(FunctionRef in, const Value& value, int depth) {
    if (depth > 24 || ++steps_ > kMostSteps)
      return {};
    switch (value.kind) {
    case Value::Kind::call: {
      const Event* event = event_of(*in.function, value.event);
      return event ? of_call(in, *event, depth) : TensorTraits{};
    }
    case Value::Kind::variable:
      return of_variable(in, value, depth);
    case Value::Kind::compound:
      return of_compound(in, value, depth);
    case Value::Kind::integer:
    case Value::Kind::boolean:
      return {Gradient::none, Data::integer, Device::unknown};
    case Value::Kind::floating:
      return {Gradient::none, Data::floating, Device::unknown};
    default:
      return {};
    }
  }

private:
  TensorTraits of_compound(FunctionRef in, const Value& value, int depth) {
    if (value.operands.empty())
      return {};
    std::vector<TensorTraits> parts;
    for (std::size_t i = value.text == "?:" && value.operands.size() == 3 ? 1 : 0; i < value.operands.size();
         ++i)
      parts.push_back(of(in, value.operands[i], depth + 1));
    return joined(parts);
  }

  TensorTraits of_factory(FunctionRef in, const Event& event, const std::string& name, bool like, int depth) {
    const Mentioned options = mentioned_in(project_, in, event, like && !event.receiver ? 1 : 0);
    TensorTraits traits;
    if (like) {
      const Value* original = event.receiver            ? &*event.receiver
                              : event.arguments.empty() ? nullptr
                                                        : &event.arguments[0];
      if (original)
        traits = of(in, *original, depth + 1);
    } else {
      traits = {Gradient::none, Data::floating, Device::cpu};
      if (name == "randint" || name == "randperm" || name == "tril_indices" || name == "triu_indices")
        traits.data = Data::integer;
      if (name == "arange" || name == "tensor" || name == "range" || name == "scalar_tensor" ||
          name == "full" || name == "from_blob")
        traits.data = literal_data(in, event);
      if (name == "from_blob")
        traits.data = Data::unknown;
    }
    traits.gradient = options.gradient ? Gradient::required : Gradient::none;
    apply(options, traits);
    return traits;
  }

  static void apply(const Mentioned& options, TensorTraits& traits) {
    if (options.integer)
      traits.data = Data::integer;
    if (options.floating)
      traits.data = Data::floating;
    if (options.cpu)
      traits.device = Device::cpu;
    else if (options.cuda)
      traits.device = Device::cuda;
    else if (options.device)
      traits.device = Device::unknown;
  }

  Data literal_data(FunctionRef in, const Event& event) {
    bool integer = false, other = false;
    for (const Value& argument : event.arguments) {
      if (argument.type.find("TensorOptions") != std::string::npos)
        continue;
      walk(project_, in, argument, {.variables = false, .calls = false, .results = false},
           [&](const Visit& visit) {
             const Value& value = *visit.value;
             if (value.kind == Value::Kind::integer)
               integer = true;
             else if (value.kind != Value::Kind::compound && !is_integer_type(value.type))
               other = true;
             return value.kind == Value::Kind::compound;
           });
    }
    return integer && !other ? Data::integer : Data::unknown;
  }

  TensorTraits of_call(FunctionRef in, const Event& event, int depth) {
    const std::string name = last_part(event.callee);
    const bool user = !event.external && event.resolved;
    if (event.kind == Event::Kind::construct && name == "Tensor" && event.arguments.empty())
      return {Gradient::none, Data::as_before, Device::as_before}; // `torch::Tensor x;`, to be assigned
    if (!user && kFactories.contains(name) && !event.receiver)
      return of_factory(in, event, name, false, depth);
    if (!user && kLikeFactories.contains(name))
      return of_factory(in, event, name, true, depth);
    if (kIndexResults.contains(name))
      return {Gradient::none, Data::integer, object(in, event, depth).device};
    if (kBooleanResults.contains(name))
      return {Gradient::none, Data::integer, object(in, event, depth).device};
    if (name == "bincount" && event.arguments.size() <= 1)
      return {Gradient::none, Data::integer, object(in, event, depth).device};
    if (kDetaching.contains(name)) {
      TensorTraits traits = object(in, event, depth);
      traits.gradient = Gradient::none;
      return traits;
    }
    if (name == "to" || name == "toType" || name == "type")
      return of_conversion(in, event, depth);
    if (name == "cpu" || name == "cuda") {
      TensorTraits traits = object(in, event, depth);
      traits.device = name == "cpu" ? Device::cpu : Device::cuda;
      return traits;
    }
    if (name == "register_parameter")
      return {Gradient::required, Data::floating, Device::unknown};
    if (name == "register_buffer") {
      TensorTraits traits =
          event.arguments.size() > 1 ? of(in, event.arguments[1], depth + 1) : TensorTraits{};
      return {Gradient::none, traits.data, Device::unknown};
    }
    if (name == "requires_grad_" || name == "set_requires_grad") {
      TensorTraits traits = object(in, event, depth);
      const bool off = !event.arguments.empty() && event.arguments[0].kind == Value::Kind::boolean &&
                       !event.arguments[0].integer;
      traits.gradient = off ? Gradient::none : Gradient::required;
      return traits;
    }
    if (is_module_call(event, name))
      return {Gradient::required, Data::floating, Device::unknown};
    if (name == "imread" || name == "Mat")
      return {Gradient::none, Data::unknown, Device::cpu};
    if (user)
      return of_user_call(in, event, depth);
    return of_operation(in, event, depth);
  }

  static bool is_module_call(const Event& event, const std::string& name) {
    if (!event.receiver || (name != "forward" && name != "operator()"))
      return false;
    return event.receiver->type.find("torch::nn::") != std::string::npos || event.resolved;
  }

  TensorTraits of_user_call(FunctionRef in, const Event& event, int depth) {
    const FunctionRef callee = project_.definition(event.callee_usr, *in.unit);
    if (!callee)
      return {};
    if (!active_calls_.insert(callee.function).second) {
      ++circles_;
      return {};
    }
    std::vector<TensorTraits> parts;
    const std::uint32_t before = std::exchange(before_, kAnywhere);
    for (const Value* returned : returned_values(*callee.function))
      parts.push_back(of(callee, *returned, depth + 1));
    before_ = before;
    active_calls_.erase(callee.function);
    return parts.empty() ? TensorTraits{} : joined(parts);
  }

  TensorTraits of_conversion(FunctionRef in, const Event& event, int depth) {
    TensorTraits traits = object(in, event, depth);
    const Mentioned options = mentioned_in(project_, in, event, 0);
    if (!options.integer && !options.floating)
      traits.device = Device::unknown; // `to(other)`: a device, or what only a run can tell
    apply(options, traits);
    return traits;
  }

  // An ordinary operation: needs a gradient when one of its tensors does; type and device are the first
  // one's.
  TensorTraits of_operation(FunctionRef in, const Event& event, int depth) {
    std::vector<TensorTraits> parts;
    if (event.receiver && is_tensor(event.receiver->type))
      parts.push_back(of(in, *event.receiver, depth + 1));
    for (const Value& argument : event.arguments)
      if (is_tensor(argument.type))
        parts.push_back(of(in, argument, depth + 1));
    if (parts.empty())
      return {};
    TensorTraits traits = joined(parts);
    traits.data = parts[0].data;
    traits.device = parts[0].device;
    return traits;
  }

  TensorTraits object(FunctionRef in, const Event& event, int depth) {
    if (event.receiver)
      return of(in, *event.receiver, depth + 1);
    return event.arguments.empty() ? TensorTraits{} : of(in, event.arguments[0], depth + 1);
  }

  TensorTraits of_variable(FunctionRef in, const Value& variable, int depth) {
    // What a data loader yields was never part of a graph.
    const bool of_example = variable.text.find("torch::data::Example::") == 0;
    if (of_example || variable.type.find("torch::data::Example") != std::string::npos)
      return {Gradient::none, Data::unknown, Device::unknown};
    if (is_integer_type(variable.type))
      return {Gradient::none, Data::integer, Device::cpu};
    if (is_filled_by_loader(*in.function, variable))
      return {Gradient::none, Data::unknown, Device::unknown};
    if (variable.id.empty())
      return {};
    const std::uint32_t before = before_;
    const std::pair key{variable.id, before};
    if (const auto known = known_.find(key); known != known_.end())
      return known->second;
    if (!active_.insert(key).second) {
      ++circles_;
      return {Gradient::none, Data::as_before,
              Device::as_before}; // adds nothing to what is found outside the circle
    }
    const std::size_t circles = circles_;
    std::vector<TensorTraits> parts;
    const Event* last = last_definition(in, variable.id, before);
    for (const Site& site : last ? std::vector<Site>{{in, last}} : project_.definitions(variable.id, in)) {
      if (site.event->kind == Event::Kind::assign && site.event->text != "=")
        continue;
      before_ = site.in.function == in.function ? site.event->id : kAnywhere;
      const bool makes = site.event->kind == Event::Kind::construct || site.event->kind == Event::Kind::call;
      if (makes && !is_object_assignment(*site.event))
        parts.push_back(of_call(site.in, *site.event, depth + 1));
      else
        for (const Value& argument : site.event->arguments)
          parts.push_back(of(site.in, argument, depth + 1));
    }
    before_ = before;
    if (!last)
      add_written_by_calls(in, variable.id, depth, parts);
    const int index = parameter_index(*in.function, variable.id);
    if (index >= 0 && !last)
      parts.push_back(of_parameter(in, index, depth));
    TensorTraits traits = parts.empty() ? TensorTraits{} : joined(parts);
    for (const Event& event : in.function->events)
      if (changes_in_place(event) && event.receiver->id == variable.id)
        traits.gradient = std::max(traits.gradient, of_arguments(in, event, depth).gradient);
    active_.erase(key);
    if (circles_ == circles) // else it counts only together with what it depends on
      known_.emplace(key, traits);
    return traits;
  }

  // `std::tie(x, y) = f();`, and functions of the project's own that take `x` by reference.
  void add_written_by_calls(FunctionRef in, const std::string& id, int depth,
                            std::vector<TensorTraits>& parts) {
    const auto is_it = [&](const Value& value) {
      return value.kind == Value::Kind::variable && value.id == id;
    };
    for (const Event& event : in.function->events) {
      if (event.kind != Event::Kind::call)
        continue;
      if (const Event* tie = tie_assigned_by(*in.function, event);
          tie && event.arguments.size() == 1 &&
          std::any_of(tie->arguments.begin(), tie->arguments.end(), is_it))
        parts.push_back(of(in, event.arguments[0], depth + 1));
      if (std::none_of(event.arguments.begin(), event.arguments.end(), is_it))
        continue;
      const FunctionRef callee = project_.definition(event.callee_usr, *in.unit);
      for (std::size_t i = 0;
           callee && i < std::min(event.arguments.size(), callee.function->parameters.size()); ++i)
        if (is_it(event.arguments[i]) && callee.function->parameters[i].reference &&
            callee.function->parameters[i].type.find("const") == std::string::npos)
          parts.push_back({});
    }
  }

  // `while (loader(batch))`, with a loader of the project's own and a batch of several tensors.
  static bool is_filled_by_loader(const Function& function, const Value& variable) {
    const std::string& type = variable.type;
    const bool batch = type.find("Tensor") != std::string::npos &&
                       (type.starts_with("std::tuple<") || type.starts_with("std::pair<") ||
                        type.starts_with("std::vector<"));
    return batch && std::any_of(function.events.begin(), function.events.end(), [&](const Event& event) {
             const std::string loader = event.receiver ? plain_name(event.receiver->type) : std::string();
             return event.kind == Event::Kind::call && // DataLoader, loaders::ImageFolder
                    (loader.find("Loader") != std::string::npos ||
                     loader.find("loader") != std::string::npos) &&
                    std::any_of(event.arguments.begin(), event.arguments.end(), [&](const Value& argument) {
                      return argument.kind == Value::Kind::variable && argument.id == variable.id;
                    });
           });
  }

  // `x.index_add_(0, i, y)` and `x += y`: from then on x needs a gradient where y does.
  static bool changes_in_place(const Event& event) {
    if (event.kind != Event::Kind::call || !event.receiver || event.receiver->kind != Value::Kind::variable ||
        !is_tensor(event.receiver->type))
      return false;
    const std::string name = last_part(event.callee);
    return changes_its_object(name) && name != "requires_grad_" && name != "detach_";
  }

  TensorTraits of_arguments(FunctionRef in, const Event& event, int depth) {
    std::vector<TensorTraits> parts;
    for (const Value& argument : event.arguments)
      if (is_tensor(argument.type))
        parts.push_back(of(in, argument, depth + 1));
    return parts.empty() ? TensorTraits{Gradient::none, Data::unknown, Device::unknown} : joined(parts);
  }

  TensorTraits of_parameter(FunctionRef in, int index, int depth) {
    std::vector<TensorTraits> parts;
    const std::uint32_t before = before_;
    for (const Site& call : project_.callers(in.function))
      if (static_cast<std::size_t>(index) < call.event->arguments.size()) {
        before_ = call.event->id;
        parts.push_back(of(call.in, call.event->arguments[index], depth + 1));
      }
    before_ = before;
    return parts.empty() ? TensorTraits{} : joined(parts);
  }

  static TensorTraits joined(const std::vector<TensorTraits>& parts) {
    TensorTraits out = parts[0];
    for (const TensorTraits& part : parts) {
      out.gradient = std::max(out.gradient, part.gradient);
      out.data = joined(out.data, part.data, Data::as_before, Data::unknown);
      out.device = joined(out.device, part.device, Device::as_before, Device::unknown);
    }
    return out;
  }

  template <class T>
  static T joined(T a, T b, T as_before, T unknown) {
    if (a == as_before)
      return b;
    return b == as_before || a == b ? a : unknown;
  }

  const Codebase& project_;
  std::uint32_t before_; // the event at which a variable is looked at
  std::set<std::pair<std::string, std::uint32_t>> active_;
  std::map<std::pair<std::string, std::uint32_t>, TensorTraits> known_;
  std::size_t steps_ = 0, circles_ = 0;
  std::set<const Function*> active_calls_;
};

// Follows what only reshapes or moves the indices back to the calls that made them.
void index_makers(const Codebase& project, FunctionRef in, const Value& value, std::set<std::string>& seen,
                  std::vector<const Event*>& makers, bool& unknown, int depth = 0) {
  if (depth > 24)
    return void(unknown = true);
  if (value.kind == Value::Kind::call) {
    const Event* event = event_of(*in.function, value.event);
    if (!event)
      return void(unknown = true);
    const std::string name = last_part(event->callee);
    const Value* object = event->receiver            ? &*event->receiver
                          : event->arguments.empty() ? nullptr
                                                     : &event->arguments[0];
    if (kTransparent.contains(name) && object)
      return index_makers(project, in, *object, seen, makers, unknown, depth + 1);
    makers.push_back(event);
    return;
  }
  if (value.kind == Value::Kind::compound && !value.operands.empty()) {
    for (const Value& operand : value.operands)
      if (operand.kind != Value::Kind::integer)
        index_makers(project, in, operand, seen, makers, unknown, depth + 1);
    return;
  }
  if (value.kind != Value::Kind::variable || value.id.empty())
    return void(unknown = true);
  if (!seen.insert(value.id).second)
    return;
  const std::vector<Site> definitions = project.definitions(value.id, in);
  if (definitions.empty() || parameter_index(*in.function, value.id) >= 0)
    unknown = true;
  for (const Site& site : definitions) {
    const bool makes = site.event->kind == Event::Kind::call || site.event->kind == Event::Kind::construct;
    if (makes && !is_object_assignment(*site.event)) {
      makers.push_back(site.event);
      continue;
    }
    for (const Value& argument : site.event->arguments)
      index_makers(project, site.in, argument, seen, makers, unknown, depth + 1);
  }
}

// Whether an index tensor has one entry along a dimension.
class OneIndexARow {
public:
  OneIndexARow(const Codebase& project, std::int64_t dimension) : project_(project), dimension_(dimension) {}

  /// `before`: the event that uses the value.
  bool holds(FunctionRef in, const Value& value, std::uint32_t before) {
    if (value.kind == Value::Kind::call) {
      const Event* event = event_of(*in.function, value.event);
      return event && is_made_by(in, *event);
    }
    if (value.kind != Value::Kind::variable || value.id.empty() || !seen_.insert({value.id, before}).second)
      return false;
    if (const Event* last = last_definition(in, value.id, before))
      return is_defined_by({in, last});
    bool any = false, all = true;
    for (const Site& site : project_.definitions(value.id, in))
      any = true, all &= is_defined_by(site);
    if (const int parameter = parameter_index(*in.function, value.id); parameter >= 0)
      for (const Site& call : project_.callers(in.function))
        if (static_cast<std::size_t>(parameter) < call.event->arguments.size())
          any = true, all &= holds(call.in, call.event->arguments[parameter], call.event->id);
    return any && all;
  }

private:
  bool is_defined_by(const Site& site) {
    const bool makes = site.event->kind == Event::Kind::call && !is_object_assignment(*site.event);
    if (makes)
      return is_made_by(site.in, *site.event);
    return !site.event->arguments.empty() && holds(site.in, site.event->arguments[0], site.event->id);
  }

  bool is_made_by(FunctionRef in, const Event& event) {
    static const Names copies = {"to",         "cuda",  "cpu",    "toType",    "type",
                                 "contiguous", "clone", "detach", "operator=", "move"};
    const std::string name = last_part(event.callee);
    const std::size_t first = event.receiver ? 0 : 1; // of the arguments after the tensor
    if (name == "unsqueeze" || name == "unsqueeze_")
      return constant_at(in, event, first) == dimension_;
    if (name == "argmax" || name == "argmin" || name == "narrow") // with keepdim, or of length one
      return constant_at(in, event, first) == dimension_ &&
             constant_at(in, event, first + (name == "narrow" ? 2 : 1)) == 1;
    if (name == "multinomial")
      return is_last() && constant_at(in, event, first) == 1;
    if (name == "view" || name == "reshape")
      return is_last() && sizes_end_in_one(in, event);
    if (name == "index")
      return dimension_ == -1 && slices_to_one(in, event);
    const Value* object = event.receiver            ? &*event.receiver
                          : event.arguments.empty() ? nullptr
                                                    : &event.arguments[0];
    return copies.contains(name) && object && holds(in, *object, event.id);
  }

  bool is_last() const { return dimension_ == 1 || dimension_ == -1; } // of two dimensions

  std::optional<std::int64_t> constant_at(FunctionRef in, const Event& event, std::size_t index) const {
    return index < event.arguments.size() ? constant_integer(project_, in, event.arguments[index])
                                          : std::nullopt;
  }

  // `view({n, 1})`
  bool sizes_end_in_one(FunctionRef in, const Event& event) const {
    std::vector<std::int64_t> sizes;
    for (const Value& argument : event.arguments)
      walk(project_, in, argument, {.variables = false, .results = false, .deepest = 4},
           [&](const Visit& visit) {
             const bool number = visit.value->kind == Value::Kind::integer;
             if (number || visit.value->kind == Value::Kind::variable)
               sizes.push_back(number ? visit.value->integer : -1);
             return true;
           });
    return sizes.size() == 2 && sizes[1] == 1;
  }

  // `index({"...", Slice(None, 1)})`
  bool slices_to_one(FunctionRef in, const Event& event) const {
    const Event* slice = nullptr;
    for (const Value& argument : event.arguments)
      walk(project_, in, argument, {.variables = false, .results = false, .deepest = 8},
           [&](const Visit& visit) {
             if (visit.event && visit.event->kind == Event::Kind::construct &&
                 plain_name(visit.event->result_type).find("Slice") != std::string::npos &&
                 visit.event->arguments.size() > 1)
               slice = visit.event;
             return true;
           });
    if (!slice)
      return false;
    const auto end = constant_integer(project_, in, slice->arguments[1]);
    const auto begin = constant_integer(project_, in, slice->arguments[0]);
    return end == 1 && (!begin || *begin == 0);
  }

  const Codebase& project_;
  std::int64_t dimension_;
  std::set<std::pair<std::string, std::uint32_t>> seen_;
};

} // namespace

TensorTraits traits_of(const Codebase& project, FunctionRef in, const Value& value, std::uint32_t used_by) {
  TensorTraits traits = Traits(project, used_by).of(in, value, 0);
  if (traits.data == TensorTraits::Data::as_before)
    traits.data = TensorTraits::Data::unknown;
  if (traits.device == TensorTraits::Device::as_before)
    traits.device = TensorTraits::Device::unknown;
  return traits;
}

bool has_unique_indices(const Codebase& project, FunctionRef in, const Value& value) {
  std::vector<const Event*> makers;
  std::set<std::string> seen;
  bool unknown = false;
  index_makers(project, in, value, seen, makers, unknown);
  return !unknown && !makers.empty() && std::all_of(makers.begin(), makers.end(), [](const Event* e) {
    return kUnique.contains(last_part(e->callee));
  });
}

bool has_one_index_a_row(const Codebase& project, FunctionRef in, const Value& index, std::uint32_t used_by,
                         std::int64_t dimension) {
  return OneIndexARow(project, dimension).holds(in, index, used_by);
}

bool has_repeated_indices(const Codebase& project, FunctionRef in, const Value& value) {
  std::vector<const Event*> makers;
  std::set<std::string> seen;
  bool unknown = false;
  index_makers(project, in, value, seen, makers, unknown);
  return std::any_of(makers.begin(), makers.end(),
                     [](const Event* e) { return kRepeating.contains(last_part(e->callee)); });
}

bool is_expanded(const Codebase& project, FunctionRef in, const Value& value) {
  static const Names expanding = {"expand", "expand_as", "broadcast_to"};
  static const Names views = {"view",    "select", "slice",  "narrow",  "transpose",
                              "permute", "t",      "detach", "squeeze", "unsqueeze"};
  bool expanded = false;
  walk(project, in, value, {.results = false, .deepest = 8}, [&](const Visit& visit) {
    if (!visit.event)
      return visit.value->kind == Value::Kind::variable;
    const std::string name = last_part(visit.event->callee);
    expanded |= expanding.contains(name) && visit.event->receiver.has_value();
    return views.contains(name);
  });
  return expanded;
}

bool mentions(const Codebase& project, FunctionRef in, const Value& value,
              const std::vector<std::string>& names) {
  bool found = false;
  walk(project, in, value, {.parameters = true, .results = false, .chained = true, .deepest = 16},
       [&](const Visit& visit) {
         const Value& v = *visit.value;
         if (plain_name(v.type) == "at::Tensor")
           return false; // how a tensor was made says nothing about this call's options
         for (const std::string& full : names) {
           const std::string name = last_part(full);
           const bool named = v.kind == Value::Kind::variable || v.kind == Value::Kind::enumerator;
           if (named && (last_part(v.text) == name || v.type.find("enumtype::" + name) != std::string::npos))
             found = true;
           if (v.kind == Value::Kind::string && v.text == full)
             found = true;
         }
         return !found;
       });
  return found;
}

} // namespace reprobe::scan
