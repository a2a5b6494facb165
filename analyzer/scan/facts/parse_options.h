// How every parse of ours is set up, of sources and of headers to precompile alike: Clang refuses a precompiled header
// that was made with other language options.
#pragma once

namespace clang {
class CompilerInstance;
}

namespace reprobe::scan {

void set_parse_options(clang::CompilerInstance&);

} // namespace reprobe::scan
