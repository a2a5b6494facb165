#include "analyzer/scan/judge/suppressions.h"

#include "analyzer/report/suppressions.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <set>

namespace reprobe::scan {
namespace {

using report::Directive;
using report::DirectiveUse;

std::vector<Directive> directives_of(const std::vector<TranslationUnit>& units) {
  std::vector<Directive> directives;
  std::set<std::pair<std::string, std::uint32_t>> seen; // headers are part of many units
  for (const TranslationUnit& unit : units)
    for (const SuppressionComment& comment : unit.suppressions) {
      if (comment.where.file >= unit.files.size() ||
          !seen.insert({unit.files[comment.where.file].path, comment.where.offset}).second)
        continue;
      const std::uint32_t line = comment.where.line, column = comment.where.column;
      const auto end = column + static_cast<std::uint32_t>(comment.text.size());
      if (auto directive = report::parse_directive(
              comment.text, {unit.files[comment.where.file].path, line, column, line, end}))
        directives.push_back(*std::move(directive));
    }
  // A unit may see only a part of a header's comments: order by place, so that a begin comes before its end.
  std::stable_sort(directives.begin(), directives.end(), [](const Directive& a, const Directive& b) {
    return std::tie(a.source.file, a.source.line, a.source.column) <
           std::tie(b.source.file, b.source.line, b.source.column);
  });
  return directives;
}

class Unused {
public:
  Unused(const rules::Registry& registry, const report::Findings& findings,
         const std::function<bool(const rules::Rule&, const std::string&)>& is_judged)
      : registry_(registry), is_judged_(is_judged) {
    for (const report::ExaminedFile& file : findings.examined)
      if (file.status != "full")
        incomplete_.insert(file.file);
  }

  /// What is wrong with the comment; empty when nothing is, or when this scan cannot tell.
  std::string complaint(const DirectiveUse& use) const {
    const Directive& directive = *use.directive;
    if (use.unmatched && (directive.bare || names_ours(directive)))
      return directive.scope == Directive::Scope::begin
                 ? "NOLINTBEGIN has no NOLINTEND with the same list: it suppresses nothing"
                 : "NOLINTEND has no NOLINTBEGIN with the same list before it";
    if (use.suppressed || directive.bare || directive.scope == Directive::Scope::end)
      return {};
    if (const std::string name = unknown_name(directive); !name.empty())
      return name;
    if (!names_ours(directive) || incomplete_.contains(directive.source.file) || !all_judged(directive))
      return {};
    return fmt::format("this comment suppresses nothing: there is no finding of {}", shown(directive));
  }

private:
  static bool is_exception(const std::string& name) { return name.starts_with('-'); }
  static bool is_glob(std::string_view name) { return name.find_first_of("*?[") != name.npos; }

  std::vector<const rules::Rule*> named_by(const std::string& item) const {
    std::vector<const rules::Rule*> rules;
    // `*` alone speaks to every tool, other globs to us when they match rules of ours.
    const std::string name(report::plain_rule_name(item));
    if (name == "*" && !item.starts_with("reprobe-"))
      return rules;
    for (const rules::Rule& rule : registry_.rules())
      if (fnmatch(name.c_str(), rule.id.c_str(), 0) == 0)
        rules.push_back(&rule);
    return rules;
  }

  bool names_ours(const Directive& directive) const {
    return std::any_of(directive.names.begin(), directive.names.end(), [&](const std::string& name) {
      return !is_exception(name) && !named_by(name).empty();
    });
  }

  std::string unknown_name(const Directive& directive) const {
    for (const std::string& item : directive.names) {
      const std::string name(report::plain_rule_name(item));
      if (is_exception(item) || is_glob(name) || !item.starts_with("reprobe-") || registry_.find(name))
        continue;
      const std::vector<std::string> near = registry_.nearest_rules(name, 1);
      return fmt::format("no rule is named {}{}", item, near.empty() ? "" : "; did you mean " + near.front() + "?");
    }
    return {};
  }

  bool all_judged(const Directive& directive) const {
    for (const std::string& item : directive.names)
      if (!is_exception(item))
        for (const rules::Rule* rule : named_by(item))
          if (!is_judged_(*rule, directive.source.file))
            return false;
    return true;
  }

  static std::string shown(const Directive& directive) {
    std::string list;
    for (const std::string& name : directive.names)
      list += (list.empty() ? "" : ", ") + name;
    return list;
  }

  const rules::Registry& registry_;
  const std::function<bool(const rules::Rule&, const std::string&)>& is_judged_;
  std::set<std::string> incomplete_;
};

} // namespace

void apply_suppressions(const std::vector<TranslationUnit>& units, const rules::Registry& registry,
                        const rules::Rule* rule,
                        const std::function<bool(const rules::Rule&, const std::string& file)>& is_judged,
                        report::Findings& findings) {
  const std::vector<Directive> directives = directives_of(units);
  const std::vector<DirectiveUse> uses = report::apply(directives, findings);
  if (!rule)
    return;
  report::Findings examined;
  for (const TranslationUnit& unit : units)
    examined.examined.push_back({unit.main_file, unit.status, {}, {}});
  const Unused unused(registry, examined, is_judged);
  for (const DirectiveUse& use : uses) {
    const std::string complaint = unused.complaint(use);
    if (complaint.empty())
      continue;
    report::Finding& finding = findings.findings.emplace_back();
    finding.rule = rule->id;
    finding.confidence = rule->confidence;
    finding.message = complaint;
    finding.fix = rule->fix;
    finding.source = use.directive->source;
  }
}

} // namespace reprobe::scan
