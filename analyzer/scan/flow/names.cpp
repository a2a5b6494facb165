#include "analyzer/scan/flow/names.h"

#include <algorithm>
#include <array>
#include <set>

namespace reprobe::scan {
namespace {

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != std::string::npos;)
    text.erase(at, part.size());
}

std::string without_template_arguments(std::string_view name) {
  if (name.find('<') == std::string_view::npos && name.find('>') == std::string_view::npos)
    return std::string(name);
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    // `operator<`, `operator<<`, `operator->` and their like hold no template arguments.
    if (depth == 0 && (name[i] == '<' || name[i] == '>') && out.find("operator") != std::string::npos &&
        out.find_first_of(" :", out.rfind("operator")) == std::string::npos) {
      out += name[i];
      continue;
    }
    if (name[i] == '<')
      ++depth;
    else if (name[i] == '>')
      depth = std::max(0, depth - 1);
    else if (depth == 0)
      out += name[i];
  }
  return out;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string element_type(std::string_view type) {
  std::string name = plain_name(type);
  while (!name.empty() && (name.back() == '*' || name.back() == '&' || name.back() == ' '))
    name.pop_back();
  if (const std::size_t bracket = name.find('['); bracket != std::string::npos)
    name.resize(bracket);
  for (std::string_view word : {"const ", "volatile "})
    erase_all(name, word);
  while (!name.empty() && name.back() == ' ')
    name.pop_back();
  return name;
}

} // namespace

std::string plain_name(std::string_view given) {
  std::string name = without_template_arguments(given);
  for (std::string_view part : {"__cxx11::", "_V2::", "__1::", "__8::", "__cxx1998::", "__4::", "__detail::",
                                "class ", "struct ", "enum "})
    erase_all(name, part);
  if (starts_with(name, "::"))
    name.erase(0, 2);
  return name;
}

std::string last_part(std::string_view given) {
  std::string name = without_template_arguments(given);
  std::size_t start = name.size();
  const auto separates = [&](std::size_t end) { // ending before `end`
    return end > 0 && (name[end - 1] == '.' || (end > 1 && ((name[end - 2] == ':' && name[end - 1] == ':') ||
                                                            (name[end - 2] == '-' && name[end - 1] == '>'))));
  };
  while (start > 0 && !separates(start))
    --start;
  name.erase(0, start);
  return name;
}

std::vector<std::string> template_arguments_of(std::string_view type) {
  std::vector<std::string> out;
  const std::size_t open = type.find('<');
  if (open == std::string_view::npos)
    return out;
  int depth = 0;
  std::string current;
  for (char c : type.substr(open + 1)) {
    if (c == '<' || c == '(')
      ++depth;
    if ((c == '>' || c == ')') && depth-- == 0)
      break;
    if (c == ',' && depth == 0) {
      out.push_back(current);
      current.clear();
    } else if (c != ' ' || !current.empty()) {
      current += c;
    }
  }
  out.push_back(current);
  return out;
}

bool is_half_type(std::string_view type) {
  static const std::set<std::string, std::less<>> names = {
      "__half",         "__half2",      "half",         "half2",     "__nv_bfloat16",
      "__nv_bfloat162", "nv_bfloat16",  "nv_bfloat162", "c10::Half", "at::Half",
      "c10::BFloat16",  "at::BFloat16", "_Float16",     "__bf16"};
  return names.contains(element_type(type));
}

bool is_floating_type(std::string_view type) {
  static const std::set<std::string, std::less<>> names = {"float",   "double",  "long double", "float1",
                                                           "float2",  "float3",  "float4",      "double1",
                                                           "double2", "double3", "double4"};
  return names.contains(element_type(type)) || is_half_type(type);
}

