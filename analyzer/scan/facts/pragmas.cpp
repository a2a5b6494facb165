#include "analyzer/scan/facts/pragmas.h"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <array>

namespace reprobe::scan {
using namespace clang;

namespace {

constexpr std::size_t kMostPragmas = 10000; // of one file

bool is_matter_of_computation(StringRef text) {
  static constexpr std::array<StringRef, 7> starts = {
      "omp ", "acc ", "STDC ", "GCC optimize", "clang fp", "float_control", "fp_contract"};
  return std::any_of(starts.begin(), starts.end(), [&](StringRef start) { return text.starts_with(start); });
}

// The tokens of one file, without preprocessor lines; these stand beside, with the token that they precede.
class Text {
public:
  Text(SourceLocation start, StringRef buffer, const LangOptions& language)
      : buffer_(buffer), base_(start.getRawEncoding()) {
    Lexer lexer(start, language, buffer.begin(), buffer.begin(), buffer.end());
    Token token;
    lexer.LexFromRawLexer(token);
    while (token.isNot(tok::eof)) {
      if (token.is(tok::hash) && token.isAtStartOfLine())
        read_directive(lexer, token);
      else
        tokens_.push_back(kept(token)), lexer.LexFromRawLexer(token);
    }
  }

  struct Directive {
    std::size_t offset, next; // of its `#`; index of the token after it
    std::string text;
  };
  const std::vector<Directive>& pragmas() const { return pragmas_; }

  /// Offsets of the statement that starts at token `first`: begin, end.
  std::pair<std::size_t, std::size_t> statement(std::size_t first) const {
    if (first >= tokens_.size())
      return {buffer_.size(), buffer_.size()};
    const std::size_t last = std::min(end_of_statement(first, 0), tokens_.size()) - 1;
    return {tokens_[first].offset, tokens_[last].offset + tokens_[last].length};
  }

private:
  struct Kept {
    tok::TokenKind kind;
    std::size_t offset, length;
  };

  std::size_t offset_of(const Token& token) const { return token.getLocation().getRawEncoding() - base_; }
  Kept kept(const Token& token) { return {token.getKind(), offset_of(token), token.getLength()}; }

  void read_directive(Lexer& lexer, Token& token) {
    Directive directive{offset_of(token), tokens_.size(), {}};
    lexer.LexFromRawLexer(token);
    const bool is_pragma = token.is(tok::raw_identifier) && token.getRawIdentifier() == "pragma";
    while (token.isNot(tok::eof) && !token.isAtStartOfLine()) {
      lexer.LexFromRawLexer(token);
      if (!is_pragma || token.is(tok::eof) || token.isAtStartOfLine())
        continue;
      if (!directive.text.empty() && token.hasLeadingSpace())
        directive.text += ' ';
      directive.text += buffer_.substr(offset_of(token), token.getLength()).str();
    }
    if (is_pragma && pragmas_.size() < kMostPragmas && is_matter_of_computation(directive.text))
      pragmas_.push_back(std::move(directive));
  }

  StringRef word(std::size_t i) const {
    return i < tokens_.size() ? buffer_.substr(tokens_[i].offset, tokens_[i].length) : StringRef();
  }

  // One past the token that closes what token `open` opens.
  std::size_t past_closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const tok::TokenKind kind = tokens_[i].kind;
      if (kind == tok::l_brace || kind == tok::l_paren || kind == tok::l_square)
        ++depth;
      if ((kind == tok::r_brace || kind == tok::r_paren || kind == tok::r_square) && --depth == 0)
        return i + 1;
    }
    return tokens_.size();
  }

  std::size_t end_of_statement(std::size_t i, int depth) const {
    constexpr int kDeepest = 200;
    if (i >= tokens_.size() || depth > kDeepest)
      return tokens_.size();
    if (tokens_[i].kind == tok::l_brace)
      return past_closing(i);
    const StringRef keyword = word(i);
    if (keyword == "for" || keyword == "while" || keyword == "if" || keyword == "switch") {
      while (i < tokens_.size() && tokens_[i].kind != tok::l_paren) // `if constexpr (`
        ++i;
      std::size_t end = end_of_statement(past_closing(i), depth + 1);
      if (keyword == "if" && word(end) == "else")
        end = end_of_statement(end + 1, depth + 1);
      return end;
    }
    while (i < tokens_.size() && tokens_[i].kind != tok::semi) {
      const tok::TokenKind kind = tokens_[i].kind;
      if (kind == tok::r_brace)
        return i; // the enclosing block ends
      i = kind == tok::l_brace || kind == tok::l_paren || kind == tok::l_square ? past_closing(i) : i + 1;
    }
    return i + 1;
  }

  StringRef buffer_;
  unsigned base_; // encoding of the file's first character
  std::vector<Kept> tokens_;
  std::vector<Directive> pragmas_;
};

} // namespace

void add_pragmas(SourceMap& map, const std::vector<FileID>& files, const LangOptions& language,
                 TranslationUnit& unit) {
  const SourceManager& sources = map.sources;
  for (const FileID id : files) {
    const StringRef buffer = sources.getBufferOrFake(id).getBuffer();
    if (!buffer.contains("pragma"))
      continue;
    const SourceLocation start = sources.getLocForStartOfFile(id);
    const Text text(start, buffer, language);
    const auto place = [&](std::size_t offset) {
      return map.position(start.getLocWithOffset(static_cast<int>(offset)));
    };
    for (const Text::Directive& directive : text.pragmas()) {
      const auto [begin, end] = text.statement(directive.next);
      unit.pragmas.push_back({place(directive.offset), directive.text, {place(begin), place(end)}});
    }
  }
}

} // namespace reprobe::scan
