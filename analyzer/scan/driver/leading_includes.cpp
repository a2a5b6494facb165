#include "analyzer/scan/driver/leading_includes.h"

#include <cctype>
#include <string_view>

namespace reprobe::scan {
namespace {

constexpr int kDeepest = 16;

// Directives and nothing else, up to the first token of code.
class Directives {
public:
  explicit Directives(std::string_view text) : rest_(text) {}

  /// The next one without its '#' and comments, on one line; false when code or the end follows.
  bool next(std::string& directive) {
    skip_blank();
    if (rest_.empty() || rest_.front() != '#')
      return false;
    rest_.remove_prefix(1);
    directive.clear();
    while (!rest_.empty() && rest_.front() != '\n') {
      if (rest_.starts_with("\\\n") || rest_.starts_with("\\\r\n"))
        rest_.remove_prefix(rest_[1] == '\n' ? 2 : 3);
      else if (rest_.starts_with("//"))
        skip_line();
      else if (rest_.starts_with("/*"))
        skip_comment(), directive += ' ';
      else
        directive += rest_.front(), rest_.remove_prefix(1);
    }
    return true;
  }
  bool at_end() const { return rest_.empty(); }

private:
  void skip_line() {
    const std::size_t end = rest_.find('\n');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  void skip_comment() {
    const std::size_t end = rest_.find("*/", 2);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
  }
  void skip_blank() {
    if (rest_.starts_with("\xef\xbb\xbf"))
      rest_.remove_prefix(3);
    while (!rest_.empty()) {
      if (std::isspace(static_cast<unsigned char>(rest_.front())))
        rest_.remove_prefix(1);
      else if (rest_.starts_with("//"))
        skip_line();
      else if (rest_.starts_with("/*"))
        skip_comment();
      else
        return;
    }
  }

  std::string_view rest_;
};

std::string first_word(std::string_view& text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  const std::string word(text.substr(0, end));
  text.remove_prefix(end);
  return word;
}

class Walk {
public:
  Walk(const UserHeader& user_header, const TextOf& text_of) : user_header_(user_header), text_of_(text_of) {}

  /// False when something else than includes was met: nothing after it counts.
  bool file(const std::filesystem::path& path, int depth) {
    if (depth > kDeepest || !seen_.insert(path).second)
      return depth <= kDeepest; // a second time a guarded header is empty
    const std::string text = text_of_(path);
    Directives directives(text);
    std::string directive, guard;
    bool first = true, closed = false;
    while (directives.next(directive)) {
      if (closed)
        return false; // after the guard's end
      std::string_view rest = directive;
      const std::string word = first_word(rest);
      if (word == "include") {
        if (!include(path, rest, depth))
          return false;
      } else if (word == "ifndef" && first) {
        guard = first_word(rest);
      } else if (word == "define") {
        if (const std::string name = first_word(rest); name != guard)
          out.macros.insert(name);
      } else if (word == "endif" && !guard.empty()) {
        closed = true;
      } else if (word != "pragma") {
        return false;
      }
      first = false;
    }
    return directives.at_end() && (guard.empty() || closed);
  }

  LeadingIncludes out;

private:
  bool include(const std::filesystem::path& includer, std::string_view rest, int depth) {
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
      rest.remove_prefix(1);
    if (rest.empty() || (rest.front() != '<' && rest.front() != '"'))
      return false; // a macro
    const bool quoted = rest.front() == '"';
    const std::size_t end = rest.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos)
      return false;
    const std::string name(rest.substr(1, end - 1));
    const std::filesystem::path header = user_header_(includer, name, quoted);
    if (!header.empty())
      return file(header, depth + 1);
    out.names.push_back(name);
    return true;
  }

  const UserHeader& user_header_;
  const TextOf& text_of_;
  std::set<std::filesystem::path> seen_;
};

} // namespace

LeadingIncludes leading_includes(const std::filesystem::path& source, const UserHeader& user_header, const TextOf& text_of) {
  Walk walk(user_header, text_of);
  walk.file(source, 0);
  return std::move(walk.out);
}

} // namespace reprobe::scan
