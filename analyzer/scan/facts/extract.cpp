#include "analyzer/scan/facts/extract.h"

#include "analyzer/scan/facts/fields.h"
#include "analyzer/scan/facts/lower.h"
#include "analyzer/scan/facts/observed_files.h"
#include "analyzer/scan/facts/parse_options.h"
#include "analyzer/scan/facts/pragmas.h"
#include "analyzer/scan/facts/precompile.h"
#include "analyzer/scan/facts/suppression_comments.h"
#include "analyzer/scan/facts/undeclared.h"
#include "rules/error.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Sema/Scope.h>
#include <clang/Sema/Sema.h>
#include <clang/Tooling/Tooling.h>

#include <llvm/ADT/ScopeExit.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace reprobe::scan {
namespace fs = std::filesystem;
using namespace clang;

namespace {

constexpr std::size_t kMostInstantiations = 16; // of one function: more say nothing new
constexpr std::size_t kMostRounds = 20000;      // instantiations of the user's templates
constexpr unsigned kMostConstantSteps = 100000; // of one constant expression

struct Include {
  SourceLocation where;
  std::string name;
  bool found;
};

// What one parse leaves besides the syntax tree.
struct Parse {
  std::vector<Include> includes;
  std::uint32_t errors = 0;
  bool foreign_errors = false;    // outside the user's own files
  std::string first_error, fatal; // with file and line
  Undeclared undeclared;          // without them clang drops whole statements, with all that they call
  std::string user_sources;       // text of the user's files, kept if something is undeclared
  SuppressionComments suppressions;
  bool finished = false;
};

class Includes : public PPCallbacks {
public:
  explicit Includes(Parse& parse) : parse_(parse) {}
  void InclusionDirective(SourceLocation where, const Token&, StringRef name, bool, CharSourceRange,
                          OptionalFileEntryRef file, StringRef, StringRef, const clang::Module*, bool,
                          SrcMgr::CharacteristicKind) override {
    parse_.includes.push_back({where, name.str(), file.has_value()});
  }

private:
  Parse& parse_;
};

class Diagnostics : public DiagnosticConsumer {
public:
  Diagnostics(Parse& parse, const ParseRequest& request)
      : parse_(parse), request_(request), root_(request.root) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& diagnostic) override {
    if (level < DiagnosticsEngine::Error)
      return;
    ++parse_.errors;
    parse_.foreign_errors = parse_.foreign_errors || is_foreign(diagnostic);
    llvm::SmallString<256> message;
    diagnostic.FormatDiagnostic(message);
    if (diagnostic.hasSourceManager())
      note_undeclared(diagnostic);
    if (parse_.first_error.empty())
      parse_.first_error = place(diagnostic) + message.str().str();
    if (level == DiagnosticsEngine::Fatal && parse_.fatal.empty())
      parse_.fatal = parse_.first_error;
  }

private:
  bool is_foreign(const Diagnostic& diagnostic) const {
    if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid())
      return true;
    const SourceManager& sources = diagnostic.getSourceManager();
    const fs::path file = sources.getFilename(sources.getFileLoc(diagnostic.getLocation())).str();
    const auto lies_below = [&](const fs::path& folder) {
      const fs::path relative = file.lexically_relative(folder);
      return !relative.empty() && *relative.begin() != "..";
    };
    return file != request_.main_file && !file.string().starts_with(kUndeclaredHeader) &&
           !lies_below(root_) &&
           std::none_of(request_.user_roots.begin(), request_.user_roots.end(), lies_below);
  }

  std::string place(const Diagnostic& diagnostic) const {
    if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid())
      return {};
    const PresumedLoc where = diagnostic.getSourceManager().getPresumedLoc(
        diagnostic.getSourceManager().getFileLoc(diagnostic.getLocation()));
    if (where.isInvalid())
      return {};
    const fs::path relative = fs::path(where.getFilename()).lexically_relative(root_);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return (below ? relative.generic_string() : std::string(where.getFilename())) + ":" +
           std::to_string(where.getLine()) + ": ";
  }

  void note_undeclared(const Diagnostic& diagnostic) {
    const SourceManager& sources = diagnostic.getSourceManager();
    if (diagnostic.getLocation().isInvalid())
      return;
    const auto [file, offset] = sources.getDecomposedLoc(sources.getFileLoc(diagnostic.getLocation()));
    bool invalid = false;
    const StringRef text = sources.getBufferData(file, &invalid);
    if (invalid || offset >= text.size())
      return;
    const StringRef rest = text.substr(offset, 300);
    const StringRef name =
        rest.take_while([](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    llvm::SmallString<256> message;
    diagnostic.FormatDiagnostic(message);
    if (name.empty() || isdigit(static_cast<unsigned char>(name[0])) ||
        !message.str().contains(("undeclared identifier '" + name + "'").str()))
      return;
    const StringRef after = rest.drop_front(name.size()).ltrim();
    if (after.starts_with("::"))
      parse_.undeclared.namespaces.insert(name.str());
    else if (!after.starts_with("("))
      parse_.undeclared.variables.insert(name.str()); // calls are kept anyway
  }

  Parse& parse_;
  const ParseRequest& request_;
  fs::path root_;
};

// Instantiated for floating-point numbers, or for a class such as c10::Half.
bool is_over_reals(const FunctionDecl* function) {
  const auto is_real = [](const TemplateArgument& argument) {
    if (argument.getKind() != TemplateArgument::Type)
      return false;
    const QualType type = argument.getAsType().getCanonicalType();
    return type->isRealFloatingType() || type->isRecordType();
  };
  const auto any_real = [&](const TemplateArgumentList* arguments) {
    return arguments && std::any_of(arguments->asArray().begin(), arguments->asArray().end(), is_real);
  };
  const auto* owner = dyn_cast<ClassTemplateSpecializationDecl>(function->getDeclContext());
  return any_real(function->getTemplateSpecializationArgs()) ||
         (owner && any_real(&owner->getTemplateArgs()));
}

// Everything of the user's that has a body or an initialiser.
class Collector : public RecursiveASTVisitor<Collector> {
public:
  explicit Collector(SourceMap& map) : map_(map) {}

  std::vector<const FunctionDecl*> functions;
  std::vector<const ValueDecl*> globals;
  std::vector<const CXXRecordDecl*> records; // with member initialisers and no constructor that runs them

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(const FunctionDecl* function) {
    if (function->doesThisDeclarationHaveABody() && !function->isDefaulted())
      add(function);
    return true;
  }

  bool VisitLambdaExpr(const LambdaExpr* lambda) {
    const CXXMethodDecl* body = lambda->getCallOperator();
    add(body);
    if (const FunctionTemplateDecl* generic = lambda->getDependentCallOperator())
      for (const FunctionDecl* instance : generic->specializations())
        if (instance->hasBody())
          add(instance);
    return true;
  }

  bool VisitVarDecl(const VarDecl* variable) {
    if (variable->hasGlobalStorage() && !variable->isStaticLocal() && variable->hasInit() &&
        !variable->getDeclContext()->isDependentContext() && !variable->isTemplated() &&
        variable == variable->getInitializingDeclaration() && map_.is_user(variable))
      globals.push_back(variable);
    return true;
  }

  bool VisitCXXRecordDecl(const CXXRecordDecl* record) {
    if (!record->isThisDeclarationADefinition() || record->isLambda() || record->isDependentContext() ||
        !map_.is_user(record))
      return true;
    const auto runs_initializers = [](const CXXConstructorDecl* constructor) {
      return constructor->isUserProvided();
    };
    const bool members = std::any_of(record->field_begin(), record->field_end(), [](const FieldDecl* field) {
      return field->getInClassInitializer() != nullptr;
    });
    if (members && std::none_of(record->ctor_begin(), record->ctor_end(), runs_initializers))
      records.push_back(record);
    return true;
  }

  // Instantiations without their pattern; a pattern only where nothing was instantiated.
  std::vector<const FunctionDecl*> chosen() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const FunctionDecl*>> instances;
    const auto key = [&](const FunctionDecl* function) {
      const Position where = map_.position(function->getLocation());
      return std::pair(where.file, where.offset);
    };
    for (const FunctionDecl* function : functions)
      if (!function->isDependentContext())
        instances[key(function)].push_back(function);
    std::set<const FunctionDecl*> kept;
    for (auto& [place, group] : instances) {
      // Dispatch over types begins with integers, and rounding is what matters here.
      if (group.size() > kMostInstantiations)
        std::stable_partition(group.begin(), group.end(), is_over_reals);
      group.resize(std::min(group.size(), kMostInstantiations));
      kept.insert(group.begin(), group.end());
    }
    std::vector<const FunctionDecl*> out;
    for (const FunctionDecl* function : functions)
      if (function->isDependentContext() ? !instances.contains(key(function)) : kept.contains(function))
        out.push_back(function);
    return out;
  }

private:
  void add(const FunctionDecl* function) {
    if (map_.is_user(function) && seen_.insert(function).second)
      functions.push_back(function);
  }

  SourceMap& map_;
  std::set<const FunctionDecl*> seen_;
};

