// The subcommands of `reprobe`, one file each. Every function adds its subcommand to the application; when that is
// the one called, it runs in its callback and leaves the process's exit code in `exit_code`.
#pragma once

#include <CLI/CLI.hpp>

namespace reprobe::cli {

void add_scan_command(CLI::App& app, int& exit_code); // only where LLVM was there at build time
void add_lsp_command(CLI::App& app, int& exit_code);  // likewise
void add_run_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_env_command(CLI::App& app, int& exit_code);
void add_completion_command(CLI::App& app, int& exit_code);

} // namespace reprobe::cli
