#include "analyzer/report/renderer.h"

#include <algorithm>
#include <array>

namespace reprobe::report {
namespace {

constexpr std::array kFormats = {
    Format{"text", ".txt", "as Clang prints diagnostics", render_findings_text},
    Format{"json", ".json", "what `reprobe report` and `reprobe run --from` read", render_findings_json},
    Format{"sarif", ".sarif", "SARIF 2.1.0, for code scanning services and editors", render_sarif},
    Format{"github", "", "GitHub workflow commands: annotations of a pull request", render_github},
    Format{"gitlab", "", "GitLab code quality report", render_gitlab},
    Format{"junit", ".xml", "JUnit XML, for test reports of CI services", render_junit},
};

} // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto format =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == name; });
  return format == kFormats.end() ? nullptr : &*format;
}

const Format* format_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".sarif.json")) // as some services name it
    return find_format("sarif");
  const auto format = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) {
    return !f.extension.empty() && name.ends_with(f.extension);
  });
  return format == kFormats.end() ? nullptr : &*format;
}

std::string render_findings_json(const RenderInput& input) {
  return to_json(input.findings);
}

} // namespace reprobe::report
