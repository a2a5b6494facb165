// `reprobe report`: findings and measurements joined on operation and source line.
#include "analyzer/cli/commands.h"
#include "analyzer/report/join.h"
#include "analyzer/report/json_access.h"
#include "rules/error.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace reprobe::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> inputs;
  std::string format = "text", output, color = "auto", gate = "varies";
};

struct Inputs {
  std::optional<report::Findings> findings;
  std::vector<report::Measurements> measurements;
};

std::string schema_of(const report::Json& document, const std::string& origin) {
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string())
    throw Error("is neither findings nor measurements", origin, "it has no \"schema\"",
                "give what `reprobe scan -o` and `reprobe run -o` wrote");
  return document["schema"].get<std::string>();
}

Inputs read_inputs(const std::vector<std::string>& paths) {
  Inputs inputs;
  for (const std::string& path : paths) {
    const report::Json document = report::parse_json(report::read_file(path), path);
    if (schema_of(document, path).starts_with("reprobe-measurements/")) {
      inputs.measurements.push_back(report::measurements_from_document(document, path));
      continue;
    }
    report::Findings findings = report::findings_from_document(document, path);
    if (!inputs.findings) {
      inputs.findings = std::move(findings);
      continue;
    }
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(inputs.findings->findings, findings.findings);
    append(inputs.findings->suppressed, findings.suppressed);
    append(inputs.findings->examined, findings.examined);
    inputs.findings->complete = inputs.findings->complete && findings.complete;
  }
  return inputs;
}

// "varies": only what was measured counts; "findings": what is flagged and not refuted by a measurement counts too.
int gate_of(const report::Report& joined, const std::string& gate) {
  if (gate == "none") return 0;
  for (const report::Item& item : joined.items) {
    if (item.state == report::State::varies || item.state == report::State::varies_unflagged) return 1;
    if (gate == "findings" && item.state == report::State::not_run && item.finding->severity != "note") return 1;
  }
  return 0;
}

int run_report(const ReportArguments& arguments) {
  const Inputs inputs = read_inputs(arguments.inputs);
  const report::Report joined = report::join(inputs.findings ? &*inputs.findings : nullptr, inputs.measurements);
  const bool to_file = !arguments.output.empty() && arguments.output != "-";
  const std::string text = arguments.format == "json"   ? report::render_json(joined, inputs.measurements)
                           : arguments.format == "html" ? report::render_html(joined, inputs.measurements)
                                                        : report::render_text(joined, inputs.measurements,
                                                                              !to_file && report::use_color(arguments.color, stdout));
  report::write_file(to_file ? arguments.output : "-", text);
  if (to_file) fmt::print(stderr, "reprobe: {} written\n", arguments.output);
  return gate_of(joined, arguments.gate);
}

} // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "join findings and measurements into one report");
  command->add_option("inputs", arguments->inputs, "files that scan and run wrote, in any order")->required();
  command->add_option("--format", arguments->format)->check(CLI::IsMember({"text", "json", "html"}))->capture_default_str();
  command->add_option("-o,--output", arguments->output, "write to this file (default: standard output)");
  command->add_option("--color", arguments->color)->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str();
  command->add_option("--gate", arguments->gate, "exit with 1 when: something varied; or a finding was not measured stable; or never")
      ->check(CLI::IsMember({"varies", "findings", "none"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

} // namespace reprobe::cli
