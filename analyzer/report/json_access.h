// Reading JSON that somebody else may have written: every mistake becomes an Error naming the file and the key.
#pragma once

#include "rules/error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace reprobe::report {

using Json = nlohmann::ordered_json;

/// Throws Error naming `origin` when the text is no JSON.
Json parse_json(const std::string& text, const std::string& origin);
/// Throws Error when the "schema" key is another.
void check_schema(const Json& document, const std::string& origin, const std::string& schema);
/// Indented ASCII, with invalid UTF-8 replaced: names in other people's programs may hold any byte.
std::string dump(const Json&);

class JsonReader {
public:
  JsonReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) fail("", "an object");
  }

  std::string text(const char* key) const { return get(key, &Json::is_string, "a string").template get<std::string>(); }
  std::string text(const char* key, const char* otherwise) const { return has(key) ? text(key) : otherwise; }
  bool boolean(const char* key) const { return get(key, &Json::is_boolean, "true or false").template get<bool>(); }
  bool boolean(const char* key, bool otherwise) const { return has(key) ? boolean(key) : otherwise; }

  template <class Number>
  Number number(const char* key) const {
    // Infinity and NaN have no JSON number: they are written as strings.
    if constexpr (std::is_floating_point_v<Number>)
      if (has(key) && object_[key].is_string()) return special(key);
    const Json& value = get(key, &Json::is_number, "a number");
    if constexpr (std::is_unsigned_v<Number>)
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max())
        fail(key, "a whole number from 0 that fits");
    return value.get<Number>();
  }
  template <class Number>
  Number number(const char* key, Number otherwise) const { return has(key) ? number<Number>(key) : otherwise; }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    if (!has(key)) return result;
    for (const Json& item : get(key, &Json::is_array, "a list")) {
      if (!item.is_string()) fail(key, "a list of strings");
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  JsonReader object(const char* key) const { return {get(key, &Json::is_object, "an object"), where_ + ": " + key}; }
  std::vector<JsonReader> objects(const char* key) const {
    std::vector<JsonReader> result;
    if (!has(key)) return result;
    std::size_t index = 0;
    for (const Json& item : get(key, &Json::is_array, "a list"))
      result.emplace_back(item, where_ + ": " + key + "[" + std::to_string(index++) + "]");
    return result;
  }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  const Json& raw(const char* key) const { return object_[key]; }
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const {
    throw Error("not in the expected form", where_, key.empty() ? "expected " + expected : "\"" + key + "\" must be " + expected,
                "make it again with this version of reprobe");
  }

private:
  const Json& get(const char* key, bool (Json::*is)() const noexcept, const char* expected) const {
    if (!object_.contains(key) || !(object_[key].*is)()) fail(key, expected);
    return object_[key];
  }
  double special(const char* key) const {
    const std::string text = object_[key].get<std::string>();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    fail(key, "a number, \"inf\" or \"nan\"");
  }

  const Json& object_;
  std::string where_;
};

template <class Value>
void put_unless_empty(Json& object, const char* key, const Value& value) {
  if (!value.empty()) object[key] = value;
}

inline Json number_or_special(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "inf";
  return value;
}

} // namespace reprobe::report
