// Facts as JSON. Fields that have their default value are left out; keys that the reader does not know are
// refused.
#include "analyzer/scan/facts/facts.h"
#include "analyzer/scan/facts/fields.h"
#include "rules/error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <type_traits>

namespace reprobe::scan {
namespace {

using nlohmann::json;

constexpr int kDeepest = 400; // nesting of values; extraction stays far below it

template <class T>
json write(const T& value);

struct Writer {
  json out = json::object();
  template <class T>
  void operator()(const char* key, T& value) {
    if constexpr (IsOptional<T>::value) {
      if (value)
        out[key] = write(*value);
    } else if constexpr (IsVector<T>::value) {
      if (!value.empty())
        out[key] = write(value);
    } else if constexpr (std::is_same_v<T, Range>) {
      out[key] = write(value);
    } else if (!(value == default_of<T>(key))) {
      out[key] = write(value);
    }
  }
  // Three fields are true unless said otherwise.
  template <class T>
  static T default_of(const char* key) {
    if constexpr (std::is_same_v<T, bool>)
      return !std::strcmp(key, "r") || !std::strcmp(key, "w") || !std::strcmp(key, "user");
    else
      return T{};
  }
};

json write_position(const Position& p) {
  return json::array({p.file, p.line, p.column, p.offset});
}

template <class T>
json write(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(value))
      return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; // JSON has no such numbers
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, Position>) {
    return write_position(value);
  } else if constexpr (std::is_same_v<T, Range>) {
    return json::array({write_position(value.begin), write_position(value.end)});
  } else if constexpr (IsVector<T>::value) {
    json out = json::array();
    for (const auto& element : value)
      out.push_back(write(element));
    return out;
  } else {
    Writer writer;
    fields(writer, const_cast<T&>(value)); // the writer only reads
    return std::move(writer.out);
  }
}

struct Malformed {
  std::string path, why;
};

template <class T>
void read(const json& in, T& value, const std::string& path, int depth);

struct Reader {
  const json& in;
  const std::string& path;
  int depth;
  std::set<std::string_view> known = {};
  template <class T>
  void operator()(const char* key, T& value) {
    known.insert(key);
    if (auto found = in.find(key); found != in.end())
      read(*found, value, path + "/" + key, depth + 1);
  }
};

template <class T>
void read_integer(const json& in, T& value, const std::string& path) {
  if (!in.is_number_integer())
    throw Malformed{path, "not an integer"};
  if constexpr (std::is_signed_v<T>) {
    if (in.is_number_unsigned() &&
        in.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      throw Malformed{path, "out of range"};
    value = in.get<T>();
  } else {
    if (!in.is_number_unsigned() || in.get<std::uint64_t>() > std::numeric_limits<T>::max())
      throw Malformed{path, "out of range"};
    value = in.get<T>();
  }
}

void read_floating(const json& in, double& value, const std::string& path) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (in.is_number())
    value = in.get<double>();
  else if (in == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (in == "inf")
    value = infinity;
  else if (in == "-inf")
    value = -infinity;
  else
    throw Malformed{path, "not a number"};
}

template <class T>
void read(const json& in, T& value, const std::string& path, int depth) {
  if (depth > kDeepest)
    throw Malformed{path.substr(0, 100), "nested too deeply"};
  if constexpr (std::is_same_v<T, bool>) {
    if (!in.is_boolean())
      throw Malformed{path, "not true or false"};
    value = in.get<bool>();
  } else if constexpr (std::is_same_v<T, double>) {
    read_floating(in, value, path);
  } else if constexpr (std::is_enum_v<T>) {
    std::uint8_t kind = 0;
    read_integer(in, kind, path);
    if (kind > last_kind<T>())
      throw Malformed{path, "unknown kind"};
    value = static_cast<T>(kind);
  } else if constexpr (std::is_integral_v<T>) {
    read_integer(in, value, path);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!in.is_string())
      throw Malformed{path, "not a string"};
    value = in.get<std::string>();
  } else if constexpr (std::is_same_v<T, Position>) {
    if (!in.is_array() || in.size() != 4)
      throw Malformed{path, "not a position"};
    read_integer(in[0], value.file, path), read_integer(in[1], value.line, path);
    read_integer(in[2], value.column, path), read_integer(in[3], value.offset, path);
  } else if constexpr (std::is_same_v<T, Range>) {
    if (!in.is_array() || in.size() != 2)
      throw Malformed{path, "not a range"};
    read(in[0], value.begin, path, depth), read(in[1], value.end, path, depth);
  } else if constexpr (IsOptional<T>::value) {
    read(in, value.emplace(), path, depth);
  } else if constexpr (IsVector<T>::value) {
    if (!in.is_array())
      throw Malformed{path, "not an array"};
    value.clear();
    for (const json& element : in)
      read(element, value.emplace_back(), path + "/" + std::to_string(value.size() - 1), depth + 1);
  } else {
    if (!in.is_object())
      throw Malformed{path, "not an object"};
    Reader reader{in, path, depth};
    fields(reader, value);
    for (const auto& item : in.items())
      if (!reader.known.contains(item.key()) && !(depth == 0 && item.key() == "schema"))
        throw Malformed{path + "/" + item.key(), "unknown key"};
  }
}

