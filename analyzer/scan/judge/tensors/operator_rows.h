// Uses of the operators that the table knows, for the families that reason about them.
#pragma once

#include "analyzer/scan/judge/call_conditions.h"

namespace reprobe::scan {

struct OperatorUse {
  OperatorCall call;
  const nlohmann::json* row = nullptr;
  bool by_name = false;
};

/// Every call to which a row applies; `reported_only` leaves out rows with `report: false`.
std::vector<OperatorUse> operator_uses(const Context&, bool reported_only);

/// Dispatcher names under which a measurement may know the row's operator.
std::vector<std::string> operators_of(const nlohmann::json& row);

/// `forward` and `backward` of a torch::autograd::Function run without recording gradients.
bool is_inside_autograd_function(const Function&);

} // namespace reprobe::scan
