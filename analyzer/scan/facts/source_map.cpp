#include "analyzer/scan/facts/source_map.h"

#include "analyzer/scan/facts/paths.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/Index/USRGeneration.h>
#include <clang/Lex/Lexer.h>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

namespace reprobe::scan {
namespace fs = std::filesystem;
using namespace clang;

namespace {

constexpr std::size_t kLongestType = 4000; // bytes
constexpr std::size_t kMostParts = 1000;

std::string shorten(std::string text, std::size_t longest) {
  std::string out;
  bool space = false;
  for (char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      space = !out.empty();
      continue;
    }
    if (space)
      out += ' ';
    space = false;
    out += c;
    if (out.size() > longest)
      break;
  }
  if (out.size() <= longest)
    return out;
  out.resize(longest);
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
    out.pop_back();
  if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0)
    out.pop_back();
  return out;
}

std::string digest_of(StringRef text) {
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

PrintingPolicy make_policy(const ASTContext& context) {
  PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  policy.SuppressInlineNamespace = llvm::to_underlying(PrintingPolicy::SuppressInlineNamespaceMode::All);
  policy.AnonymousTagLocations = false; // they would hold this machine's paths
  policy.UsePreferredNames = false;
  policy.SuppressUnwrittenScope = true;
  policy.PrintAsCanonical = true;
  return policy;
}

} // namespace

SourceMap::SourceMap(ASTContext& context, const ParseRequest& request, TranslationUnit& unit)
    : context(context), sources(context.getSourceManager()), request_(request), unit_(unit),
      policy_(make_policy(context)) {}

bool SourceMap::path_is_user(const fs::path& path) const {
  for (const fs::path& folder : request_.third_party_roots)
    if (!folder.empty() && lies_below(path, folder))
      return false;
  auto roots = request_.user_roots;
  if (roots.empty())
    roots.push_back(request_.root);
  for (const fs::path& root : roots) {
    if (!lies_below(path, root))
      continue;
    for (const fs::path& part : path.lexically_relative(root).parent_path())
      if (is_third_party(part.string()))
        return false;
    return true;
  }
  return false;
}

SourceFile SourceMap::describe(FileID id) {
  SourceFile file;
  file.user = false;
  if (OptionalFileEntryRef entry = sources.getFileEntryRefForID(id)) {
    fs::path path = fs::path(entry->getName().str());
    if (path.is_relative())
      path = request_.directory / path;
    path = path.lexically_normal();
    const bool main = id == sources.getMainFileID();
    // A header that includes itself or is scanned as the main file stays the user's.
    file.user = main || (!SrcMgr::isSystem(sources.getFileCharacteristic(sources.getLocForStartOfFile(id))) &&
                         path_is_user(path));
    file.path = lies_below(path, request_.root) ? path.lexically_relative(request_.root).generic_string()
                                                : path.generic_string();
  } else if (sources.isWrittenInBuiltinFile(sources.getLocForStartOfFile(id))) {
    file.path = "<built-in>";
  } else {
    file.path = "<generated>";
  }
  return file;
}

const SourceMap::File& SourceMap::file_of(FileID id) {
  if (auto found = files_.find(id); found != files_.end())
    return found->second;
  SourceFile file = describe(id);
  const bool user = file.user;
  auto [place, fresh] = paths_.try_emplace(file.path, static_cast<std::uint32_t>(unit_.files.size()));
  if (fresh) {
    if (user)
      file.digest = digest_of(sources.getBufferOrFake(id).getBuffer());
    unit_.files.push_back(std::move(file));
  }
  return files_.insert({id, File{place->second, user}}).first->second;
}

std::vector<FileID> SourceMap::user_files() {
  std::vector<FileID> files;
  std::set<StringRef> seen;
  // Files of a precompiled header are not local; none of them is the user's.
  for (unsigned i = 1; i < sources.local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile())
      continue;
    const FileID id = sources.getFileID(SourceLocation::getFromRawEncoding(entry.getOffset()));
    const OptionalFileEntryRef file = sources.getFileEntryRefForID(id);
    if (!file || !describe(id).user || !seen.insert(file->getName()).second)
      continue;
    file_of(id);
    files.push_back(id);
  }
  return files;
}

Position SourceMap::position(SourceLocation where) {
  if (where.isInvalid())
    return {};
  const SourceLocation place = sources.getFileLoc(where);
  const auto [id, offset] = sources.getDecomposedLoc(place);
  if (id.isInvalid())
    return {};
  return {file_of(id).index, sources.getLineNumber(id, offset), sources.getColumnNumber(id, offset), offset};
}

namespace {

// The last token's place: of a macro that is expanded, its closing parenthesis rather than its name.
SourceLocation end_of_token(SourceLocation end, const SourceManager& sources, const LangOptions& language) {
  if (end.isMacroID() && !sources.isMacroArgExpansion(end)) {
    SourceLocation outer = end;
    while (outer.isMacroID() && !sources.isMacroArgExpansion(outer))
      outer = sources.getImmediateExpansionRange(outer).getEnd();
    end = outer;
  }
  end = sources.getFileLoc(end);
  return Lexer::getLocForEndOfToken(end, 0, sources, language);
}

} // namespace