class Consumer : public ASTConsumer {
public:
  /// Without a compiler the translation unit is complete: nothing is left to instantiate.
  Consumer(CompilerInstance* compiler, Preprocessor& preprocessor, const ParseRequest& request, Parse& parse,
           TranslationUnit& unit)
      : compiler_(compiler), preprocessor_(preprocessor), request_(request), parse_(parse), unit_(unit) {}

  void Initialize(ASTContext& context) override { map_.emplace(context, request_, unit_); }

  bool shouldSkipFunctionBody(Decl* declaration) override {
    return !map_ || !map_->is_user(declaration->getLocation());
  }

  void HandleTranslationUnit(ASTContext& context) override {
    map_->position(
        context.getSourceManager().getLocForStartOfFile(context.getSourceManager().getMainFileID()));
    instantiate_user_templates();
    describe_unit(context);
    parse_.suppressions.add_to(unit_, *map_);
    const std::vector<FileID> files = map_->user_files();
    Collector collector(*map_);
    // Of a precompiled header nothing is the user's, so it need not be loaded for this.
    for (Decl* declaration : context.getTranslationUnitDecl()->noload_decls())
      if (map_->is_user(declaration))
        collector.TraverseDecl(declaration);
    for (const FunctionDecl* function : collector.chosen())
      add_function(function);
    for (const CXXRecordDecl* record : collector.records)
      add_record(record);
    if (!collector.globals.empty())
      add_globals(collector.globals);
    add_pragmas(*map_, files, context.getLangOpts(), unit_);
    if (!parse_.undeclared.empty())
      for (const FileID id : files)
        parse_.user_sources += context.getSourceManager().getBufferOrFake(id).getBuffer().str() + "\n";
    parse_.finished = true;
  }

private:
  // A translation unit prefix ends before clang instantiates what is pending.
  void instantiate_user_templates() {
    if (!compiler_)
      return;
    Sema& sema = compiler_->getSema();
    // The parser has closed its scope, and builtins are declared in it when they are first used.
    Scope scope(nullptr, Scope::DeclScope, sema.getDiagnostics());
    scope.setEntity(sema.getASTContext().getTranslationUnitDecl());
    Scope* const closed = std::exchange(sema.TUScope, &scope);
    const auto restore = llvm::scope_exit([&] { sema.TUScope = closed; });
    const auto is_users = [&](const FunctionDecl* function) {
      const FunctionDecl* pattern = function->getTemplateInstantiationPattern();
      return pattern && map_->is_user(pattern);
    };
    for (std::size_t round = 0; !sema.PendingInstantiations.empty() && round < kMostRounds; ++round) {
      const auto [declaration, where] = sema.PendingInstantiations.front();
      sema.PendingInstantiations.pop_front();
      auto* function = dyn_cast<FunctionDecl>(declaration);
      if (function && !function->isDefined() && is_users(function))
        sema.InstantiateFunctionDefinition(where, function, false, false, true);
    }
  }

