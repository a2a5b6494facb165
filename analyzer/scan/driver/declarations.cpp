#include "analyzer/scan/driver/declarations.h"

namespace reprobe::scan {

void add_declarations(const Toolchain&, Translation&, ParseRequest&) {}

} // namespace reprobe::scan
