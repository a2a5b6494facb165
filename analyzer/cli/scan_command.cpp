// `reprobe scan`: static findings. Its topics have files of their own: scan_options, scan_config,
// finding_filters, scan_baseline, scan_output.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/scan_baseline.h"
#include "analyzer/cli/scan_config.h"
#include "analyzer/cli/scan_options.h"
#include "analyzer/cli/scan_output.h"
#include "rules/error.h"

#include <fmt/format.h>
#include <memory>
#include <set>

namespace reprobe::cli {
namespace {

void list_rules(const std::vector<std::string>& globs) {
  for (const rules::Rule& rule : rules::Registry::builtin().rules())
    if (scan::is_selected(rule, globs))
      fmt::print("{:30} {}\n", rule.id, rule.title);
}

void check_rule_globs(const std::vector<std::string>& globs) {
  const rules::Registry& registry = rules::Registry::builtin();
  for (const std::string& given : globs) {
    const std::string glob = given.substr(given.starts_with('-'));
    if (glob.find_first_of("*?[") != std::string::npos || registry.find(glob))
      continue;
    const std::vector<std::string> near = registry.nearest_rules(glob, 1);
    throw Error("no such rule", glob, "",
                near.empty() ? "see --list-rules" : "did you mean " + near.front() + "?");
  }
}

void accept_baseline(const ScanArguments& arguments, ScanConfig& config, ScanBaseline& baseline,
                     report::Findings& findings) {
  std::set<std::string> not_judged;
  for (const report::NotJudged& entry : findings.not_judged)
    not_judged.insert(entry.rule);
  baseline.accept(findings, [&](const std::string& id, const std::string& file) {
    const rules::Rule* rule = config.registry().find(id);
    // Of a part, or of changed lines, what is not found may well be there.
    return rule && !arguments.options.is_partial() && !not_judged.contains(id) && scan::is_selected(*rule, arguments.options.rules) &&
           config.severity(*rule, findings.root / file) != "off";
  });
}

// A name in a makefile.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '#')
      out += '\\';
    if (c == '$')
      out += '$';
    out += c;
  }
  return out;
}

void write_depfile(const std::filesystem::path& depfile, const std::string& output,
                   const scan::Facts& facts) {
  std::string text = escaped(output) + ":";
  for (const std::filesystem::path& file : facts.reads)
    text += " \\\n  " + escaped(file.string());
  report::write_file(depfile, text + "\n");
}

int write_facts(const ScanArguments& arguments) {
  const scan::Facts facts = scan::facts(arguments.options);
  const std::vector<std::string>& files = arguments.output.files;
  for (const std::string& file : files.empty() ? std::vector<std::string>{"-"} : files)
    report::write_file(file, facts.lines);
  if (!arguments.depfile.empty())
    write_depfile(arguments.depfile, files.front(), facts);
  for (const std::string& problem : facts.problems)
    fmt::print(stderr, "reprobe: {}\n", report::printable(problem));
  return facts.problems.empty() ? 0 : 3;
}

int run_scan(ScanArguments& arguments) {
  check_rule_globs(arguments.options.rules);
  check_rule_globs(arguments.filters.errors);
  if (arguments.list_rules) {
    list_rules(arguments.options.rules);
    return 0;
  }
  if (arguments.config.verify || arguments.config.dump)
    return show_config(arguments);
  if (!arguments.depfile.empty() && (!arguments.options.facts_only || arguments.output.files.size() != 1))
    throw Error("--depfile has nothing to speak of", "", "", "give --facts-only and one -o FILE with it");
  read_unsaved_text(arguments);
  ScanConfig config(arguments);
  if (arguments.options.facts_only)
    return write_facts(arguments);
  ScanBaseline baseline(arguments.baseline, config.baseline());
  std::map<std::string, std::chrono::nanoseconds> rule_times;
  if (arguments.output.profile)
    arguments.options.rule_times = &rule_times;
  report::Findings findings = scan::scan(arguments.options, config.registry());
  for (const std::string& remark : config.remarks())
    findings.remarks.push_back(remark);
  accept_baseline(arguments, config, baseline, findings);
  const Filtered filtered = apply(arguments.filters, findings);
  baseline.save(findings);
  handle_fixes(arguments, findings);
  if (arguments.fix != "diff")
    write_outputs(findings, arguments);
  print_summary(findings, filtered, baseline.result(), arguments);
  if (arguments.output.profile)
    print_profile(rule_times);
  return exit_code_of(findings, arguments);
}

} // namespace

void add_scan_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ScanArguments>();
  CLI::App* command =
      app.add_subcommand("scan", "find nondeterminism, missing seeds and conflicting flags in source code");
  add_input_options(*command, *arguments);
  add_selection_options(*command, *arguments);
  add_fix_options(*command, *arguments);
  add_rule_options(*command, *arguments);
  add_filter_options(*command, *arguments);
  add_baseline_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run_scan(*arguments); });
}

} // namespace reprobe::cli