  void describe_unit(ASTContext& context) {
    const LangOptions& language = context.getLangOpts();
    unit_.language = language.HIP ? "hip" : language.CUDA ? "cuda" : language.CPlusPlus ? "c++" : "c";
    for (const Include& include : parse_.includes) {
      if (map_->is_user(include.where))
        unit_.includes.push_back(include.name);
      if (!include.found)
        unit_.missing_headers.push_back(include.name);
    }
    const auto unique = [](std::vector<std::string>& names) {
      std::set<std::string> seen;
      std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
    };
    unique(unit_.includes), unique(unit_.missing_headers);
    unit_.libtorch_version = libtorch_version(context.getSourceManager());
    if (const auto version = macro_number("CUDART_VERSION"))
      unit_.cuda_version = std::to_string(*version / 1000) + "." + std::to_string(*version % 1000 / 10);
  }

  std::optional<unsigned> macro_number(StringRef name) {
    const MacroInfo* macro = preprocessor_.getMacroInfo(preprocessor_.getIdentifierInfo(name));
    if (!macro || macro->getNumTokens() != 1 || !macro->getReplacementToken(0).is(tok::numeric_constant))
      return {};
    unsigned number = 0;
    if (StringRef(preprocessor_.getSpelling(macro->getReplacementToken(0))).getAsInteger(10, number))
      return {};
    return number;
  }

