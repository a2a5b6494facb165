#include "analyzer/cli/scan_output.h"

#include "analyzer/report/renderer.h"
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

std::string counted(std::size_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

int rank(const std::string& severity) {
  return severity == "never" ? 3 : severity == "error" ? 2 : severity == "warning" ? 1 : 0;
}

void print_left_out(const report::Findings& findings, const Filtered& filtered,
                    const BaselineResult& baseline) {
  const auto by_comments = std::count_if(
      findings.suppressed.begin(), findings.suppressed.end(), [](const report::Finding& finding) {
        return finding.suppression && finding.suppression->kind == "in-source";
      });
  std::string text;
  const auto add = [&](std::size_t number, const std::string& why) {
    if (number)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, why);
  };
  add(static_cast<std::size_t>(by_comments), "suppressed by NOLINT comments");
  add(filtered.by_lines, "on other lines");
  add(filtered.by_headers, "in headers that the filter leaves out");
  add(filtered.by_confidence, "of lower confidence");
  add(baseline.accepted, "accepted by the baseline");
  add(baseline.added, "added to the baseline");
  if (!text.empty())
    fmt::print(stderr, "reprobe: not shown: {}\n", text);
  if (baseline.stale)
    fmt::print(stderr,
               "reprobe: {} of the baseline no longer found (--prune-baseline removes what is gone)\n",
               counted(baseline.stale, "finding"));
  if (baseline.removed)
    fmt::print(stderr, "reprobe: {} removed from the baseline\n", counted(baseline.removed, "finding"));
}

struct OutputFile {
  std::filesystem::path path;
  const report::Format* format = nullptr;
  bool format_named = false; // by the argument itself
};

// "sarif:FILE", or FILE in the format of --format, of its extension, or JSON.
OutputFile output_file(const std::string& argument, const OutputOptions& options) {
  const std::size_t colon = argument.find(':');
  if (colon != std::string::npos)
    if (const report::Format* format = report::find_format(argument.substr(0, colon)))
      return {argument.substr(colon + 1), format, true};
  if (options.format_given)
    return {argument, report::find_format(options.format), false};
  const report::Format* format = report::format_of(argument);
  return {argument, format ? format : report::find_format("json"), false};
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0)
    throw Error("the findings could not be written", "standard output", std::strerror(errno), "", 3);
}

} // namespace

void write_outputs(const report::Findings& findings, const ScanArguments& arguments) {
  const OutputOptions& output = arguments.output;
  report::RenderInput input{findings, rules::Registry::builtin(), REPROBE_VERSION, output.category};
  input.partial_is_failure = arguments.require_complete;
  bool printed = false, format_used = false;
  for (const std::string& argument : output.files) {
    const OutputFile file = output_file(argument, output);
    printed |= file.path == "-";
    format_used |= output.format_given && !file.format_named;
    report::write_file(file.path, file.format->render(input));
  }
  // --format is about the files that name none, or else about what is printed.
  if (printed || format_used)
    return flush_standard_output();
  input.color = report::use_color(output.color, stdout);
  std::fputs(report::find_format(output.format)->render(input).c_str(), stdout);
  flush_standard_output();
}

void print_summary(const report::Findings& findings, const Filtered& filtered, const BaselineResult& baseline,
                   const ScanArguments& arguments) {
  const bool verbose = arguments.options.verbose;
  const std::size_t partial = count(findings, "partial"), failed = count(findings, "failed");
  if (!arguments.output.quiet) {
    std::string line = fmt::format("{} in {} examined", counted(findings.findings.size(), "finding"),
                                   counted(findings.examined.size(), "file"));
    if (partial)
      line += fmt::format(", {} of them only in part", partial);
    if (failed)
      line += fmt::format(", {} could not be examined", failed);
    fmt::print(stderr, "reprobe: {}\n", line);
    print_left_out(findings, filtered, baseline);
  }
  for (const report::ExaminedFile& file : findings.examined)
    if (file.status == "failed" || (verbose && file.status == "partial"))
      fmt::print(stderr, "reprobe: {}: {}: {}\n", report::printable(file.file),
                 file.status == "failed" ? "not examined" : "examined in part",
                 report::printable(file.reason));
  if (!findings.not_judged.empty()) {
    std::string rules;
    for (const report::NotJudged& entry : findings.not_judged)
      rules += (rules.empty() ? "" : ", ") + entry.rule;
    fmt::print(stderr, "reprobe: not judged, {}: {}\n", findings.not_judged.front().reason, rules);
  }
  if (verbose)
    for (const std::string& remark : findings.remarks)
      fmt::print(stderr, "reprobe: {}\n", report::printable(remark));
}

void print_profile(const std::map<std::string, std::chrono::nanoseconds>& rule_times) {
  std::vector<std::pair<std::chrono::nanoseconds, std::string>> rows;
  std::chrono::nanoseconds all{0};
  for (const auto& [rule, time] : rule_times) {
    rows.emplace_back(time, rule);
    all += time;
  }
  std::sort(rows.rbegin(), rows.rend());
  const auto milliseconds = [](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) * 1e-6;
  };
  for (const auto& [time, rule] : rows)
    fmt::print(stderr, "{:10.3f} ms  {}\n", milliseconds(time), rule);
  fmt::print(stderr, "{:10.3f} ms  all rules\n", milliseconds(all));
}

int exit_code_of(const report::Findings& findings, const ScanArguments& arguments) {
  const bool any_failed = count(findings, "failed") > 0, any_partial = count(findings, "partial") > 0;
  if (arguments.require_complete && (any_failed || any_partial || !findings.not_judged.empty()))
    return 3;
  const int gate = rank(arguments.output.fail_on);
  if (std::any_of(findings.findings.begin(), findings.findings.end(),
                  [&](const report::Finding& finding) { return rank(finding.severity) >= gate; }))
    return 1;
  return any_failed ? 3 : 0;
}

} // namespace reprobe::cli
