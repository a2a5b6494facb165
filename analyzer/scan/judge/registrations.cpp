#include "analyzer/scan/judge/registrations.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"

#include <algorithm>
#include <set>

namespace reprobe::scan {
namespace {

// "name(Tensor x) -> Tensor" and "name.overload" register the operator `name`.
std::string operator_name(const std::string& library, const std::string& schema) {
  const std::string name = schema.substr(0, schema.find_first_of(".( "));
  return name.empty() || name.find("::") != std::string::npos ? name : library + "::" + name;
}

bool without_last_part(std::string& name) {
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore == 0)
    return false;
  name.resize(underscore);
  return true;
}

} // namespace

std::string library_of(const std::string& function_name) {
  const std::string name = last_part(function_name);
  const auto after = [&](const std::string& prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
  };
  // The macros append the dispatch key and a number that makes the name unique.
  if (std::string library = after("TORCH_LIBRARY_IMPL_init_"); !library.empty())
    return without_last_part(library) && without_last_part(library) ? library : "";
  if (std::string library = after("TORCH_LIBRARY_FRAGMENT_init_"); !library.empty())
    return without_last_part(library) ? library : "";
  return after("TORCH_LIBRARY_init_");
}

Registrations::Registrations(const Codebase& project) {
  for (const FunctionRef& ref : project.functions())
    if (ref.function->is_lambda)
      lambdas_[ref.function->owner].push_back(ref);
  for (const FunctionRef& ref : project.functions()) {
    const std::string library = library_of(ref.function->name);
    if (library.empty())
      continue;
    for (const Event& event : ref.function->events) {
      const std::string member = last_part(event.callee);
      if (event.kind != Event::Kind::call || (member != "impl" && member != "def") || event.arguments.empty())
        continue;
      // The schema may come wrapped: TORCH_SELECTIVE_NAME("pool").
      std::string schema;
      for_each_value(event.arguments[0], [&](const Value& value) {
        if (schema.empty() && value.kind == Value::Kind::string)
          schema = value.text;
      });
      if (schema.empty())
        continue;
      for (const FunctionRef& implementation : project.callees(ref, event))
        follow(project, implementation, operator_name(library, schema));
    }
  }
}

void Registrations::follow(const Codebase& project, FunctionRef implementation, const std::string& op) {
  std::vector<FunctionRef> open = {implementation};
  std::set<const Function*> seen;
  while (!open.empty()) {
    const FunctionRef ref = open.back();
    open.pop_back();
    if (!seen.insert(ref.function).second)
      continue;
    std::vector<std::string>& names = operators_[ref.function];
    if (std::find(names.begin(), names.end(), op) == names.end())
      names.push_back(op);
    for (const Event& event : ref.function->events)
      for (const FunctionRef& callee : project.callees(ref, event))
        open.push_back(callee);
    // A lambda kept in a variable and handed to threads is run by no call that names it.
    if (const auto inner = lambdas_.find(ref.function->usr); inner != lambdas_.end())
      open.insert(open.end(), inner->second.begin(), inner->second.end());
  }
}

const std::vector<std::string>& Registrations::operators_run_by(const Function* function) const {
  static const std::vector<std::string> none;
  const auto found = operators_.find(function);
  return found == operators_.end() ? none : found->second;
}

} // namespace reprobe::scan
