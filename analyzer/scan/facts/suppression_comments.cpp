#include "analyzer/scan/facts/suppression_comments.h"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cctype>

namespace reprobe::scan {
namespace {

constexpr llvm::StringLiteral kWord = "NOLINT";
constexpr std::size_t kMostComments = 10000, kLongest = 500;

bool continues_a_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

} // namespace

bool SuppressionComments::HandleComment(clang::Preprocessor& preprocessor, clang::SourceRange comment) {
  const clang::SourceManager& sources = preprocessor.getSourceManager();
  const auto [file, begin] = sources.getDecomposedLoc(comment.getBegin());
  const auto [end_file, end] = sources.getDecomposedLoc(comment.getEnd());
  bool invalid = false;
  const llvm::StringRef text = sources.getBufferData(file, &invalid);
  if (!invalid && file == end_file && begin < end && end <= text.size() && comments_.size() < kMostComments &&
      text.slice(begin, end).contains(kWord))
    comments_.push_back(comment);
  return false; // nothing was added to the token stream
}

void SuppressionComments::add_to(TranslationUnit& unit, SourceMap& map) const {
  const clang::SourceManager& sources = map.sources;
  for (const clang::SourceRange& comment : comments_) {
    if (!map.is_user(comment.getBegin()))
      continue;
    const auto [file, begin] = sources.getDecomposedLoc(comment.getBegin());
    const std::size_t length = sources.getFileOffset(comment.getEnd()) - begin;
    const llvm::StringRef text = sources.getBufferData(file).substr(begin, length);
    for (std::size_t at = text.find(kWord); at != llvm::StringRef::npos;
         at = text.find(kWord, at + kWord.size())) {
      if (at > 0 && continues_a_word(text[at - 1]))
        continue;
      llvm::StringRef line = text.substr(at).take_until([](char c) { return c == '\n' || c == '\r'; });
      line.consume_back("*/");
      const Position where = map.position(comment.getBegin().getLocWithOffset(static_cast<int>(at)));
      unit.suppressions.push_back({where, line.take_front(kLongest).rtrim().str()});
    }
  }
  // A file that is included twice is lexed twice.
  const auto key = [](const SuppressionComment& s) { return std::pair(s.where.file, s.where.offset); };
  std::sort(unit.suppressions.begin(), unit.suppressions.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  unit.suppressions.erase(std::unique(unit.suppressions.begin(), unit.suppressions.end(),
                                      [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                          unit.suppressions.end());
}

} // namespace reprobe::scan
