// Reading YAML that somebody else may have written: every mistake becomes an Error naming file, line and
// column, and aliases that multiply cannot make it slow or large.
#pragma once

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace reprobe::cli {

class YamlReader {
public:
  explicit YamlReader(std::filesystem::path path) : path_(std::move(path)) {}

  /// Throws Error when the text is too large, nested too deeply or no YAML.
  YAML::Node load(const std::string& text) const;

  std::string word(const YAML::Node&, const std::string& what) const;
  std::string one_of(const YAML::Node&, const std::vector<std::string>& words, const std::string& what) const;
  bool boolean(const YAML::Node&, const std::string& what) const;
  std::vector<std::string> words(const YAML::Node&, const std::string& what) const; // a list, or one word
  /// Calls `read(key, value)` for each entry; an unknown key (false) and one written twice are errors.
  void mapping(const YAML::Node&, const std::string& what, const std::vector<std::string>& keys,
               const std::function<void(const std::string& key, const YAML::Node& key_node,
                                        const YAML::Node& value)>& read) const;

  [[noreturn]] void refuse(const YAML::Mark&, const std::string& what, const std::string& remedy = {}) const;
  /// "did you mean x?" or "one of x, y, z".
  static std::string suggestion(const std::string& word, const std::vector<std::string>& known);

  /// Counts a value that was read: aliases may repeat it, but not without end.
  void count(const YAML::Node&) const;

private:
  std::filesystem::path path_;
  mutable std::size_t values_ = 0;
};

} // namespace reprobe::cli
