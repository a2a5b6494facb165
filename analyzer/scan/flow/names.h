// Names of C++ symbols as tables write them against names as Clang writes them.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reprobe::scan {

/// Without template arguments, inline namespaces of standard libraries, "class ", "struct " and leading "::".
std::string plain_name(std::string_view);
/// The part after the last "::", "." or "->".
std::string last_part(std::string_view name);
/// "std::vector<float, std::allocator<float>>" → {"float", "std::allocator<float>"}.
std::vector<std::string> template_arguments_of(std::string_view type);

bool is_floating_type(
    std::string_view type); // float, double and the half types of CUDA and ATen, and their vectors
bool is_integer_type(std::string_view type);
bool is_half_type(std::string_view type);

/// Table rows found by the symbols that they name.
class SymbolIndex {
public:
  SymbolIndex() = default;
  /// Indexes `symbols` of every row; `keys` names more keys with symbols in them.
  explicit SymbolIndex(const nlohmann::json& rows, const std::vector<std::string>& keys = {"symbols"});

  struct Match {
    const nlohmann::json* row = nullptr;
    bool by_name = false; // the callee is unresolved and only its last part is the same
    bool method = false;  // a member function: argument 0 is the first after the object
  };
  std::vector<Match> find(const Event&) const;

private:
  void add(const std::string& symbol, const nlohmann::json* row);
  std::unordered_map<std::string, std::vector<const nlohmann::json*>> by_symbol_, by_member_;
};

/// Names under which tables may know what this event calls or constructs. Holds until the thread's next call.
const std::vector<std::string>& names_of(const Event&);

} // namespace reprobe::scan