  std::string libtorch_version(const SourceManager& sources) {
    if (preprocessor_.getMacroInfo(preprocessor_.getIdentifierInfo("REPROBE_LIBTORCH_DECLARATIONS")))
      return "declarations";
    const auto major = macro_number("TORCH_VERSION_MAJOR"), minor = macro_number("TORCH_VERSION_MINOR"),
               patch = macro_number("TORCH_VERSION_PATCH");
    if (major && minor && patch)
      return std::to_string(*major) + "." + std::to_string(*minor) + "." + std::to_string(*patch);
    if (const std::string root = precompiled_root(); !root.empty())
      return version_below(root);
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
      const std::string name = file->first.getName().str();
      for (const char* known : {"/c10/macros/Macros.h", "/c10/macros/Export.h", "/ATen/core/TensorBody.h"})
        if (StringRef(name).ends_with(known))
          return version_below(name.substr(0, name.size() - StringRef(known).size()));
    }
    return {};
  }

  // Files of a precompiled header are not among the sources: the folder that it was found in.
  std::string precompiled_root() {
    const std::string& header = request_.precompiled_header;
    if (request_.precompiled.empty() || !StringRef(header).starts_with("ATen/"))
      return {};
    const OptionalFileEntryRef file = preprocessor_.getHeaderSearchInfo().LookupFile(
        header, SourceLocation(), /*isAngled=*/true, nullptr, nullptr, {}, nullptr, nullptr, nullptr, nullptr,
        nullptr, nullptr);
    return file ? file->getName().drop_back(header.size() + 1).str() : std::string();
  }

  // A file that includes only parts of LibTorch does not see its version header.
  static std::string version_below(const fs::path& include) {
    for (const char* place : {"torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"}) {
      std::ifstream in(include / place);
      std::string word, numbers[3];
      while (in >> word) {
        if (word == "TORCH_VERSION_MAJOR" && numbers[0].empty())
          in >> numbers[0];
        if (word == "TORCH_VERSION_MINOR" && numbers[1].empty())
          in >> numbers[1];
        if (word == "TORCH_VERSION_PATCH" && numbers[2].empty())
          in >> numbers[2];
      }
      if (!numbers[0].empty())
        return numbers[0] + "." + numbers[1] + "." + numbers[2];
    }
    return "unknown";
  }

  std::string enclosing_usr(const CXXMethodDecl* lambda) {
    const DeclContext* scope = lambda->getParent()->getDeclContext();
    while (scope && !scope->isFileContext()) {
      if (const auto* function = dyn_cast<FunctionDecl>(scope))
        return map_->usr(function);
      if (const auto* record = dyn_cast<CXXRecordDecl>(scope); record && !record->isLambda())
        return map_->usr(record) + "#initializers";
      scope = scope->getParent();
    }
    return "<static-init>";
  }

  void add_function(const FunctionDecl* declaration) {
    Function& function = unit_.functions.emplace_back();
    function.usr = map_->usr(declaration);
    function.name = map_->qualified_name(declaration);
    function.range = map_->range(declaration->getSourceRange());
    for (const ParmVarDecl* parameter : declaration->parameters())
      function.parameters.push_back({parameter->getNameAsString(),
                                     is_trustworthy(parameter) ? map_->type_name(parameter->getType()) : "",
                                     map_->usr(parameter), parameter->getType()->isReferenceType()});
    if (is_trustworthy(declaration))
      function.result_type = map_->type_name(declaration->getReturnType());
    function.is_main = declaration->isMain();
    function.is_constructor = isa<CXXConstructorDecl>(declaration);
    function.is_kernel = declaration->hasAttr<CUDAGlobalAttr>();
    function.is_device = declaration->hasAttr<CUDADeviceAttr>();
    function.is_template_pattern = declaration->isDependentContext();
    if (const auto* method = dyn_cast<CXXMethodDecl>(declaration)) {
      function.is_lambda = method->getParent()->isLambda();
      function.owner = function.is_lambda ? enclosing_usr(method) : map_->qualified_name(method->getParent());
      add_overridden(method, function.overrides);
    }
    Lowering lowering(*map_, function);
    lowering.lower(declaration, request_.graphs);
  }

  void add_overridden(const CXXMethodDecl* method, std::vector<std::string>& usrs) {
    for (const CXXMethodDecl* base : method->overridden_methods()) {
      usrs.push_back(map_->usr(base));
      add_overridden(base, usrs);
    }
  }

  void add_record(const CXXRecordDecl* record) {
    Function& function = unit_.functions.emplace_back();
    function.usr = map_->usr(record) + "#initializers";
    function.owner = map_->qualified_name(record);
    function.name = function.owner + "::" + record->getNameAsString();
    function.range = map_->range(record->getSourceRange());
    function.is_constructor = true;
    const std::vector<const ValueDecl*> members(record->field_begin(), record->field_end());
    Lowering lowering(*map_, function);
    lowering.lower(members);
  }

  void add_globals(const std::vector<const ValueDecl*>& globals) {
    Function& function = unit_.functions.emplace_back();
    function.usr = function.name = "<static-init>";
    Lowering lowering(*map_, function);
    lowering.lower(globals);
  }

  CompilerInstance* compiler_;
  Preprocessor& preprocessor_;
  const ParseRequest& request_;
  Parse& parse_;
  TranslationUnit& unit_;
  std::optional<SourceMap> map_;
};

