#include "analyzer/cli/commands.h"
#include "runtime/launch/launch.h"

#include <cstdlib>
#include <memory>

namespace reprobe::cli {

void add_run_command(CLI::App& app, int& exit_code) {
  struct Arguments {
    launch::LaunchOptions options;
    std::string memory, findings, collect, prepare, cases, case_limit;
    bool all = false;
    int error_exit_code = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  launch::LaunchOptions& options = arguments->options;
  CLI::App* run = app.add_subcommand("run", "run a program, re-execute its LibTorch operations and measure "
                                            "how they vary:\nreprobe run [options] -- PROGRAM [ARGUMENTS]");
  run->add_option("-o,--output", options.output,
                  "where the measurements go; %r is the rank, %p the process, %h the host, so that each has a "
                  "file of its own")
      ->envname("REPROBE_OUTPUT")
      ->capture_default_str();
  CLI::Option* all = run->add_flag("--all", arguments->all, "every operation (the default without --ops and --from)")
                         ->envname("REPROBE_ALL");
  run->add_option("--ops", options.operators,
                  "only operators that match, as 'aten::index_*'; '!' before it leaves out")
      ->envname("REPROBE_OPS")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_option("--from", arguments->findings,
                  "only operations at the lines of these findings of `reprobe scan`, and operators they name")
      ->envname("REPROBE_FROM")
      ->excludes(all);
  run->add_option("--rounds", options.rounds, "re-executions of each operation")
      ->envname("REPROBE_ROUNDS")
      ->capture_default_str();
  run->add_option("--per-signature", options.per_signature, "calls examined of each signature")
      ->envname("REPROBE_PER_SIGNATURE")
      ->capture_default_str();
  run->add_option("--every", options.every, "of a signature's calls, examine each how manyeth")
      ->envname("REPROBE_EVERY")
      ->capture_default_str();
  run->add_option("--skip", options.skip,
                  "steps left out at first; a step ends with its backward pass, or where the program calls "
                  "reprobe::step()")
      ->envname("REPROBE_SKIP")
      ->capture_default_str();
  run->add_option("--steps", options.steps, "steps examined after those (0: all)")
      ->envname("REPROBE_STEPS")
      ->capture_default_str();
  run->add_option("--window", options.windows,
                  "only inside ranges of this name (a glob): of record_function, nvtxRangePush, reprobe::Region")
      ->envname("REPROBE_WINDOW")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_option("--signal", options.signal,
                  "USR1 or USR2: sent to reprobe, it starts examining, and again, it stops")
      ->envname("REPROBE_SIGNAL");
  run->add_flag("--trace-children,!--no-trace-children", options.trace_children,
                "also observe the programs that the program starts (the default)")
      ->envname("REPROBE_TRACE_CHILDREN");
  run->add_option("--budget", options.budget_seconds, "seconds for all re-executions together")
      ->envname("REPROBE_BUDGET")
      ->capture_default_str();
  run->add_option("--memory", arguments->memory,
                  "for copies, as 512M or 2GiB (default: 2GiB, at most a quarter of what is free)")
      ->envname("REPROBE_MEMORY");
  run->add_option("--save-case", arguments->cases,
                  "folder for a case of each examined call (see `reprobe replay`)")
      ->envname("REPROBE_SAVE_CASE");
  run->add_option("--case-limit", arguments->case_limit, "size of a case, at most (default: 256M)")
      ->envname("REPROBE_CASE_LIMIT");
  run->add_option("--processes", options.processes,
                  "after the program, re-execute its cases in that many fresh processes")
      ->envname("REPROBE_PROCESSES");
  run->add_flag("--amp", options.amp,
                "and under fp32, TF32, autocast to float16 and to bfloat16, each in a fresh process")
      ->envname("REPROBE_AMP");
  run->add_flag("--strict", options.strict,
                "and with deterministic algorithms off, warn-only and on, each in a fresh process")
      ->envname("REPROBE_STRICT");
  CLI::Option* error_exit_code = run->add_option("--error-exitcode", arguments->error_exit_code,
                                                 "exit code when something varied and the program succeeded");
  run->add_option("--collect", arguments->collect,
                  "instead of running a program: measurements from the folder that a killed run left")
      ->type_name("DIR");
  run->add_option("--prepare", arguments->prepare)->group(""); // for reprobe/observe.h
  run->add_flag("-v,--verbose", options.verbose, "also say which processes were not observed, and why");
  run->add_option("program", options.program, "the program and its arguments, after --");
  run->positionals_at_end();
  run->footer("The program keeps its standard streams and its exit code (128 + signal when it is killed).\n"
              "3: it succeeded but nothing could be observed, or nothing that --ops, --from, --skip or --window "
              "ask for.\n"
              "Under torchrun, mpirun or srun, ranks that would share a file write FILE.rankN.json each.\n"
              "Where the command line is a launcher's: LD_PRELOAD=.../lib/libreprobe-preload.so and "
              "REPROBE_OUTPUT=FILE in its environment do the same, with the other REPROBE_ variables as "
              "options.");
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
    if (const char* executable = std::getenv("REPROBE_PROGRAM")) // as the preloaded shim found it
      arguments->options.executable = executable;
    if (!arguments->collect.empty())
      exit_code = launch::collect_run(arguments->options, arguments->collect);
    else if (!arguments->prepare.empty())
      launch::prepare(arguments->options, arguments->prepare);
    else
      exit_code = launch::launch(arguments->options).exit_code;
  });
}

} // namespace reprobe::cli
