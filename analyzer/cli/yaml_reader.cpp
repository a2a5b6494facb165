#include "analyzer/cli/yaml_reader.h"

#include "analyzer/report/escape.h"
#include "rules/error.h"
#include "rules/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace reprobe::cli {
namespace {

constexpr std::size_t kLargest = 1u << 20; // bytes
constexpr std::size_t kMostValues = 20000; // yaml-cpp itself bounds the depth

} // namespace

YAML::Node YamlReader::load(const std::string& text) const {
  if (text.size() > kLargest)
    throw Error("is too large", path_.string(), fmt::format("{} bytes, {} at most", text.size(), kLargest));
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    refuse(error.mark, "is not YAML: " + error.msg);
  } catch (const std::exception& error) { // of its scanner, on some malformed input
    throw Error("is not YAML", path_.string(), error.what());
  }
}

void YamlReader::refuse(const YAML::Mark& mark, const std::string& what, const std::string& remedy) const {
  const std::string path = report::printable(path_.string());
  throw Error(report::printable(what),
              mark.is_null() ? path : fmt::format("{}:{}:{}", path, mark.line + 1, mark.column + 1), "",
              report::printable(remedy));
}

std::string YamlReader::suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string> near = rules::nearest_words(word, known, 1);
  if (!near.empty())
    return "did you mean " + near.front() + "?";
  return fmt::format("{} {}", known.size() == 1 ? "it can be" : "one of", fmt::join(known, ", "));
}

void YamlReader::count(const YAML::Node& node) const {
  if (++values_ > kMostValues)
    refuse(node.Mark(), "holds too many values", "aliases may repeat others too often");
}

std::string YamlReader::word(const YAML::Node& node, const std::string& what) const {
  count(node);
  // YAML reads a bare `off` as false, but keeps it as written.
  if (!node.IsScalar() || node.Scalar().empty())
    refuse(node.Mark(), "\"" + what + "\" must be one word");
  return node.Scalar();
}

std::string YamlReader::one_of(const YAML::Node& node, const std::vector<std::string>& words,
                               const std::string& what) const {
  const std::string given = word(node, what);
  if (std::find(words.begin(), words.end(), given) == words.end())
    refuse(node.Mark(), fmt::format("\"{}\" cannot be \"{}\"", what, given),
           fmt::format("one of {}", fmt::join(words, ", ")));
  return given;
}

bool YamlReader::boolean(const YAML::Node& node, const std::string& what) const {
  const std::string given = word(node, what);
  if (given == "true" || given == "yes" || given == "on")
    return true;
  if (given != "false" && given != "no" && given != "off")
    refuse(node.Mark(), "\"" + what + "\" must be true or false");
  return false;
}

std::vector<std::string> YamlReader::words(const YAML::Node& node, const std::string& what) const {
  if (node.IsScalar())
    return {word(node, what)};
  if (!node.IsSequence())
    refuse(node.Mark(), "\"" + what + "\" must be a list");
  std::vector<std::string> list;
  for (const YAML::Node& item : node)
    list.push_back(word(item, what));
  return list;
}

void YamlReader::mapping(
    const YAML::Node& node, const std::string& what, const std::vector<std::string>& keys,
    const std::function<void(const std::string&, const YAML::Node&, const YAML::Node&)>& read) const {
  if (!node.IsMap())
    refuse(node.Mark(), "\"" + what + "\" must hold keys and values");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = word(entry.first, "key");
    if (!seen.insert(key).second)
      refuse(entry.first.Mark(), "\"" + key + "\" is there twice");
    if (!keys.empty() && std::find(keys.begin(), keys.end(), key) == keys.end())
      refuse(entry.first.Mark(), fmt::format("unknown key \"{}\" in \"{}\"", key, what),
             suggestion(key, keys));
    read(key, entry.first, entry.second);
  }
}

} // namespace reprobe::cli
