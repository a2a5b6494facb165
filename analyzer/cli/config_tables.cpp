#include "analyzer/cli/config_tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace reprobe::cli {
namespace {

using nlohmann::json;
using Examples = std::vector<const json*>;

// Keys that tell kinds of rows apart, and keys whose words the judges know: no row can invent others.
const std::vector<std::string> kKinds = {"role", "kind", "test", "order"};
const std::set<std::string> kVocabulary = {"role",      "kind",   "test",    "order",  "knob",
                                           "direction", "strict", "devices", "dtypes", "confidence"};

// What a project need not say of its own code, and what is then taken.
const json kDefaults = {{"catalog", "project"},   {"source", "the project's configuration"},
                        {"strict", "silent"},     {"devices", {"cuda"}},
                        {"dtypes", {"floating"}}, {"confidence", "medium"}};

constexpr int kDeepest = 20; // of lists and keys within a row

class RowReader {
public:
  explicit RowReader(const YamlReader& yaml) : yaml_(yaml) {}

  json object(const YAML::Node& node, const Examples& all, const std::string& what, bool is_row) const {
    const Examples examples = of_same_kind(node, all, what);
    json out = json::object();
    yaml_.mapping(node, what, keys_of(examples),
                  [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
                    out[key] = this->value(value, values_at(examples, key), values_at(all, key), key);
                  });
    for (const std::string& key : keys_in_every(examples)) {
      if (out.contains(key))
        continue;
      if (is_row && key == "title" && out.contains("operator")) {
        out[key] = out["operator"];
        continue;
      }
      if (!is_row || !kDefaults.contains(key))
        yaml_.refuse(node.Mark(), fmt::format("\"{}\" lacks \"{}\"", what, key));
      out[key] = kDefaults[key];
    }
    return out;
  }

private:
  json value(const YAML::Node& node, const Examples& examples, const Examples& vocabulary,
             const std::string& key) const {
    yaml_.count(node);
    if (depth_ == kDeepest) // an alias can hold itself
      yaml_.refuse(node.Mark(), "\"" + key + "\" is nested too deeply");
    ++depth_;
    json out = shallow_value(node, examples, vocabulary, key);
    --depth_;
    return out;
  }

  json shallow_value(const YAML::Node& node, const Examples& examples, const Examples& vocabulary,
                     const std::string& key) const {
    std::set<json::value_t> types;
    for (const json* example : examples)
      types.insert(example->type());
    const auto can_be = [&](json::value_t type) { return types.contains(type); };
    const auto number = [&] {
      return can_be(json::value_t::number_integer) || can_be(json::value_t::number_unsigned);
    };
    if (node.IsSequence() && can_be(json::value_t::array))
      return list(node, examples, vocabulary, key);
    if (node.IsMap() && can_be(json::value_t::object))
      return object(node, examples, key, false);
    if (node.IsScalar()) {
      const std::string word = yaml_.word(node, key);
      if (can_be(json::value_t::boolean) && (word == "true" || word == "false"))
        return word == "true";
      int whole = 0;
      if (number() && YAML::convert<int>::decode(node, whole))
        return whole;
      if (can_be(json::value_t::string)) {
        check_word(node, word, vocabulary, key);
        return word;
      }
    }
    yaml_.refuse(node.Mark(), fmt::format("\"{}\" must be {}", key, described(types)));
  }

  json list(const YAML::Node& node, const Examples& examples, const Examples& vocabulary,
            const std::string& key) const {
    const auto items_of = [](const Examples& lists) {
      Examples items;
      for (const json* example : lists)
        if (example->is_array())
          for (const json& item : *example)
            items.push_back(&item);
      return items;
    };
    const Examples items = items_of(examples), words = items_of(vocabulary);
    json out = json::array();
    for (const YAML::Node& item : node)
      out.push_back(value(item, items, words, key));
    const bool may_be_empty = std::any_of(examples.begin(), examples.end(), [](const json* example) {
      return example->is_array() && example->empty();
    });
    if (out.empty() && !may_be_empty)
      yaml_.refuse(node.Mark(), "\"" + key + "\" must not be empty");
    return out;
  }

  void check_word(const YAML::Node& node, const std::string& word, const Examples& examples,
                  const std::string& key) const {
    if (!kVocabulary.contains(key))
      return;
    std::set<std::string> known;
    for (const json* example : examples)
      if (example->is_string())
        known.insert(example->get<std::string>());
    if (!known.contains(word))
      yaml_.refuse(node.Mark(), fmt::format("\"{}\" cannot be \"{}\"", key, word),
                   YamlReader::suggestion(word, {known.begin(), known.end()}));
  }

  // The examples that agree with the node in what tells kinds apart.
  Examples of_same_kind(const YAML::Node& node, const Examples& all, const std::string& what) const {
    if (!node.IsMap())
      yaml_.refuse(node.Mark(), "\"" + what + "\" must hold keys and values");
    Examples same = all;
    for (const std::string& kind : kKinds) {
      const bool tells = !same.empty() && std::all_of(same.begin(), same.end(), [&](const json* example) {
        return example->contains(kind);
      });
      if (!tells)
        continue;
      if (!node[kind])
        yaml_.refuse(node.Mark(), fmt::format("\"{}\" lacks \"{}\"", what, kind));
      const std::string word = yaml_.word(node[kind], kind);
      check_word(node[kind], word, values_at(same, kind), kind);
      std::erase_if(same, [&](const json* example) { return (*example)[kind] != word; });
    }
    return same;
  }

  static Examples values_at(const Examples& examples, const std::string& key) {
    Examples values;
    for (const json* example : examples)
      if (example->is_object() && example->contains(key))
        values.push_back(&(*example)[key]);
    return values;
  }

  static std::vector<std::string> keys_of(const Examples& examples) {
    std::set<std::string> keys;
    for (const json* example : examples)
      for (const auto& [key, value] : example->items())
        keys.insert(key);
    return {keys.begin(), keys.end()};
  }

  static std::vector<std::string> keys_in_every(const Examples& examples) {
    std::vector<std::string> keys = keys_of(examples);
    std::erase_if(keys, [&](const std::string& key) {
      return !std::all_of(examples.begin(), examples.end(),
                          [&](const json* example) { return example->contains(key); });
    });
    return keys;
  }

  static std::string described(const std::set<json::value_t>& types) {
    std::vector<std::string> names;
    const auto add = [&](std::initializer_list<json::value_t> any, const char* name) {
      if (std::any_of(any.begin(), any.end(), [&](json::value_t type) { return types.contains(type); }))
        names.emplace_back(name);
    };
    add({json::value_t::string}, "a word");
    add({json::value_t::boolean}, "true or false");
    add({json::value_t::number_integer, json::value_t::number_unsigned, json::value_t::number_float},
        "a whole number");
    add({json::value_t::array}, "a list");
    add({json::value_t::object}, "keys and values");
    return fmt::format("{}", fmt::join(names, " or "));
  }

  const YamlReader& yaml_;
  mutable int depth_ = 0;
};

} // namespace

json read_rows(const YamlReader& yaml, const std::string& table, const YAML::Node& node,
               const rules::Registry& registry) {
  if (!node.IsSequence())
    yaml.refuse(node.Mark(), "\"" + table + "\" must be a list of rows");
  Examples examples;
  for (const json& row : registry.table(table))
    examples.push_back(&row);
  json rows = json::array();
  for (const YAML::Node& row : node) {
    yaml.count(row);
    rows.push_back(RowReader(yaml).object(row, examples, table, true));
    rows.back()["project"] = true; // may mean the project's own functions
  }
  return rows;
}

} // namespace reprobe::cli
