#include "analyzer/cli/commands.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/replay.h"

#include <memory>

namespace reprobe::cli {

void add_replay_command(CLI::App& app, int& exit_code) {
  struct Arguments {
    launch::ReplayCommand command;
    std::vector<std::string> cases;
    std::string memory, program;
  };
  auto arguments = std::make_shared<Arguments>();
  launch::ReplayOptions& options = arguments->command.options;
  CLI::App* replay = app.add_subcommand("replay", "re-execute saved cases, each set of flags in a fresh process");
  replay->add_option("cases", arguments->cases, "files that `reprobe run --save-case` wrote, or folders of them")
      ->required();
  replay->add_option("-o,--output", arguments->command.output, "where the measurements go")->capture_default_str();
  replay->add_option("--rounds", options.rounds, "executions in each process")->capture_default_str();
  replay->add_option("--processes", options.processes, "fresh processes for each set of flags")
      ->capture_default_str();
  replay->add_flag("--amp", options.amp, "also under fp32, TF32, autocast to float16 and to bfloat16");
  replay->add_flag("--strict", options.strict, "also with deterministic algorithms off, warn-only and on");
  replay->add_option("--budget", options.seconds_per_case, "seconds for one case in one process")
      ->capture_default_str();
  replay->add_option("--memory", arguments->memory,
                     "for copies, as 512M or 2GiB (default: 2GiB, at most a quarter of what is free)");
  CLI::Option* program = replay->add_option(
      "--program", arguments->program,
      "starts this program, without its main, for operators that it registers");
  replay->add_flag("--trust-program", options.trust_program, "starts the program that the case names instead")
      ->excludes(program);
  replay->footer("Exit codes: 0 nothing varies, 1 something does, 2 usage, 3 nothing could be examined.");
  replay->callback([arguments, &exit_code] {
    launch::ReplayCommand& command = arguments->command;
    command.options.memory_bytes =
        arguments->memory.empty() ? launch::default_memory() : launch::parse_bytes(arguments->memory);
    if (!arguments->program.empty())
      command.options.program = {arguments->program};
    command.cases.assign(arguments->cases.begin(), arguments->cases.end());
    exit_code = launch::replay(command);
  });
}

} // namespace reprobe::cli
