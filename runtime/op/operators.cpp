// Which operators are measured: not those that only make views, and not those of the registry's table
// "replay".
#include "runtime/op/observer.h"

#include <algorithm>
#include <cstring>
#include <fnmatch.h>

namespace reprobe::op {
namespace {

bool matches(const std::string& glob, const std::string& name) {
  const auto plain = name.find("::");
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
         (glob.find("::") == std::string::npos && plain != std::string::npos &&
          ::fnmatch(glob.c_str(), name.c_str() + plain + 2, 0) == 0);
}

bool is_excluded(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return glob[0] == '!' && matches(glob.substr(1), name);
  });
}

/// Some result shares memory with an argument that is not written: a view (or, as of reshape, perhaps a copy,
/// which its children make).
bool makes_view(const c10::FunctionSchema& schema) {
  for (const auto& argument : schema.arguments())
    if (argument.alias_info() && argument.alias_info()->isWrite())
      return false;
  for (const auto& result : schema.returns())
    if (result.alias_info() && !result.alias_info()->isWrite())
      return true;
  return false;
}

Operator* describe(const c10::OperatorHandle& handle) {
  const auto& schema = handle.schema();
  auto* op = new Operator(handle);
  op->name = schema.name();
  op->overload = schema.overload_name();
  const auto& options = registry().options;
  op->framework = op->name.rfind("aten::", 0) == 0;
  op->selected = is_selected(options, op->name);
  op->excluded = is_excluded(options.selection, op->name);
  for (const auto& [glob, reason] : options.not_replayed) {
    if (!matches(glob, op->name))
      continue;
    op->measured = false;
    if (!op->framework)
      op->reason = reason; // LibTorch's own bookkeeping is nobody's concern
    break;
  }
  if (makes_view(schema))
    op->measured = false;
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].type()->str() == "Generator?")
      op->generator_argument = static_cast<int>(i);
  return op;
}

} // namespace

bool is_selected(const Options& options, const std::string& name) {
  bool all = !options.ask_lines, named = false;
  for (const std::string& glob : options.selection) {
    if (glob[0] == '!')
      continue;
    all = false;
    named = named || matches(glob, name);
  }
  return (named || all) && !is_excluded(options.selection, name);
}

const Operator* find_operator(ThreadState& thread, const at::RecordFunction& record) {
  // The name of a schema lies in the schema, so its address tells operators and overloads apart.
  const void* key = record.name();
  if (const auto known = thread.operators.find(key); known != thread.operators.end()) {
    if (std::strcmp(known->second->name.c_str(), record.name()) == 0 &&
        std::strcmp(known->second->overload.c_str(), record.overload_name()) == 0)
      return known->second;
  }
  const auto name = record.operator_name();
  if (!name)
    return nullptr; // a range that the program named, not an operator
  std::unique_lock lock(registry().operators_mutex);
  Operator*& op = registry().operators[key];
  if (!op || op->name != name->name || op->overload != name->overload_name) {
    const auto handle = c10::Dispatcher::singleton().findSchema(*name);
    if (!handle)
      return nullptr;
    op = describe(*handle);
  }
  thread.operators[key] = op;
  return op;
}

const Operator* find_operator(const std::string& name, const std::string& overload) {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  return handle ? describe(*handle) : nullptr;
}

} // namespace reprobe::op
