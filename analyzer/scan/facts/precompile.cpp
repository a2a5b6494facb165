#include "analyzer/scan/facts/precompile.h"

#include "analyzer/scan/facts/observed_files.h"
#include "analyzer/scan/facts/parse_options.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>

#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace reprobe::scan {
using namespace clang;

namespace {

class Includes : public PPCallbacks {
public:
  explicit Includes(Precompiled& out) : out_(out) {}
  void InclusionDirective(SourceLocation, const Token&, StringRef name, bool, CharSourceRange,
                          OptionalFileEntryRef file, StringRef, StringRef, const clang::Module*, bool,
                          SrcMgr::CharacteristicKind) override {
    out_.include_names.insert(name.str());
    if (!file && out_.problem.empty())
      out_.problem = "header not found: " + name.str();
  }
  void HasInclude(SourceLocation, StringRef name, bool, OptionalFileEntryRef,
                  SrcMgr::CharacteristicKind) override {
    out_.include_names.insert(name.str());
  }

private:
  Precompiled& out_;
};

class FirstError : public DiagnosticConsumer {
public:
  explicit FirstError(Precompiled& out) : out_(out) {}
  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& diagnostic) override {
    if (level < DiagnosticsEngine::Error || !out_.problem.empty())
      return;
    llvm::SmallString<256> message;
    diagnostic.FormatDiagnostic(message);
    out_.problem = message.str().str();
  }

private:
  Precompiled& out_;
};

class Action : public GeneratePCHAction {
public:
  Action(const PrecompileRequest& request, Precompiled& out) : request_(request), out_(out) {}

protected:
  bool BeginInvocation(CompilerInstance& compiler) override {
    set_parse_options(compiler);
    compiler.getFrontendOpts().OutputFile = request_.output.string();
    compiler.getFrontendOpts().IncludeTimestamps = false; // contents are compared, by us
    return true;
  }

  bool BeginSourceFileAction(CompilerInstance& compiler) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<Includes>(out_));
    return GeneratePCHAction::BeginSourceFileAction(compiler);
  }

  void EndSourceFileAction() override {
    for (const auto& identifier : getCompilerInstance().getPreprocessor().getIdentifierTable())
      out_.identifiers.push_back(identifier_hash({identifier.first().data(), identifier.first().size()}));
    std::sort(out_.identifiers.begin(), out_.identifiers.end());
    GeneratePCHAction::EndSourceFileAction();
  }

private:
  const PrecompileRequest& request_;
  Precompiled& out_;
};

} // namespace

std::string prefix_text(const std::string& header) {
  return "#include <" + header + ">\n";
}

std::uint64_t identifier_hash(std::string_view identifier) {
  return digest_of(identifier).low;
}

Precompiled precompile(const PrecompileRequest& request) {
  Precompiled out;
  const auto disk =
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(llvm::vfs::createPhysicalFileSystem().release());
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto& [path, text] : request.virtual_files)
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  memory->addFile(kPrefixFile, 0, llvm::MemoryBuffer::getMemBufferCopy(prefix_text(request.header)));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(disk);
  overlay->pushOverlay(memory);
  overlay->setCurrentWorkingDirectory(request.directory.string());
  const auto observed = llvm::makeIntrusiveRefCnt<ObservedFiles>(overlay, request.cache.string());
  const auto files =
      llvm::makeIntrusiveRefCnt<FileManager>(FileSystemOptions{request.directory.string()}, observed);
  std::vector<std::string> command = request.command;
  command.insert(command.end(), {"--", kPrefixFile});
  FirstError errors(out);
  tooling::ToolInvocation invocation(command, std::make_unique<Action>(request, out), files.get());
  invocation.setDiagnosticConsumer(&errors);
  if (!invocation.run() && out.problem.empty())
    out.problem = "clang could not precompile it";
  out.seen = observed->observations();
  if (!out.seen.complete && out.problem.empty())
    out.problem = "it reads what is not a regular file";
  return out;
}

} // namespace reprobe::scan