bool is_integer_type(std::string_view type) {
  static const std::set<std::string, std::less<>> names = {
      "bool",    "char",         "signed char", "unsigned char", "short",     "unsigned short",
      "int",     "unsigned int", "long",        "unsigned long", "long long", "unsigned long long",
      "int8_t",  "uint8_t",      "int16_t",     "uint16_t",      "int32_t",   "uint32_t",
      "int64_t", "uint64_t",     "size_t",      "unsigned"};
  return names.contains(element_type(type));
}

namespace {

std::vector<std::string> made_names(const Event& event, bool constructs) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end())
      return;
    names.push_back(name);
  };
  const std::string callee = plain_name(event.callee);
  add(callee);
  if (constructs) {
    if (const std::size_t at = callee.rfind("::"); at != std::string::npos)
      add(callee.substr(0, at));
    add(plain_name(event.result_type));
  }
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    const std::string name = names[i];
    // A module's class is LinearImpl, its holder Linear: tables name the holder.
    if (constructs && starts_with(name, "torch::nn::") && name.size() > 4 && name.ends_with("Impl"))
      add(name.substr(0, name.size() - 4));
    // `namespace torch { using namespace at; }`
    for (std::string_view from : {"at::", "c10::", "torch::"})
      for (std::string_view to : {"at::", "c10::", "torch::"})
        if (from != to && starts_with(name, from))
          add(std::string(to) + name.substr(from.size()));
  }
  return names;
}

} // namespace

// Each event is looked up in some fifty tables, and most names are called often.
const std::vector<std::string>& names_of(const Event& event) {
  constexpr std::size_t kMost = 100000;
  thread_local std::unordered_map<std::string, std::vector<std::string>> known;
  const bool constructs = event.kind == Event::Kind::construct || event.kind == Event::Kind::destroy;
  std::string key = event.callee;
  if (constructs)
    key += '\0', key += event.result_type;
  const auto found = known.find(key);
  if (found != known.end())
    return found->second;
  if (known.size() >= kMost)
    known.clear();
  return known.emplace(std::move(key), made_names(event, constructs)).first->second;
}

SymbolIndex::SymbolIndex(const nlohmann::json& rows, const std::vector<std::string>& keys) {
  for (const nlohmann::json& row : rows)
    for (const std::string& key : keys)
      if (row.contains(key))
        for (const nlohmann::json& symbol : row[key])
          add(symbol.get<std::string>(), &row);
}

void SymbolIndex::add(const std::string& symbol, const nlohmann::json* row) {
  by_symbol_[symbol].push_back(row);
  static constexpr std::array<std::string_view, 3> members = {
      "at::Tensor::", "at::Context::", "at::Generator::"};
  for (std::string_view prefix : members)
    if (starts_with(symbol, prefix))
      by_member_[symbol.substr(prefix.size())].push_back(row);
}

std::vector<SymbolIndex::Match> SymbolIndex::find(const Event& event) const {
  std::vector<Match> matches;
  const auto add_match = [&](const nlohmann::json* row, bool by_name, bool method) {
    const bool known =
        std::any_of(matches.begin(), matches.end(), [&](const Match& m) { return m.row == row; });
    if (!known)
      matches.push_back({row, by_name, method});
  };
  // A function of the user's own is never what a built-in row means, whatever its name; the project's own
  // rows are about nothing else.
  const bool own = event.resolved && !event.external && event.kind != Event::Kind::construct &&
                   event.kind != Event::Kind::destroy;
  for (const std::string& name : names_of(event)) {
    const auto rows = by_symbol_.find(name);
    if (rows == by_symbol_.end())
      continue;
    for (const nlohmann::json* row : rows->second)
      if (!own || row->value("project", false))
        add_match(row, false, event.receiver.has_value());
  }
  if (!event.resolved && event.receiver) {
    if (const auto rows = by_member_.find(last_part(event.callee)); rows != by_member_.end())
      for (const nlohmann::json* row : rows->second)
        add_match(row, true, true);
  }
  return matches;
}

} // namespace reprobe::scan