class Action : public ASTFrontendAction {
public:
  Action(const ParseRequest& request, Parse& parse, TranslationUnit& unit)
      : request_(request), parse_(parse), unit_(unit) {}

  // Without the templates of other people's headers: ten times faster.
  TranslationUnitKind getTranslationUnitKind() override { return TU_Prefix; }

protected:
  bool BeginInvocation(CompilerInstance& compiler) override {
    set_parse_options(compiler);
    compiler.getFrontendOpts().DisableFree = false;
    compiler.getPreprocessorOpts().ImplicitPCHInclude = request_.precompiled.string();
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<Includes>(parse_));
    compiler.getPreprocessor().addCommentHandler(&parse_.suppressions);
    return std::make_unique<Consumer>(&compiler, compiler.getPreprocessor(), request_, parse_, unit_);
  }

private:
  const ParseRequest& request_;
  Parse& parse_;
  TranslationUnit& unit_;
};

llvm::IntrusiveRefCntPtr<ObservedFiles> observed_files(const ParseRequest& request,
                                                       const std::string& header) {
  auto disk =
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(llvm::vfs::createPhysicalFileSystem().release());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto& [path, text] : request.virtual_files)
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  if (!request.precompiled.empty())
    memory->addFile(kPrefixFile, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(prefix_text(request.precompiled_header)));
  memory->addFile(kUndeclaredHeader, 0, llvm::MemoryBuffer::getMemBufferCopy(header, kUndeclaredHeader));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(disk);
  overlay->pushOverlay(memory);
  overlay->setCurrentWorkingDirectory(request.directory.string());
  return llvm::makeIntrusiveRefCnt<ObservedFiles>(overlay, request.cache.string());
}

