// `reprobe lsp`: a language server on standard input and output.
#include "analyzer/cli/commands.h"
#include "analyzer/lsp/server.h"

#include <memory>
#include <unistd.h>

namespace reprobe::cli {

void add_lsp_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<lsp::ServerOptions>();
  options->version = REPROBE_VERSION;
  CLI::App* command = app.add_subcommand(
      "lsp", "serve editors: diagnostics on open and save, rule pages, fixes (on standard input and output)");
  command->add_option("-j,--jobs", options->jobs, "documents scanned at a time")->capture_default_str();
  command->add_option("scan_options", options->scan_options,
                      "after --: options for each scan, such as -p or --stage");
  command->add_flag("--stdio", options->stdio, "there is no other way, but editors pass it");
  command->callback([options, &exit_code] { exit_code = lsp::serve(STDIN_FILENO, STDOUT_FILENO, *options); });
}

} // namespace reprobe::cli
