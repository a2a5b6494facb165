// GitLab code quality report: a list of violations, each with a fingerprint that no other has.
#include "analyzer/report/json_access.h"
#include "analyzer/report/renderer.h"
#include "analyzer/report/sources.h"

namespace reprobe::report {
namespace {

std::string severity(const std::string& ours) {
  return ours == "error" ? "critical" : ours == "warning" ? "major" : "info";
}

Json violation(const Finding& finding) {
  Json object{{"description", printable(finding.message)}, {"check_name", finding.rule}};
  object["fingerprint"] = hash_of(finding.source.file + '\0' + finding.fingerprint);
  object["severity"] = severity(finding.severity);
  object["categories"] = {"Bug Risk"};
  object["location"]["path"] = printable(finding.source.file);
  object["location"]["lines"]["begin"] = std::max(finding.source.line, 1u);
  if (finding.source.end_line)
    object["location"]["lines"]["end"] = finding.source.end_line;
  if (!finding.fix.empty())
    object["content"]["body"] = printable_lines("fix: " + finding.fix);
  return object;
}

} // namespace

std::string render_gitlab(const RenderInput& input) {
  Json violations = Json::array();
  for (const Finding& finding : input.findings.findings)
    violations.push_back(violation(finding));
  return dump(violations);
}

} // namespace reprobe::report
