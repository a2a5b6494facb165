// `reprobe scan`: static findings as text or JSON.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/config.h"
#include "analyzer/report/findings.h"
#include "analyzer/scan/scan.h"
#include "rules/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace reprobe::cli {
namespace {

struct ScanArguments {
  scan::Options options;
  std::string format = "text", output, color = "auto";
  std::filesystem::path config;
  bool require_complete = false, list_rules = false, stage_given = false;
};

void list_rules() {
  for (const rules::Rule& rule : rules::Registry::builtin().rules())
    fmt::print("{:30} {}\n", rule.id, rule.title);
}

void check_rule_globs(const std::vector<std::string>& globs) {
  const rules::Registry& registry = rules::Registry::builtin();
  for (const std::string& glob : globs) {
    if (glob.find_first_of("*?[") != std::string::npos || registry.find(glob)) continue;
    const std::vector<std::string> near = registry.nearest(glob, 1);
    throw Error("no such rule", glob, "", near.empty() ? "see --list-rules" : "did you mean " + near.front() + "?");
  }
}

std::size_t count(const report::Findings& findings, const std::string& status) {
  return std::count_if(findings.examined.begin(), findings.examined.end(),
                       [&](const report::ExaminedFile& file) { return file.status == status; });
}

void print_summary(const report::Findings& findings, bool verbose) {
  const std::size_t partial = count(findings, "partial"), failed = count(findings, "failed");
  fmt::print(stderr, "reprobe: {} finding{} in {} file{} examined", findings.findings.size(),
             findings.findings.size() == 1 ? "" : "s", findings.examined.size(), findings.examined.size() == 1 ? "" : "s");
  if (partial) fmt::print(stderr, ", {} of them only in part", partial);
  if (failed) fmt::print(stderr, ", {} could not be examined", failed);
  fmt::print(stderr, "\n");
  for (const report::ExaminedFile& file : findings.examined)
    if (file.status == "failed" || (verbose && file.status == "partial"))
      fmt::print(stderr, "reprobe: {}: {}: {}\n", file.file, file.status == "failed" ? "not examined" : "examined in part",
                 report::printable(file.reason));
  if (verbose)
    for (const std::string& remark : findings.remarks) fmt::print(stderr, "reprobe: {}\n", report::printable(remark));
}

int exit_code_of(const report::Findings& findings, bool require_complete) {
  const bool any_failed = count(findings, "failed") > 0, any_partial = count(findings, "partial") > 0;
  if (require_complete && (any_failed || any_partial)) return 3;
  if (std::any_of(findings.findings.begin(), findings.findings.end(),
                  [](const report::Finding& finding) { return finding.severity != "note"; }))
    return 1;
  return any_failed ? 3 : 0;
}

Config read_config(const ScanArguments& arguments) {
  std::filesystem::path path = arguments.config;
  if (path.empty()) {
    const auto found = find_config(arguments.options.paths.empty() ? "." : arguments.options.paths.front());
    if (!found) return {};
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
  if (config.stage && !arguments.stage_given) arguments.options.stage = *config.stage;
  report::Findings findings = scan::scan(arguments.options, rules::Registry::builtin());
  apply_config(config, findings);
  if (arguments.options.facts_only) return 0;
  if (!arguments.output.empty()) report::write_file(arguments.output, to_json(findings));
  if (arguments.format == "json") {
    if (arguments.output.empty()) std::fputs(to_json(findings).c_str(), stdout);
  } else if (arguments.output != "-") {
    report::print_text(findings, stdout, report::use_color(arguments.color, stdout));
  }
  if (std::fflush(stdout) != 0)
    throw Error("the findings could not be written", "standard output", std::strerror(errno), "", 3);
  print_summary(findings, arguments.options.verbose);
  return exit_code_of(findings, arguments.require_complete);
}

} // namespace

void add_scan_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ScanArguments>();
  scan::Options& options = arguments->options;
  CLI::App* command = app.add_subcommand("scan", "find nondeterminism, missing seeds and conflicting flags in source code");
  command->add_option("paths", options.paths, "files or folders (default: the current folder)");
  command->add_option("-p,--database", options.database, "compile_commands.json, or the folder that holds it");
  command->add_option("--extra-arg", options.extra_arguments, "argument appended to every compile command")->allow_extra_args(false);
  command->add_option("--rules", options.rules, "only these rules: ids or globs, comma separated")->delimiter(',');
  command->add_option("--config", arguments->config, "this file instead of the nearest .reprobe.yaml");
  CLI::Option* stage = command->add_option("--stage", options.stage, "what the code is for: it sets the severities (default: paper)");
  stage->check(CLI::IsMember({"prototype", "tuning", "paper", "deploy"}));
  command->add_option("--torch-root", options.torch_root, "LibTorch's folder (default: looked for)");
  command->add_option("--cuda-root", options.cuda_root, "the CUDA toolkit's folder (default: looked for)");
  command->add_option("-j,--jobs", options.jobs, "files parsed at a time (default: one a core)");
  command->add_option("--format", arguments->format, "of what is printed")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  command->add_option("-o,--output", arguments->output, "write the findings as JSON to this file ('-': standard output)");
  command->add_option("--color", arguments->color, "colour the text")->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str();
  command->add_flag("--require-complete", arguments->require_complete, "fail when a file was examined only in part or not at all");
  command->add_flag("--facts-only", options.facts_only, "print the facts of each translation unit as JSON lines; judge nothing");
  command->add_flag("--list-rules", arguments->list_rules, "print the rules and exit");
  command->add_flag("-v,--verbose", options.verbose, "say what was inferred, dropped and skipped");
  command->callback([arguments, stage, &exit_code] {
    arguments->stage_given = stage->count() > 0;
    exit_code = run_scan(*arguments);
  });
}

} // namespace reprobe::cli