// Indices come from outside: whoever walks the graph must be able to trust them.
void check_indices(const TranslationUnit& unit) {
  auto check_position = [&](const Position& position, const std::string& path) {
    if (position.file != 0 && position.file >= unit.files.size())
      throw Malformed{path, "no such file"};
  };
  for (const Pragma& pragma : unit.pragmas)
    check_position(pragma.where, "/pragmas"), check_position(pragma.statement.begin, "/pragmas"),
        check_position(pragma.statement.end, "/pragmas");
  for (const SuppressionComment& comment : unit.suppressions)
    check_position(comment.where, "/suppressions");
  const std::function<void(const Value&, const std::string&)> check_value = [&](const Value& value,
                                                                                const std::string& path) {
    check_position(value.at, path);
    for (const Value& operand : value.operands)
      check_value(operand, path);
  };
  for (std::size_t f = 0; f < unit.functions.size(); ++f) {
    const Function& function = unit.functions[f];
    const std::string path = "/functions/" + std::to_string(f);
    check_position(function.range.begin, path), check_position(function.range.end, path);
    for (const Event& event : function.events)
      check_position(event.range.begin, path), check_position(event.range.end, path),
          check_position(event.name, path);
    for (const Event& event : function.events) {
      if (event.receiver)
        check_value(*event.receiver, path);
      for (const Value& argument : event.arguments)
        check_value(argument, path);
      for (const Value& part : event.configuration)
        check_value(part, path);
    }
    const std::size_t blocks = function.blocks.size();
    if (blocks && (function.entry >= blocks || function.exit >= blocks))
      throw Malformed{path, "no such entry or exit block"};
    for (std::size_t b = 0; b < blocks; ++b) {
      const Block& block = function.blocks[b];
      if (block.id != b)
        throw Malformed{path, "a block's id is not its index"};
      for (std::uint32_t event : block.events)
        if (event >= function.events.size())
          throw Malformed{path, "no such event"};
      for (const Edge& edge : block.successors)
        if (edge.block >= blocks)
          throw Malformed{path, "no such block"};
        else if (edge.condition)
          check_value(*edge.condition, path);
    }
  }
}

} // namespace

std::string bad_index(const TranslationUnit& unit) {
  try {
    check_indices(unit);
    return {};
  } catch (const Malformed& problem) {
    return problem.path + ": " + problem.why;
  }
}

std::string to_json(const TranslationUnit& unit) {
  json out = write(unit);
  out["schema"] = unit.schema;
  // Source may hold bytes that are no UTF-8.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

TranslationUnit from_json(const std::string& text, const std::string& origin) {
  const json in = json::parse(text, nullptr, false);
  if (in.is_discarded() || !in.is_object())
    throw Error("cannot read facts", origin, "not a JSON object", "scan the source again", 3);
  const auto schema = in.find("schema");
  if (schema == in.end() || *schema != kFactsSchema)
    throw Error("cannot read facts", origin,
                "schema " + (schema == in.end() ? std::string("missing") : schema->dump()) + ", expected \"" +
                    kFactsSchema + "\"",
                "scan the source again with this version", 3);
  try {
    TranslationUnit unit;
    read(in, unit, "", 0);
    check_indices(unit);
    return unit;
  } catch (const Malformed& problem) {
    throw Error("cannot read facts", origin, problem.path + ": " + problem.why, "scan the source again", 3);
  }
}

} // namespace reprobe::scan
