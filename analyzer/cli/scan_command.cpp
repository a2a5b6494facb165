// `reprobe scan`: static findings. Options are in scan_options, what is written in scan_output.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/config.h"
#include "analyzer/cli/scan_options.h"
#include "analyzer/cli/scan_output.h"
#include "rules/error.h"

#include <fmt/format.h>
#include <memory>

namespace reprobe::cli {
namespace {

void list_rules() {
  for (const rules::Rule& rule : rules::Registry::builtin().rules())
    fmt::print("{:30} {}\n", rule.id, rule.title);
}

void check_rule_globs(const std::vector<std::string>& globs) {
  const rules::Registry& registry = rules::Registry::builtin();
  for (const std::string& glob : globs) {
    if (glob.find_first_of("*?[") != std::string::npos || registry.find(glob))
      continue;
    const std::vector<std::string> near = registry.nearest(glob, 1);
    throw Error("no such rule", glob, "",
                near.empty() ? "see --list-rules" : "did you mean " + near.front() + "?");
  }
}

Config read_config(const ScanArguments& arguments) {
  std::filesystem::path path = arguments.config;
  if (path.empty()) {
    const auto found = find_config(arguments.options.paths.empty() ? "." : arguments.options.paths.front());
    if (!found)
      return {};
    path = *found;
  }
  return parse_config(report::read_file(path), path, rules::Registry::builtin());
}

int run_scan(ScanArguments& arguments) {
  if (arguments.list_rules) {
    list_rules();
    return 0;
  }
  check_rule_globs(arguments.options.rules);
  const Config config = read_config(arguments);
  if (config.stage && !arguments.stage_given)
    arguments.options.stage = *config.stage;
  report::Findings findings = scan::scan(arguments.options, rules::Registry::builtin());
  if (arguments.options.facts_only)
    return 0;
  apply_config(config, findings);
  write_outputs(findings, arguments.output);
  print_summary(findings, arguments);
  return exit_code_of(findings, arguments);
}

} // namespace

void add_scan_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ScanArguments>();
  CLI::App* command =
      app.add_subcommand("scan", "find nondeterminism, missing seeds and conflicting flags in source code");
  add_input_options(*command, *arguments);
  add_rule_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run_scan(*arguments); });
}

} // namespace reprobe::cli
