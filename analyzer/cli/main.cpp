// `reprobe`: parses the command line and turns errors into messages and exit codes.
#include "analyzer/cli/commands.h"
#include "rules/error.h"

#include <cstdio>
#include <exception>

namespace {

constexpr int kUsage = 2, kCouldNot = 3;

#ifndef REPROBE_HAVE_SCAN
void add_missing_scan(CLI::App& app, int& exit_code) {
  CLI::App* scan = app.add_subcommand("scan", "find nondeterminism in source code (not in this build)");
  scan->prefix_command();
  scan->callback([&exit_code] {
    std::fputs("reprobe: error: this build has no scan half: " REPROBE_SCAN_STATUS "\n", stderr);
    exit_code = kCouldNot;
  });
}
#endif

// A report that did not reach its reader is no success.
int flushed(int exit_code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return exit_code;
  std::fputs("reprobe: error: standard output could not be written\n", stderr);
  return kCouldNot;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Finds what makes C++/CUDA training irreproducible, proves it by re-executing it, and says why.", "reprobe"};
  app.set_version_flag("--version", "reprobe " REPROBE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 could not do its job.\n"
             "`run` passes the program's own exit code on.");
  int exit_code = 0;
#ifdef REPROBE_HAVE_SCAN
  reprobe::cli::add_scan_command(app, exit_code);
  reprobe::cli::add_lsp_command(app, exit_code);
#else
  add_missing_scan(app, exit_code);
#endif
  reprobe::cli::add_run_command(app, exit_code);
  reprobe::cli::add_replay_command(app, exit_code);
  reprobe::cli::add_report_command(app, exit_code);
  reprobe::cli::add_explain_command(app, exit_code);
  reprobe::cli::add_env_command(app, exit_code);
  reprobe::cli::add_completion_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? flushed(0) : kUsage; // --help and --version come here too
  } catch (const reprobe::Error& error) {
    std::fprintf(stderr, "reprobe: error: %s\n", error.what());
    return error.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reprobe: internal error: %s (please report it with the command line)\n", error.what());
    return kCouldNot;
  }
  return flushed(exit_code);
}
