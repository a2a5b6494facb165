#include "analyzer/cli/scan_options.h"

namespace reprobe::cli {

void add_input_options(CLI::App& command, ScanArguments& arguments) {
  scan::Options& options = arguments.options;
  command.add_option("paths", options.paths, "files or folders (default: the current folder)");
  command.add_option("-p,--database", options.database, "compile_commands.json, or the folder that holds it");
  command
      .add_option("--extra-arg", options.extra_arguments, "argument appended to every compile command")
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
  scan::Options& options = arguments.options;
  command.add_option("--rules", options.rules, "only these rules: ids or globs, comma separated")
      ->delimiter(',');
  command.add_option("--config", arguments.config, "this file instead of the nearest .reprobe.yaml");
  command
      .add_option("--stage", options.stage, "what the code is for: it sets the severities (default: paper)")
      ->check(CLI::IsMember({"prototype", "tuning", "paper", "deploy"}))
      ->each([&arguments](const std::string&) { arguments.stage_given = true; });
  command.add_flag("--list-rules", arguments.list_rules, "print the rules and exit");
}

void add_output_options(CLI::App& command, ScanArguments& arguments) {
  OutputOptions& output = arguments.output;
  command.add_option("--format", output.format, "of what is printed")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->each([&output](const std::string&) { output.format_given = true; });
  command
      .add_option("-o,--output", output.files,
                  "write the findings as JSON to this file ('-': standard output)")
      ->allow_extra_args(false);
  command.add_option("--color", output.color, "colour the text")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_flag("--require-complete", arguments.require_complete,
                   "fail when a file was examined only in part or not at all");
  command.add_flag("--facts-only", arguments.options.facts_only,
                   "print the facts of each translation unit as JSON lines; judge nothing");
  command.add_flag("-v,--verbose", arguments.options.verbose, "say what was inferred, dropped and skipped");
}

} // namespace reprobe::cli
