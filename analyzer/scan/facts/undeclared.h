// Stand-ins for names that no header declares, so that clang keeps the statements that use them.
#pragma once

#include <set>
#include <string>

namespace reprobe::scan {

/// Holds the type that undeclared names are given.
inline constexpr const char* kUndeclaredNamespace = "reprobe_undeclared";
inline constexpr const char* kUndeclaredHeader = "/reprobe-generated/undeclared.h";

struct Undeclared {
  std::set<std::string> namespaces, variables;
  bool empty() const { return namespaces.empty() && variables.empty(); }
};

/// A header that declares them; what the namespaces hold is read off `sources`, where their names are used.
std::string declare(const Undeclared&, const std::string& sources);

} // namespace reprobe::scan