Range SourceMap::range(SourceRange where) {
  Range out;
  out.begin = position(where.getBegin());
  const SourceLocation end = where.getEnd().isValid()
                                 ? end_of_token(where.getEnd(), sources, context.getLangOpts())
                                 : SourceLocation();
  out.end = position(end);
  if (end.isInvalid() || out.end.file != out.begin.file || out.end.offset < out.begin.offset)
    out.end = out.begin;
  return out;
}

std::optional<Range> SourceMap::written_range(SourceRange where) {
  if (where.isInvalid())
    return std::nullopt;
  const CharSourceRange written =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(where), sources, context.getLangOpts());
  if (written.isInvalid())
    return std::nullopt;
  const Range out{position(written.getBegin()), position(written.getEnd())};
  return out.begin.file == out.end.file && out.begin.offset < out.end.offset ? std::optional(out)
                                                                             : std::nullopt;
}

StringRef SourceMap::raw_text(SourceRange where) const {
  if (where.isInvalid())
    return {};
  const SourceLocation begin = sources.getFileLoc(where.getBegin());
  const SourceLocation end = end_of_token(where.getEnd(), sources, context.getLangOpts());
  if (begin.isInvalid() || end.isInvalid())
    return {};
  const auto [begin_file, from] = sources.getDecomposedLoc(begin);
  const auto [end_file, to] = sources.getDecomposedLoc(end);
  if (begin_file != end_file || to <= from)
    return {};
  bool invalid = false;
  const StringRef text = sources.getBufferData(begin_file, &invalid);
  return invalid || to > text.size() ? StringRef() : text.slice(from, to);
}

std::string SourceMap::source_text(SourceRange where, std::size_t longest) const {
  return shorten(raw_text(where).take_front(8 * longest).str(), longest);
}

std::string SourceMap::outermost_macro(SourceLocation where) const {
  std::string name;
  while (where.isMacroID()) {
    name = Lexer::getImmediateMacroName(where, sources, context.getLangOpts()).str();
    where = sources.getImmediateMacroCallerLoc(where);
  }
  return name;
}

bool SourceMap::is_user(SourceLocation where) {
  if (where.isInvalid())
    return false;
  const FileID id = sources.getFileID(sources.getFileLoc(where));
  return id.isValid() && file_of(id).user;
}

bool SourceMap::is_user(const Decl* declaration) {
  return declaration && is_user(declaration->getLocation());
}

bool SourceMap::is_declared_by_user(const NamedDecl* declaration) {
  if (!declaration)
    return false;
  if (const auto* function = dyn_cast<FunctionDecl>(declaration); function && function->getBuiltinID() != 0)
    return false; // declared where it is first used
  for (const Decl* other : declaration->redecls())
    if (is_user(other))
      return true;
  if (const auto* function = dyn_cast<FunctionDecl>(declaration))
    if (const FunctionDecl* pattern = function->getTemplateInstantiationPattern(false))
      return is_user(pattern);
  return false;
}

bool SourceMap::is_stand_in(const Decl* declaration) const {
  const SourceLocation where = declaration ? declaration->getLocation() : SourceLocation();
  return where.isValid() && sources.getFilename(sources.getFileLoc(where)) == kUndeclaredHeader;
}

std::string SourceMap::declaration_context(const DeclContext* scope) {
  std::string prefix;
  for (; scope && !scope->isTranslationUnit(); scope = scope->getParent()) {
    if (const auto* space = dyn_cast<NamespaceDecl>(scope)) {
      if (space->isInline() || space->isAnonymousNamespace())
        continue;
      prefix = space->getNameAsString() + "::" + prefix;
    } else if (const auto* record = dyn_cast<CXXRecordDecl>(scope); record && record->isLambda()) {
      return qualified_name(record) + "::" + prefix;
    } else if (const auto* enumeration = dyn_cast<EnumDecl>(scope)) {
      if (enumeration->isScoped())
        prefix = enumeration->getNameAsString() + "::" + prefix;
    } else if (const auto* named = dyn_cast<NamedDecl>(scope)) {
      if (isa<FunctionDecl>(named))
        return qualified_name(named) + "::" + prefix;
      if (named->getDeclName())
        prefix = named->getNameAsString() + "::" + prefix;
    }
  }
  return prefix;
}

