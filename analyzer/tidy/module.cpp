// A clang-tidy plug-in: the rules that one file is enough for, as checks `reprobe-<rule>`.
//
// It links no LLVM: clang-tidy has it. The facts of the translation unit that clang-tidy parsed are judged as
// `reprobe scan` does; each check then reports what its rule found.
#include "analyzer/scan/facts/clang_headers.h"

#include "analyzer/scan/driver/project.h"
#include "analyzer/scan/facts/extract.h"
#include "analyzer/scan/judge/judge.h"
#include "rules/registry.h"

#include <clang-tidy/ClangTidy.h>
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>
#include <clang/Lex/Preprocessor.h>

namespace reprobe::tidy {
namespace fs = std::filesystem;
using namespace clang;
using clang::tidy::ClangTidyCheck;
using clang::tidy::ClangTidyContext;

namespace {

// Judged once for all checks of a translation unit.
struct Judged {
  const ASTContext* context = nullptr;
  std::string stage;
  report::Findings findings;
};

fs::path main_file(const SourceManager& sources) {
  const OptionalFileEntryRef entry = sources.getFileEntryRefForID(sources.getMainFileID());
  llvm::SmallString<256> path(entry ? entry->getName() : "");
  sources.getFileManager().makeAbsolutePath(path);
  return fs::path(path.str().str()).lexically_normal();
}

report::Findings judge_unit(ASTContext& context, Preprocessor& preprocessor, const std::string& stage) {
  scan::ParseRequest request;
  request.main_file = main_file(context.getSourceManager());
  request.root = "/"; // findings name files from there
  request.directory = fs::current_path();
  request.user_roots = {scan::project_root_of(request.main_file)};
  std::vector<scan::TranslationUnit> units(1);
  units[0].main_file = request.main_file.relative_path().generic_string();
  scan::add_facts(context, preprocessor, request, units[0]);
  scan::Options options;
  options.stage = stage;
  return scan::judge(units, rules::Registry::builtin(), options, /*build_flags=*/{}, /*whole_project=*/false);
}

thread_local Judged last;

const report::Findings& findings_of(ASTContext& context, Preprocessor& preprocessor,
                                    const std::string& stage) {
  if (last.context != &context || last.stage != stage)
    last = {&context, stage, judge_unit(context, preprocessor, stage)};
  return last.findings;
}

class Check : public ClangTidyCheck {
public:
  Check(llvm::StringRef name, ClangTidyContext* context, std::string rule)
      : ClangTidyCheck(name, context), rule_(std::move(rule)), stage_(Options.get("Stage", "paper").str()) {}

  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap& options) override {
    Options.store(options, "Stage", stage_);
  }

  void registerPPCallbacks(const SourceManager&, Preprocessor* preprocessor, Preprocessor*) override {
    preprocessor_ = preprocessor;
  }

  void registerMatchers(ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(ast_matchers::translationUnitDecl().bind("unit"), this);
  }

  void onStartOfTranslationUnit() override { last = {}; } // another one may lie at the same address

  void check(const ast_matchers::MatchFinder::MatchResult& result) override {
    for (const report::Finding& finding : findings_of(*result.Context, *preprocessor_, stage_).findings)
      if (finding.rule == rule_)
        show(finding, *result.SourceManager);
  }

private:
  static SourceLocation location(const report::SourceRange& place, const SourceManager& sources) {
    const auto file = sources.getFileManager().getOptionalFileRef((fs::path("/") / place.file).string());
    return file && place.line ? sources.translateFileLineCol(*file, place.line, std::max(place.column, 1u))
                              : SourceLocation();
  }

  void show(const report::Finding& finding, const SourceManager& sources) {
    {
      DiagnosticBuilder builder = diag(location(finding.source, sources), "%0; fix: %1");
      builder << finding.message << finding.fix;
      for (const report::Replacement& replacement : finding.replacements) {
        const SourceLocation begin = location(replacement.source, sources);
        builder << FixItHint::CreateReplacement(
            CharSourceRange::getCharRange(begin,
                                          begin.getLocWithOffset(static_cast<int>(replacement.length))),
            replacement.after);
      }
    }
    for (const report::Note& note : finding.notes)
      diag(location(note.source, sources), "%0", DiagnosticIDs::Note) << note.message;
  }

  std::string rule_, stage_;
  Preprocessor* preprocessor_ = nullptr;
};

class Module : public clang::tidy::ClangTidyModule {
public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    for (const rules::Rule& rule : rules::Registry::builtin().rules())
      if (rule.scope == rules::Scope::file)
        factories.registerCheckFactory("reprobe-" + rule.id,
                                       [id = rule.id](llvm::StringRef name, ClangTidyContext* context) {
                                         return std::make_unique<Check>(name, context, id);
                                       });
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<Module>
    kModule("reprobe-module", "What makes training irreproducible, as far as one file shows it.");

} // namespace
} // namespace reprobe::tidy
