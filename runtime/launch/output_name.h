// Names of measurement files when a launcher (torchrun, mpirun, srun) starts several processes.
#pragma once

#include "runtime/op/identity.h"

#include <filesystem>

namespace reprobe::launch {

using op::Identity;

/// %r: rank (0 without a launcher), %p: process, %h: host, %%: a percent sign. Throws reprobe::Error for
/// another placeholder. Without one, a rank of several gets a file of its own all the same: "m.json" becomes
/// "m.rank3.json". Ranks never share a file: no lock is needed, on no file system, and what an earlier run
/// left is replaced, not mixed in.
std::filesystem::path expand_output(const std::string& pattern, const Identity&);

/// Whether processes of one run go to files of their own.
bool names_processes(const std::string& pattern);

} // namespace reprobe::launch
