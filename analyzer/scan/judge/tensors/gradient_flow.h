// Where a tensor goes after it was made: a gradient of a tensor that nothing differentiates is never
// computed.
#pragma once

#include "analyzer/scan/flow/project.h"

namespace reprobe::scan {

/// False when on every path what is made of the call's result is detached, read back, printed or overwritten
/// before anything in its function differentiates it, returns it or hands it on to code that might.
bool may_be_differentiated(const Codebase&, FunctionRef, const Event& call);

} // namespace reprobe::scan
