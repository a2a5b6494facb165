// From one compile command to facts: parses with Clang and lowers every function of the user's own files.
//
// Runs in the calling process: a crash of Clang is a crash of the caller. `driver/worker.h` isolates it.
#pragma once

#include "analyzer/scan/facts/facts.h"
#include "analyzer/scan/facts/observations.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace reprobe::scan {

struct ParseRequest {
  std::filesystem::path directory;               // where relative paths of `command` start
  std::vector<std::string> command;              // clang's command line, command[0] is the compiler
  std::filesystem::path main_file;               // absolute
  std::filesystem::path root;                    // paths in the facts are relative to it
  std::vector<std::filesystem::path> user_roots; // folders that hold the user's own headers; empty: `root`
  std::vector<std::filesystem::path> third_party_roots; // LibTorch, CUDA …: never the user's own
  std::map<std::string, std::string> virtual_files;     // absolute path to contents, found before the disk's
  std::string language = "c++";                         // when nothing could be parsed; otherwise clang knows
  bool inferred_flags = false;
  bool graphs = true; // false: events in source order only, for code on which building a graph crashes
  std::vector<std::string> fact_flags; // become TranslationUnit::flags
  std::filesystem::path precompiled; // of a header that the source includes before anything else; empty: none
  std::string precompiled_header;    // its name, as in #include <…>
  bool precompiled_moved = false;    // the source has code before that include: errors may come of the order
  std::filesystem::path cache;       // our own folder: what is read from it says nothing about the source
};

struct Extraction {
  TranslationUnit unit;
  Observations seen;             // holds as long as the facts do
  bool precompiled_used = false; // false although one was given: it did not fit
};

/// Never throws for what the source contains: `status` tells. Throws reprobe::Error for an unusable request.
Extraction extract_observed(const ParseRequest&);
TranslationUnit extract(const ParseRequest&);

/// The facts of a translation unit that someone else has parsed as a whole.
void add_facts(clang::ASTContext&, clang::Preprocessor&, const ParseRequest&, TranslationUnit&);

} // namespace reprobe::scan
