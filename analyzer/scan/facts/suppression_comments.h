// NOLINT comments, as Clang's lexer finds them: never inside string literals, and in headers as in sources.
#pragma once

#include "analyzer/scan/facts/source_map.h"

#include <clang/Lex/Preprocessor.h>

#include <vector>

namespace reprobe::scan {

class SuppressionComments : public clang::CommentHandler {
public:
  bool HandleComment(clang::Preprocessor&, clang::SourceRange) override;
  /// Those in the user's own files, one a word that starts with NOLINT, in source order of each file.
  void add_to(TranslationUnit&, SourceMap&) const;

private:
  std::vector<clang::SourceRange> comments_; // that hold such a word
};

} // namespace reprobe::scan
