// Rows that a project adds to the tables of rules/tables. What a row may hold follows from the built-in rows:
// their keys, the types of their values, and the words that the judges know.
#pragma once

#include "analyzer/cli/yaml_reader.h"
#include "rules/registry.h"

namespace reprobe::cli {

/// The rows as JSON, complete enough for the judges. Throws reprobe::Error.
nlohmann::json read_rows(const YamlReader&, const std::string& table, const YAML::Node&,
                         const rules::Registry&);

} // namespace reprobe::cli
