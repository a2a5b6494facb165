// Where code stands and what it is called, in the words of facts.h.
#pragma once

#include "analyzer/scan/facts/extract.h"
#include "analyzer/scan/facts/undeclared.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/Basic/SourceManager.h>

#include <llvm/ADT/DenseMap.h>

#include <optional>
#include <unordered_map>

namespace reprobe::scan {

class SourceMap {
public:
  SourceMap(clang::ASTContext&, const ParseRequest&, TranslationUnit&);

  /// Macro bodies stand where the macro is expanded; macro arguments where they are written.
  Position position(clang::SourceLocation);
  Range range(clang::SourceRange);
  /// What stands in a file as it is used: not in a macro's body, though it may be a macro's argument.
  std::optional<Range> written_range(clang::SourceRange);
  llvm::StringRef raw_text(clang::SourceRange) const;
  std::string source_text(clang::SourceRange, std::size_t longest = 120) const;
  std::string outermost_macro(clang::SourceLocation) const;

  bool is_user(clang::SourceLocation);
  bool is_user(const clang::Decl*);
  /// All of the user's files that were read, each once; the unit lists them, also those that no fact stands
  /// in.
  std::vector<clang::FileID> user_files();
  /// Some declaration of it stands in the user's own files.
  bool is_declared_by_user(const clang::NamedDecl*);

  /// Stands in for something that no header declares.
  bool is_stand_in(const clang::Decl*) const;

  std::string qualified_name(const clang::NamedDecl*);
  std::string type_name(clang::QualType) const;
  std::vector<std::string> template_arguments(const clang::FunctionDecl*) const;
  std::string usr(const clang::Decl*);

  clang::ASTContext& context;
  const clang::SourceManager& sources;

private:
  struct File {
    std::uint32_t index;
    bool user;
  };
  const File& file_of(clang::FileID);
  SourceFile describe(clang::FileID);
  bool path_is_user(const std::filesystem::path&) const;
  std::string declaration_context(const clang::DeclContext*);
  std::string print(const clang::TemplateArgument&) const;
  std::size_t written_parts(clang::QualType) const;

  const ParseRequest& request_;
  TranslationUnit& unit_;
  clang::PrintingPolicy policy_;
  llvm::DenseMap<clang::FileID, File> files_;
  std::unordered_map<std::string, std::uint32_t> paths_;
  llvm::DenseMap<const clang::Decl*, std::string> lambda_usrs_;
  std::unordered_map<std::string, int> lambda_count_;
  mutable llvm::DenseMap<clang::QualType, std::string> types_;
  mutable llvm::DenseMap<const clang::Type*, std::size_t> parts_; // names that a canonical type is written with
};

} // namespace reprobe::scan
