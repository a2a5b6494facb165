#include "analyzer/cli/commands.h"
#include "runtime/launch/launch.h"

#include <memory>

namespace reprobe::cli {

void add_run_command(CLI::App& app, int& exit_code) {
  struct Arguments {
    launch::LaunchOptions options;
    std::string memory, findings, cases, case_limit;
    int error_exit_code = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  launch::LaunchOptions& options = arguments->options;
  CLI::App* run = app.add_subcommand("run", "run a program, re-execute its LibTorch operations and measure "
                                            "how they vary:\nreprobe run [options] -- PROGRAM [ARGUMENTS]");
  run->add_option("-o,--output", options.output, "where the measurements go")->capture_default_str();
  run->add_option("--rounds", options.rounds, "re-executions of each operation")->capture_default_str();
  run->add_option("--per-signature", options.per_signature, "calls examined of each signature")
      ->capture_default_str();
  run->add_option("--ops", options.operators,
                  "only operators that match, as 'aten::index_*'; '!' before it leaves out")
      ->allow_extra_args(false);
  run->add_option("--from", arguments->findings,
                  "only the operators that these findings of `reprobe scan` name");
  run->add_option("--budget", options.budget_seconds, "seconds for all re-executions together")
      ->capture_default_str();
  run->add_option("--memory", arguments->memory,
                  "for copies, as 512M or 2GiB (default: 2GiB, at most a quarter of what is free)");
  run->add_option("--save-case", arguments->cases,
                  "folder for a case of each examined call (see `reprobe replay`)");
  run->add_option("--case-limit", arguments->case_limit, "size of a case, at most (default: 256M)");
  run->add_option("--processes", options.processes,
                  "after the program, re-execute its cases in that many fresh processes");
  run->add_flag("--amp", options.amp,
                "and under fp32, TF32, autocast to float16 and to bfloat16, each in a fresh process");
  run->add_flag("--strict", options.strict,
                "and with deterministic algorithms off, warn-only and on, each in a fresh process");
  CLI::Option* error_exit_code = run->add_option("--error-exitcode", arguments->error_exit_code,
                                                 "exit code when something varied and the program succeeded");
  run->add_flag("-v,--verbose", options.verbose, "also say which processes were not observed, and why");
  run->add_option("program", options.program, "the program and its arguments, after --")->required();
  run->positionals_at_end();
  run->footer("The program keeps its standard streams and its exit code (128 + signal when it is killed).\n"
              "3: it succeeded but nothing could be observed.");
  run->callback([arguments, error_exit_code, &exit_code] {
    if (!arguments->memory.empty())
      arguments->options.memory_bytes = launch::parse_bytes(arguments->memory);
    if (!arguments->case_limit.empty())
      arguments->options.case_bytes = launch::parse_bytes(arguments->case_limit);
    if (!arguments->cases.empty())
      arguments->options.case_directory = arguments->cases;
    if (!arguments->findings.empty())
      arguments->options.findings = arguments->findings;
    if (error_exit_code->count() > 0)
      arguments->options.error_exit_code = arguments->error_exit_code;
    exit_code = launch::launch(arguments->options).exit_code;
  });
}

} // namespace reprobe::cli
