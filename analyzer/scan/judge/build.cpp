// Family `build`: compiler options and pragmas that change floating-point results.
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

// "-ffast-math" is itself, "-march=*" any word that starts so.
bool fits(const std::string& pattern, const std::string& flag) {
  return pattern.ends_with("*") ? flag.rfind(pattern.substr(0, pattern.size() - 1), 0) == 0 : flag == pattern;
}

const json* row_of(const json& rows, const std::string& rule, const char* key, const std::string& flag) {
  for (const json& row : rows)
    if (row.at("rule") == rule && row.contains(key))
      for (const json& pattern : row[key])
        if (fits(pattern, flag))
          return &row;
  return nullptr;
}

Draft draft_of(const json& row, const std::string& flag, const Findings& findings) {
  Draft draft;
  draft.message = fmt::format("{} {}", flag, row.at("message").get<std::string>());
  draft.fix = row.value("fix", findings.rule().fix);
  draft.tags = {row.at("catalog").get<std::string>()};
  return draft;
}

void judge_pragmas(const Context& context, const json& rows, Findings& findings) {
  for (const TranslationUnit& unit : context.project.units())
    for (const Pragma& pragma : unit.pragmas)
      if (const json* row = row_of(rows, findings.rule().id, "pragmas", pragma.text)) {
        Draft draft = draft_of(*row, "#pragma " + pragma.text, findings);
        draft.place = {file_of(unit, pragma.where), pragma.where.line, pragma.where.column, 0, 0};
        findings.add(std::move(draft));
      }
}

} // namespace

void judge_build(const Context& context, Findings& findings) {
  const json& rows = context.registry.table("build-flags");
  std::set<std::string> spelled; // in some build file
  for (const BuildFlag& flag : context.build_flags)
    if (const json* row = row_of(rows, findings.rule().id, "flags", flag.text)) {
      spelled.insert(flag.text);
      Draft draft = draft_of(*row, flag.text, findings);
      draft.place = {flag.file, flag.line, flag.column, 0, 0};
      findings.add(std::move(draft));
    }
  // Commands of a database may come from elsewhere than the project's build files.
  std::map<std::string, std::vector<const TranslationUnit*>> commands;
  for (const TranslationUnit& unit : context.project.units())
    for (const std::string& flag : unit.flags)
      if (!spelled.contains(flag) && row_of(rows, findings.rule().id, "flags", flag))
        commands[flag].push_back(&unit);
  for (const auto& [flag, units] : commands) {
    Draft draft = draft_of(*row_of(rows, findings.rule().id, "flags", flag), flag, findings);
    draft.message += fmt::format(" (in the compile command of {}{})", units[0]->main_file,
                                 units.size() > 1 ? fmt::format(" and {} more", units.size() - 1) : "");
    draft.place = {units[0]->main_file, 1, static_cast<std::uint32_t>(1), 0, 0};
    findings.add(std::move(draft));
  }
  judge_pragmas(context, rows, findings);
}

} // namespace reprobe::scan
