#include "analyzer/scan/facts/undeclared.h"

#include <cctype>
#include <map>
#include <vector>

namespace reprobe::scan {
namespace {

// What a name is used as: `a::b::c(` makes c a function, `a::b::C x` makes C a type.
struct Name {
  std::map<std::string, Name> members;
  bool function = false, type = false, variable = false;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string word_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end]))
    ++end;
  return text.substr(at, end - at);
}

bool is_name(const std::string& word) {
  static const std::set<std::string> kReserved = {
      "operator", "template", "new",    "delete", "int",   "float", "double",    "auto",
      "bool",     "class",    "struct", "enum",   "union", "using", "namespace", "const"};
  return !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) && !kReserved.contains(word);
}

std::size_t skip_space(const std::string& text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  return at;
}

// Reads `::b::c` from `at`, below the namespace `top`.
void note_use(const std::string& text, std::size_t at, Name& top) {
  Name* name = &top;
  for (int depth = 0; text.compare(at, 2, "::") == 0 && depth < 8; ++depth) {
    const std::string word = word_at(text, at + 2);
    if (!is_name(word))
      return;
    at += 2 + word.size();
    name = &name->members[word];
  }
  if (name == &top)
    return;
  const std::size_t next = skip_space(text, at);
  const char c = next < text.size() ? text[next] : ';';
  if (c == '(')
    name->function = true;
  else if (c == '<')
    name->members["template"]; // arguments unknown: left to clang's recovery
  else if (is_word(c) || c == '&' || c == '*' || c == '>' || c == '{')
    name->type = true;
  else
    name->variable = true;
}

void print(const std::string& word, const Name& name, bool in_class, std::string& out) {
  if (name.members.contains("template"))
    return;
  const std::string thing = std::string("::") + kUndeclaredNamespace + "::thing";
  const bool scope = !name.members.empty();
  if (name.type) { // `T(x)` is then a constructor
    out += "struct " + word + " : " + thing + " { using thing::thing;\n";
    for (const auto& [member, inner] : name.members)
      print(member, inner, true, out);
    out += "};\n";
  } else if (scope) {
    out += (in_class ? "struct " : "namespace ") + word + " {\n";
    for (const auto& [member, inner] : name.members)
      print(member, inner, in_class, out);
    out += in_class ? "};\n" : "}\n";
  } else if (name.function) {
    out += std::string("template <class... Arguments> ") + (in_class ? "static " : "") + thing + " " + word +
           "(Arguments&&...);\n";
  } else if (name.variable) {
    out += std::string(in_class ? "static " : "extern ") + thing + " " + word + ";\n";
  }
}

} // namespace

std::string declare(const Undeclared& undeclared, const std::string& sources) {
  std::string out = std::string("namespace ") + kUndeclaredNamespace +
                    " { struct thing { thing(); template <class... Arguments> thing(Arguments&&...); }; }\n";
  for (const std::string& space : undeclared.namespaces) {
    Name top;
    for (std::size_t at = sources.find(space + "::"); at != std::string::npos;
         at = sources.find(space + "::", at + 1))
      if (at == 0 || (!is_word(sources[at - 1]) && sources[at - 1] != ':'))
        note_use(sources, at + space.size(), top);
    out += "namespace " + space + " {\n";
    for (const auto& [word, name] : top.members)
      print(word, name, false, out);
    out += "}\n";
  }
  for (const std::string& variable : undeclared.variables)
    if (!undeclared.namespaces.contains(variable))
      out += std::string("extern ") + kUndeclaredNamespace + "::thing " + variable + ";\n";
  return out;
}

} // namespace reprobe::scan
