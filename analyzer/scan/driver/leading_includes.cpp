#include "analyzer/scan/driver/leading_includes.h"

#include <cctype>
#include <string_view>

namespace reprobe::scan {
namespace {

constexpr int kDeepest = 16;

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

  /// Up to the next directive or the end.
  void skip_code() {
    for (skip_blank(); !rest_.empty() && rest_.front() != '#'; skip_blank())
      while (!rest_.empty() && rest_.front() != '\n') {
        if (rest_.starts_with("//"))
          skip_line();
        else if (rest_.starts_with("/*"))
          skip_comment();
        else if (rest_.front() == '"' || rest_.front() == '\'')
          skip_literal();
        else
          rest_.remove_prefix(1);
      }
  }

private:
  void skip_literal() {
    const char quote = rest_.front();
    do
      rest_.remove_prefix(rest_.front() == '\\' && rest_.size() > 1 ? 2 : 1);
    while (!rest_.empty() && rest_.front() != quote && rest_.front() != '\n');
    if (rest_.starts_with(quote))
      rest_.remove_prefix(1);
  }
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

  void file(const std::filesystem::path& path, int depth) {
    if (depth > kDeepest || !seen_.insert(path).second) {
      leads_ = leads_ && depth <= kDeepest; // a second time a guarded header is empty
      return;
    }
    const std::string text = text_of_(path);
    Directives directives(text);
    std::string directive, guard;
    int conditions = 0;
    for (bool first = true, closed = false; !directives.at_end(); first = false) {
      if (!directives.next(directive)) {
        leads_ = leads_ && directives.at_end();
        directives.skip_code();
        continue;
      }
      leads_ = leads_ && !closed;
      std::string_view rest = directive;
      const std::string word = first_word(rest);
      if (word == "include") {
        if (conditions == 0)
          include(path, rest, depth);
      } else if (word == "ifndef" && first) {
        guard = first_word(rest);
      } else if (word == "define" || word == "undef") {
        if (const std::string name = first_word(rest); name != guard)
          (leads_ ? out.macros : out.later_macros).insert(name);
      } else if (word.starts_with("if")) {
        leads_ = false;
        ++conditions;
      } else if (word == "endif") {
        if (conditions > 0)
          --conditions;
        else
          closed = true;
      } else if (word != "pragma") {
        leads_ = false;
      }
    }
  }

  LeadingIncludes out;

private:
  void include(const std::filesystem::path& includer, std::string_view rest, int depth) {
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
      rest.remove_prefix(1);
    const bool quoted = rest.starts_with('"');
    const std::size_t end = quoted || rest.starts_with('<') ? rest.find(quoted ? '"' : '>', 1) : rest.npos;
    if (end == std::string_view::npos) {
      leads_ = false; // a macro
      return;
    }
    const std::string name(rest.substr(1, end - 1));
    const std::filesystem::path header = user_header_(includer, name, quoted);
    if (!header.empty())
      file(header, depth + 1);
    else
      (leads_ ? out.names : out.later).push_back(name);
  }

  const UserHeader& user_header_;
  const TextOf& text_of_;
  std::set<std::filesystem::path> seen_;
  bool leads_ = true; // nothing but includes has come so far
};

} // namespace

LeadingIncludes leading_includes(const std::filesystem::path& source, const UserHeader& user_header,
                                 const TextOf& text_of) {
  Walk walk(user_header, text_of);
  walk.file(source, 0);
  return std::move(walk.out);
}

} // namespace reprobe::scan
