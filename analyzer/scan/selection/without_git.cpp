// Stands in for git.cpp in builds without libgit2.
#include "analyzer/scan/selection/selection.h"

#include "rules/error.h"

namespace reprobe::scan {
namespace {

[[noreturn]] void refuse() {
  throw Error("cannot read the repository", "", "this build has no libgit2",
              "install libgit2-dev and build again, or name the files", 3);
}

} // namespace

Selection changed_since(const std::filesystem::path&, const std::string&, const Wanted&) {
  refuse();
}

Selection staged(const std::filesystem::path&, const Wanted&) {
  refuse();
}

} // namespace reprobe::scan
