#include "analyzer/cli/scan_options.h"

#include "analyzer/report/renderer.h"

namespace reprobe::cli {

void add_input_options(CLI::App& command, ScanArguments& arguments) {
  scan::Options& options = arguments.options;
  command.add_option("paths", options.paths, "files or folders (default: the current folder)");
  command.add_option("-p,--database", options.database, "compile_commands.json, or the folder that holds it");
  command.add_option("--extra-arg", options.extra_arguments, "argument appended to every compile command")
      ->allow_extra_args(false);
  command
      .add_option("--extra-arg-before", options.extra_arguments_before,
                  "argument put before the others of every compile command")
      ->allow_extra_args(false);
  command.add_option("--torch-root", options.torch_root, "LibTorch's folder (default: looked for)");
  command.add_option("--cuda-root", options.cuda_root, "the CUDA toolkit's folder (default: looked for)");
  command.add_option("-j,--jobs", options.jobs, "files parsed at a time (default: one a core)");
  command
      .add_option("--cache-dir", options.cache_folder,
                  "where facts and precompiled headers are kept between scans (default: the user's cache folder)")
      ->envname("REPROBE_CACHE_DIR");
  options.cache = true;
  command.add_flag("!--no-cache", options.cache, "keep nothing, and use nothing kept");
}

void add_rule_options(CLI::App& command, ScanArguments& arguments) {
  command
      .add_option(
          "--rules,--checks", arguments.options.rules,
          "only these rules: ids or globs, comma separated; -GLOB takes out, the last that matches decides")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--stage", arguments.options.stage,
                  "what the code is for: it sets the severities (default: paper)")
      ->check(CLI::IsMember({"prototype", "tuning", "paper", "deploy"}))
      ->each([&arguments](const std::string&) { arguments.stage_given = true; });
  command.add_flag("--list-rules,--list-checks", arguments.list_rules, "print the rules and exit");
  command.add_option("--config,--config-file", arguments.config.file,
                     "this file instead of the nearest .reprobe.yaml");
  command.add_flag("--verify-config", arguments.config.verify, "check the configuration files and exit");
  command.add_flag("--dump-config", arguments.config.dump,
                   "print the configuration that counts for each path and exit");
}

void add_filter_options(CLI::App& command, ScanArguments& arguments) {
  FindingFilters& filters = arguments.filters;
  command.add_option("--confidence", filters.confidence, "only findings of at least this confidence")
      ->check(CLI::IsMember({"high", "medium", "low"}))
      ->capture_default_str();
  command.add_option_function<std::string>(
      "--line-filter", [&filters](const std::string& json) { filters.lines = parse_line_filter(json); },
      R"(only findings on these lines: [{"name": "a.cpp", "lines": [[1, 3]]}])");
  command.add_option("--header-filter", filters.headers,
                     "only findings in headers whose path matches (sources: all)");
  command.add_option("--exclude-header-filter", filters.excluded_headers,
                     "no findings in headers whose path matches");
  command.add_option("--warnings-as-errors", filters.errors, "rules (globs) whose findings are errors")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_baseline_options(CLI::App& command, ScanArguments& arguments) {
  BaselineOptions& baseline = arguments.baseline;
  command.add_option("--baseline", baseline.file, "accepted findings: only others are reported");
  command.add_option("--write-baseline", baseline.write, "accept all findings: write them to this file");
  command.add_flag("--update-baseline", baseline.update, "accept the new findings too, in the same file");
  command.add_flag("--prune-baseline", baseline.prune, "remove what is no longer found from the file");
}

void add_output_options(CLI::App& command, ScanArguments& arguments) {
  OutputOptions& output = arguments.output;
  std::vector<std::string> names;
  for (const report::Format& format : report::formats())
    names.emplace_back(format.name);
  command.add_option("--format", output.format, "of what is printed, or of the -o FILEs")
      ->check(CLI::IsMember(names))
      ->capture_default_str()
      ->each([&output](const std::string&) { output.format_given = true; });
  command
      .add_option(
          "-o,--output", output.files,
          "write the findings to this file ('-': standard output), in the format of --format, else of the "
          "extension, else JSON; -o FORMAT:FILE names it; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--category", output.category,
                     "SARIF: tells runs apart where a service keeps several (default: reprobe/STAGE)");
  command.add_option("--color", output.color, "colour the text")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_option("--fail-on", output.fail_on, "exit with 1 from findings of this severity on")
      ->check(CLI::IsMember({"note", "warning", "error", "never"}))
      ->capture_default_str();
  command.add_flag("--require-complete", arguments.require_complete,
                   "fail when a file was examined only in part or not at all");
  command.add_flag("--facts-only", arguments.options.facts_only,
                   "write the facts of each translation unit as a line of JSON; judge nothing");
  command.add_flag("--profile,--enable-check-profile", output.profile, "print the time that each rule took");
  CLI::Option* quiet =
      command.add_flag("-q,--quiet", output.quiet, "no summary; what was not examined is still said");
  command.add_flag("-v,--verbose", arguments.options.verbose, "say what was inferred, dropped and skipped")
      ->excludes(quiet);
}

} // namespace reprobe::cli
