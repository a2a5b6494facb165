// `reprobe env`: the machine's fingerprint.
#include "analyzer/cli/commands.h"
#include "analyzer/report/findings.h"
#include "runtime/environment/environment.h"

#include <fmt/format.h>
#include <memory>

namespace reprobe::cli {
namespace {

std::string as_text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string as_lines(const nlohmann::json& fingerprint) {
  std::string text;
  for (const auto& [key, value] : fingerprint.items()) {
    if (!value.is_object()) {
      text += fmt::format("{:10} {}\n", key, report::printable(as_text(value)));
      continue;
    }
    for (const auto& [name, inner] : value.items()) text += fmt::format("{}={}\n", name, report::printable(as_text(inner)));
  }
  return text;
}

} // namespace

void add_env_command(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string format = "text", output = "-";
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("env", "print what of this machine matters for equal results");
  command->add_option("--format", arguments->format)->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  command->add_option("-o,--output", arguments->output, "write to this file (default: standard output)");
  command->callback([arguments, &exit_code] {
    nlohmann::json fingerprint = environment::fingerprint();
    if (std::string_view(REPROBE_TORCH_VERSION) != "") fingerprint["observer_for_libtorch"] = REPROBE_TORCH_VERSION;
    report::write_file(arguments->output, arguments->format == "json"
                                              ? fingerprint.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                                              : as_lines(fingerprint));
    exit_code = 0;
  });
}

} // namespace reprobe::cli