std::string SourceMap::qualified_name(const NamedDecl* declaration) {
  if (!declaration)
    return {};
  if (const auto* method = dyn_cast<CXXMethodDecl>(declaration))
    if (method->getParent()->isLambda() && method->getOverloadedOperator() == OO_Call)
      return qualified_name(method->getParent());
  if (const auto* record = dyn_cast<CXXRecordDecl>(declaration); record && record->isLambda())
    return declaration_context(record->getDeclContext()) + "<lambda>";
  std::string name = declaration_context(declaration->getDeclContext());
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(declaration))
    return name + constructor->getParent()->getNameAsString();
  if (const auto* destructor = dyn_cast<CXXDestructorDecl>(declaration))
    return name + "~" + destructor->getParent()->getNameAsString();
  if (const auto* conversion = dyn_cast<CXXConversionDecl>(declaration))
    return name + "operator " + type_name(conversion->getConversionType());
  return name + declaration->getNameAsString();
}

// How many names a type is written with, at most. Each layer of `Foo<T, T, T>` writes the one below three times:
// a few lines make names of gigabytes.
std::size_t SourceMap::written_parts(QualType type) const {
  const Type* canonical = type.getCanonicalType().getTypePtr();
  if (const auto known = parts_.find(canonical); known != parts_.end())
    return known->second;
  parts_[canonical] = 1; // of a type that holds itself
  std::size_t parts = 1;
  const auto add = [&](QualType part) {
    if (!part.isNull() && parts <= kMostParts)
      parts += written_parts(part);
  };
  if (const auto* function = dyn_cast<FunctionProtoType>(canonical)) {
    add(function->getReturnType());
    for (const QualType parameter : function->param_types())
      add(parameter);
  } else if (const QualType pointee = canonical->getPointeeType(); !pointee.isNull()) {
    add(pointee);
  } else if (const auto* array = dyn_cast<ArrayType>(canonical)) {
    add(array->getElementType());
  } else {
    // The classes around it are written with their arguments as well.
    const DeclContext* scope = canonical->getAsTagDecl();
    for (; scope && !scope->isTranslationUnit(); scope = scope->getParent())
      if (const auto* special = dyn_cast<ClassTemplateSpecializationDecl>(scope))
        for (const TemplateArgument& argument : special->getTemplateArgs().asArray())
          for (const TemplateArgument& element : argument.getKind() == TemplateArgument::Pack
                                                     ? argument.pack_elements()
                                                     : ArrayRef(argument))
            if (element.getKind() == TemplateArgument::Type)
              add(element.getAsType());
  }
  return parts_[canonical] = parts;
}

std::string SourceMap::type_name(QualType type) const {
  if (type.isNull())
    return {};
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const auto* record = type->getBaseElementTypeUnsafe()->getAsRecordDecl(); record && is_stand_in(record))
    return {};
  if (type->isDependentType() || type->containsErrors() || type->isPlaceholderType())
    return {};
  auto [place, fresh] = types_.try_emplace(type);
  if (fresh) {
    if (written_parts(type) > kMostParts) {
      const auto* record = type->getBaseElementTypeUnsafe()->getAsRecordDecl();
      return place->second = record ? record->getNameAsString() + "<...>" : "";
    }
    place->second = type.getAsString(policy_);
    if (StringRef(place->second).starts_with(kUndeclaredNamespace))
      place->second.clear();
    if (place->second.size() > kLongestType)
      place->second.resize(kLongestType);
  }
  return place->second;
}

std::string SourceMap::print(const TemplateArgument& argument) const {
  if (argument.getKind() == TemplateArgument::Type)
    return type_name(argument.getAsType());
  std::string text;
  llvm::raw_string_ostream out(text);
  argument.print(policy_, out, true);
  if (text.size() > kLongestType)
    text.resize(kLongestType);
  return text;
}

std::vector<std::string> SourceMap::template_arguments(const FunctionDecl* function) const {
  const TemplateArgumentList* arguments = function->getTemplateSpecializationArgs();
  if (!arguments)
    if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function))
      if (const auto* special = dyn_cast<ClassTemplateSpecializationDecl>(constructor->getParent()))
        arguments = &special->getTemplateArgs();
  std::vector<std::string> out;
  if (!arguments)
    return out;
  for (const TemplateArgument& argument : arguments->asArray())
    if (argument.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument& element : argument.pack_elements())
        out.push_back(print(element));
    else
      out.push_back(print(argument));
  return out;
}

std::string SourceMap::usr(const Decl* declaration) {
  if (!declaration)
    return {};
  llvm::SmallString<128> buffer;
  const auto* method = dyn_cast<CXXMethodDecl>(declaration);
  const bool lambda = method && method->getParent()->isLambda();
  if (lambda)
    if (auto known = lambda_usrs_.find(declaration); known != lambda_usrs_.end())
      return known->second;
  if (index::generateUSRForDecl(declaration, buffer))
    buffer.clear();
  std::string usr = buffer.str().str();
  if (!lambda)
    return usr;
  // One lambda written as a macro's argument is parsed once per use of that argument, all with the same name.
  usr += "@" + std::to_string(position(method->getLocation()).offset);
  if (const int earlier = lambda_count_[usr]++)
    usr += "#" + std::to_string(earlier);
  return lambda_usrs_[declaration] = usr;
}

} // namespace reprobe::scan
