// Which dispatcher operators the project implements, and with which of its functions: a fault inside one
// shows where the operator is called, which is where `run` measures it.
#pragma once

#include "analyzer/scan/flow/project.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace reprobe::scan {

class Registrations {
public:
  explicit Registrations(const Codebase&);
  /// Names without overload ("voxel::pool") of the registered operators whose implementations run this
  /// function.
  const std::vector<std::string>& operators_run_by(const Function*) const;

private:
  void follow(const Codebase&, FunctionRef implementation, const std::string& op);
  std::unordered_map<const Function*, std::vector<std::string>> operators_;
  std::unordered_map<std::string, std::vector<FunctionRef>> lambdas_; // by the USR of the enclosing function
};

/// The namespace that TORCH_LIBRARY, TORCH_LIBRARY_FRAGMENT or TORCH_LIBRARY_IMPL made this function for, or
/// nothing.
std::string library_of(const std::string& function_name);

} // namespace reprobe::scan
