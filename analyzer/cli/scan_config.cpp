#include "analyzer/cli/scan_config.h"

#include "analyzer/scan/facts/paths.h"
#include "rules/error.h"

#include <fmt/format.h>

namespace reprobe::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? scan::real_path(path) : scan::real_path(path).parent_path();
}

std::optional<fs::path> named_file(const ScanArguments& arguments) {
  if (arguments.config.file.empty())
    return std::nullopt;
  return scan::real_path(arguments.config.file);
}

std::vector<fs::path> paths_of(const ScanArguments& arguments) {
  return arguments.options.paths.empty() ? std::vector<fs::path>{"."} : arguments.options.paths;
}

} // namespace

ScanConfig::ScanConfig(ScanArguments& arguments)
    : arguments_(arguments), files_(rules::Registry::builtin(), named_file(arguments)),
      top_(files_.for_folder(folder_of(paths_of(arguments).front()))),
      registry_(customized(rules::Registry::builtin(), top_)) {
  scan::Options& options = arguments.options;
  if (!arguments.stage_given)
    options.stage = top_.stage(options.stage);
  for (const Config* config : top_.files)
    options.deterministic.insert(options.deterministic.end(), config->deterministic.begin(),
                                 config->deterministic.end());
  options.severity = [this](const rules::Rule& rule, const fs::path& file) { return severity(rule, file); };
  options.excluded = [this](const fs::path& file) { return files_.for_file(file).is_excluded(file); };
}

std::string ScanConfig::severity(const rules::Rule& rule, const fs::path& file) {
  const EffectiveConfig& effective = files_.for_file(file);
  if (effective.is_excluded(file))
    return "off";
  return effective.severity(rule, file, arguments_.stage_given ? arguments_.options.stage : "paper",
                            arguments_.stage_given);
}

std::vector<std::string> ScanConfig::remarks() const {
  std::vector<std::string> remarks;
  for (const Config* config : files_.beyond(top_))
    remarks.push_back(
        config->path.string() +
        ": its tables, options and deterministic functions count only when its folder is scanned");
  return remarks;
}

int show_config(const ScanArguments& arguments) {
  ConfigSet files(rules::Registry::builtin(), named_file(arguments));
  for (const fs::path& path : paths_of(arguments)) {
    const EffectiveConfig& effective = files.for_folder(folder_of(path));
    if (arguments.config.dump) {
      fmt::print("{}", dump(effective, scan::real_path(path), rules::Registry::builtin(), arguments.options.stage,
                            arguments.stage_given));
      continue;
    }
    if (effective.files.empty())
      fmt::print("{}: no .reprobe.yaml here or above: the defaults count\n",
                 report::printable(path.string()));
    for (const Config* config : effective.files)
      fmt::print("{}: right\n", report::printable(config->path.string()));
  }
  return 0;
}

} // namespace reprobe::cli