// `header` is included before the source. What is seen of the files is added to `seen`, and pipes and devices
// to `special_files`.
Parse parse_once(const ParseRequest& request, const std::string& header, TranslationUnit& unit,
                 Observations& seen, std::set<std::string>& special_files) {
  Parse parse;
  Diagnostics diagnostics(parse, request);
  const auto observed = observed_files(request, header);
  const auto files =
      llvm::makeIntrusiveRefCnt<FileManager>(FileSystemOptions{request.directory.string()}, observed);
  std::vector<std::string> command = request.command;
  if (!header.empty())
    command.insert(std::next(command.begin()), {"-include", kUndeclaredHeader});
  tooling::ToolInvocation invocation(command, std::make_unique<Action>(request, parse, unit), files.get());
  invocation.setDiagnosticConsumer(&diagnostics);
  invocation.run();
  seen.add(observed->observations());
  special_files.insert(observed->special_files().begin(), observed->special_files().end());
  return parse;
}

TranslationUnit fresh_unit(const ParseRequest& request) {
  TranslationUnit unit;
  unit.language = request.language;
  unit.inferred_flags = request.inferred_flags;
  unit.flags = request.fact_flags;
  const fs::path relative = request.main_file.lexically_relative(request.root);
  const bool below = !relative.empty() && *relative.begin() != "..";
  unit.main_file = (below ? relative : request.main_file).generic_string();
  return unit;
}

// Clang has no lexer for such a main file, and crashes for want of it.
std::string unreadable(const ParseRequest& request) {
  std::string start(4, ' ');
  if (const auto given = request.virtual_files.find(request.main_file.string());
      given != request.virtual_files.end()) {
    start = given->second.substr(0, 4);
  } else {
    std::ifstream in(request.main_file, std::ios::binary);
    if (!in)
      return "cannot be read";
    in.read(start.data(), 4);
  }
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff") ||
      start == std::string("\0\0\xfe\xff", 4))
    return "encoded as UTF-16 or UTF-32, which compilers do not read";
  return {};
}

void set_status(TranslationUnit& unit, const Parse& parse) {
  unit.errors = parse.errors;
  if (!parse.finished) {
    unit.status = "failed";
    unit.reason = parse.first_error.empty() ? "clang did not accept the command line" : parse.first_error;
  } else if (!unit.missing_headers.empty()) {
    unit.status = "partial";
    unit.reason = "headers not found:";
    for (const std::string& name : unit.missing_headers)
      unit.reason += " " + name;
  } else if (parse.errors > 0) {
    unit.status = "partial";
    unit.reason = std::to_string(parse.errors) + (parse.errors == 1 ? " error: " : " errors, first: ") +
                  parse.first_error;
  }
}

// Pipes, devices …
void add_special_files(TranslationUnit& unit, const std::set<std::string>& files) {
  if (files.empty())
    return;
  if (unit.status == "full")
    unit.status = "partial";
  unit.reason +=
      (unit.reason.empty() ? "" : "; ") + std::string("neither a regular file nor a folder, not read:");
  for (const std::string& file : files)
    unit.reason += " " + file;
}

