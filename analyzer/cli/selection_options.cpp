// Options of `reprobe scan` that say which part of a project is scanned, and in which state.
#include "analyzer/cli/scan_options.h"

#include "rules/error.h"

#include <cstdio>

namespace reprobe::cli {
namespace {

constexpr std::size_t kLongestInput = 64u << 20; // bytes of unsaved text

std::string read_standard_input() {
  std::string text;
  char buffer[65536];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kLongestInput)
      throw Error("too much text", "standard input", "more than 64 MiB", "scan the file as it is saved");
  }
  if (std::ferror(stdin))
    throw Error("cannot be read", "standard input", "", "", 3);
  return text;
}

} // namespace

void add_selection_options(CLI::App& command, ScanArguments& arguments) {
  scan::Options& options = arguments.options;
  CLI::Option* changed = command.add_option(
      "--changed", options.changed_since,
      "only what changed since this revision, uncommitted changes included; REV...: since HEAD left REV");
  CLI::Option* staged =
      command.add_flag("--staged", options.staged, "only what the next commit changes, as it is staged");
  command.add_flag("--whole-files", options.whole_files,
                   "with --changed and --staged: findings on all lines of the changed files");
  CLI::Option* part = command.add_flag(
      "--part-of-project", options.part_of_project,
      "the named files are not all of their project: rules that need the whole of it are judged "
      "only if the cache knows the rest");
  CLI::Option* unsaved = command.add_option("--stdin-filename", arguments.stdin_filename,
                                            "scan this file with the text on standard input as its content");
  CLI::Option* facts =
      command
          .add_option("--from-facts", options.from_facts,
                      "judge facts that --facts-only wrote, here or elsewhere; parse nothing")
          ->check(CLI::ExistingFile);
  command.add_option(
      "--depfile", arguments.depfile,
      "with --facts-only -o FILE: write the project's files that FILE depends on, for make and ninja");
  changed->excludes(staged)->excludes(part)->excludes(unsaved)->excludes(facts);
  staged->excludes(part)->excludes(unsaved)->excludes(facts);
  facts->excludes(part)->excludes(unsaved)->excludes("paths");
}

void read_unsaved_text(ScanArguments& arguments) {
  if (arguments.stdin_filename.empty())
    return;
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(arguments.stdin_filename), error);
  if (error)
    throw Error("no usable name", arguments.stdin_filename.string(), error.message());
  arguments.options.contents[file.string()] = read_standard_input();
  if (arguments.options.paths.empty())
    arguments.options.paths.push_back(file);
}

} // namespace reprobe::cli
