// Options of `reprobe scan` that mend findings with one right answer.
#include "analyzer/cli/scan_options.h"
#include "analyzer/scan/fixes/fixes.h"

#include <cstdio>
#include <fmt/format.h>

namespace reprobe::cli {

void add_fix_options(CLI::App& command, ScanArguments& arguments) {
  command
      .add_flag(
          "--fix{apply}", arguments.fix,
          "mend in place what has one right answer; --fix=diff prints the difference and writes nothing")
      ->check(CLI::IsMember({"apply", "diff"}));
  command.add_option("--export-fixes", arguments.export_fixes,
                     "write the fixes as YAML to this file, for clang-apply-replacements");
}

void handle_fixes(const ScanArguments& arguments, report::Findings& findings) {
  if (!arguments.export_fixes.empty())
    report::write_file(arguments.export_fixes, scan::to_replacements_yaml(findings, findings.root));
  if (arguments.fix.empty())
    return;
  const scan::Fixes fixes = scan::plan_fixes(findings, findings.root);
  for (const std::string& refusal : fixes.refusals)
    fmt::print(stderr, "reprobe: {}\n", report::printable(refusal));
  if (arguments.fix == "diff") {
    std::fputs(scan::to_diff(fixes).c_str(), stdout);
    return;
  }
  scan::write_fixes(fixes);
  for (auto index = fixes.mended.rbegin(); index != fixes.mended.rend(); ++index)
    findings.findings.erase(findings.findings.begin() + static_cast<std::ptrdiff_t>(*index));
  if (!fixes.mended.empty())
    fmt::print(stderr, "reprobe: mended {} finding{} in {} file{}\n", fixes.mended.size(),
               fixes.mended.size() == 1 ? "" : "s", fixes.files.size(), fixes.files.size() == 1 ? "" : "s");
}

} // namespace reprobe::cli