// The user's files and those that facts stand in, the main file first: which other headers clang looked at
// depends on what was precompiled.
void settle_files(TranslationUnit& unit) {
  std::vector<bool> stands_in(unit.files.size(), false);
  for_each_position(unit, [&](Position& place) {
    if (place.line != 0)
      stands_in.at(place.file) = true;
  });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < unit.files.size(); ++i)
    if (stands_in[i] || unit.files[i].user)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool main_a = unit.files[a].path == unit.main_file, main_b = unit.files[b].path == unit.main_file;
    return main_a != main_b ? main_a : unit.files[a].path < unit.files[b].path;
  });
  std::vector<std::uint32_t> numbers(unit.files.size(), 0);
  std::vector<SourceFile> files;
  for (std::size_t old : order) {
    numbers[old] = static_cast<std::uint32_t>(files.size());
    files.push_back(std::move(unit.files[old]));
  }
  unit.files = std::move(files);
  for_each_position(unit, [&](Position& place) {
    if (place.line != 0)
      place.file = numbers[place.file];
  });
  std::sort(unit.suppressions.begin(), unit.suppressions.end(), [](const auto& a, const auto& b) {
    return std::pair(a.where.file, a.where.offset) < std::pair(b.where.file, b.where.offset);
  });
}

} // namespace

void set_parse_options(CompilerInstance& compiler) {
  compiler.getFrontendOpts().SkipFunctionBodies = true; // the consumer says which
  compiler.getPreprocessorOpts().DisablePragmaDebugCrash = true;
  compiler.getLangOpts().RecoveryAST = true;
  compiler.getLangOpts().SpellChecking = false; // a guess would be a fact that nobody wrote, and takes long
  compiler.getLangOpts().ConstexprStepLimit = kMostConstantSteps;
  compiler.getDiagnostics().setFatalsAsError(true);
  compiler.getDiagnostics().setErrorLimit(0);
  compiler.getDiagnostics().setIgnoreAllWarnings(true);
  compiler.getDiagnostics().setWarningsAsErrors(false);
}

void add_facts(ASTContext& context, Preprocessor& preprocessor, const ParseRequest& request,
               TranslationUnit& unit) {
  Parse parse;
  Consumer consumer(nullptr, preprocessor, request, parse, unit);
  consumer.Initialize(context);
  consumer.HandleTranslationUnit(context);
}

Extraction extract_observed(const ParseRequest& request) {
  if (request.command.size() < 2 || !request.main_file.is_absolute() || !request.root.is_absolute())
    throw Error("cannot parse", request.main_file.string(), "incomplete request", "", 3);
  Extraction out;
  out.precompiled_used = !request.precompiled.empty();
  out.unit = fresh_unit(request);
  if (const std::string problem = unreadable(request); !problem.empty()) {
    out.unit.status = "failed";
    out.unit.reason = problem;
    out.seen.complete = false;
    return out;
  }
  std::set<std::string> special_files;
  const Parse parse = parse_once(request, {}, out.unit, out.seen, special_files);
  // Where a header is missing, others that need it do not compile either way.
  const bool missing = std::any_of(parse.includes.begin(), parse.includes.end(),
                                   [](const Include& include) { return !include.found; });
  const bool misfit = parse.foreign_errors || (request.precompiled_moved && parse.errors > 0);
  if (out.precompiled_used && (!parse.finished || (misfit && !missing))) {
    ParseRequest plain = request;
    plain.precompiled.clear();
    return extract_observed(plain);
  }
  if (parse.finished && !parse.undeclared.empty() && out.unit.language != "c") {
    TranslationUnit second = fresh_unit(request);
    const std::string declarations = declare(parse.undeclared, parse.user_sources);
    if (parse_once(request, declarations, second, out.seen, special_files).finished)
      out.unit = std::move(second); // the errors stay the first's
  }
  settle_files(out.unit);
  set_status(out.unit, parse);
  add_special_files(out.unit, special_files);
  return out;
}

TranslationUnit extract(const ParseRequest& request) {
  return extract_observed(request).unit;
}

} // namespace reprobe::scan
