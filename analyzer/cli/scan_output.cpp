#include "analyzer/cli/scan_output.h"

#include "rules/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace reprobe::cli {
namespace {

std::size_t count(const report::Findings& findings, const std::string& status) {
  return std::count_if(findings.examined.begin(), findings.examined.end(),
                       [&](const report::ExaminedFile& file) { return file.status == status; });
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0)
    throw Error("the findings could not be written", "standard output", std::strerror(errno), "", 3);
}

} // namespace

void write_outputs(const report::Findings& findings, const OutputOptions& output) {
  bool printed = false;
  for (const std::string& file : output.files) {
    report::write_file(file, to_json(findings));
    printed |= file == "-";
  }
  if (output.format == "json") {
    if (output.files.empty())
      std::fputs(to_json(findings).c_str(), stdout);
  } else if (!printed) {
    report::print_text(findings, stdout, report::use_color(output.color, stdout));
  }
  flush_standard_output();
}

void print_summary(const report::Findings& findings, const ScanArguments& arguments) {
  const bool verbose = arguments.options.verbose;
  const std::size_t partial = count(findings, "partial"), failed = count(findings, "failed");
  fmt::print(stderr, "reprobe: {} finding{} in {} file{} examined", findings.findings.size(),
             findings.findings.size() == 1 ? "" : "s", findings.examined.size(),
             findings.examined.size() == 1 ? "" : "s");
  if (partial)
    fmt::print(stderr, ", {} of them only in part", partial);
  if (failed)
    fmt::print(stderr, ", {} could not be examined", failed);
  fmt::print(stderr, "\n");
  for (const report::ExaminedFile& file : findings.examined)
    if (file.status == "failed" || (verbose && file.status == "partial"))
      fmt::print(stderr, "reprobe: {}: {}: {}\n", report::printable(file.file),
                 file.status == "failed" ? "not examined" : "examined in part", report::printable(file.reason));
  if (verbose)
    for (const std::string& remark : findings.remarks)
      fmt::print(stderr, "reprobe: {}\n", report::printable(remark));
}

int exit_code_of(const report::Findings& findings, const ScanArguments& arguments) {
  const bool any_failed = count(findings, "failed") > 0, any_partial = count(findings, "partial") > 0;
  if (arguments.require_complete && (any_failed || any_partial))
    return 3;
  if (std::any_of(findings.findings.begin(), findings.findings.end(),
                  [](const report::Finding& finding) { return finding.severity != "note"; }))
    return 1;
  return any_failed ? 3 : 0;
}

} // namespace reprobe::cli
