#include "analyzer/report/baseline.h"

#include "analyzer/report/json_access.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace reprobe::report {
namespace {

constexpr const char* kSchema = "reprobe-baseline/1";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

BaselineEntry entry_of(const Finding& finding) {
  return {finding.rule,
          finding.source.file,
          finding.function,
          finding.fingerprint,
          trimmed(finding.source.text.empty() ? finding.message : finding.source.text),
          {}};
}

auto key_of(const BaselineEntry& entry) {
  return std::tie(entry.file, entry.rule, entry.function, entry.fingerprint);
}

void sort(Baseline& baseline) {
  std::sort(baseline.entries.begin(), baseline.entries.end(),
            [](const BaselineEntry& a, const BaselineEntry& b) { return key_of(a) < key_of(b); });
}

using Entries =
    std::multimap<std::pair<std::string, std::string>, std::size_t>; // rule and fingerprint to entry

// The first entry that fits and is not taken; one of the finding's own file, or of any.
std::optional<std::size_t> free_entry(const Baseline& baseline, const Entries& entries,
                                      const std::vector<bool>& taken, const Finding& finding, bool any_file) {
  const auto [first, last] = entries.equal_range({finding.rule, finding.fingerprint});
  for (auto entry = first; entry != last; ++entry)
    if (!taken[entry->second] && (any_file || baseline.entries[entry->second].file == finding.source.file))
      return entry->second;
  return std::nullopt;
}

} // namespace

std::string to_json(const Baseline& baseline) {
  Json document{{"schema", kSchema}, {"findings", Json::array()}};
  for (const BaselineEntry& entry : baseline.entries) {
    Json object{{"rule", entry.rule}, {"file", entry.file}};
    put_unless_empty(object, "function", entry.function);
    object["fingerprint"] = entry.fingerprint;
    put_unless_empty(object, "text", entry.text);
    put_unless_empty(object, "reason", entry.reason);
    document["findings"].push_back(std::move(object));
  }
  return dump(document);
}

Baseline baseline_from_json(const std::string& text, const std::string& origin) {
  const Json document = parse_json(text, origin);
  check_schema(document, origin, kSchema);
  const JsonReader reader(document, origin);
  if (!reader.has("findings"))
    reader.fail("findings", "a list");
  Baseline baseline;
  for (const JsonReader& entry : reader.objects("findings"))
    baseline.entries.push_back({entry.text("rule"), entry.text("file"), entry.text("function", ""),
                                entry.text("fingerprint"), entry.text("text", ""), entry.text("reason", "")});
  return baseline;
}

BaselineUse apply(const Baseline& baseline, Findings& findings) {
  Entries entries;
  for (std::size_t i = 0; i < baseline.entries.size(); ++i)
    entries.emplace(std::pair(baseline.entries[i].rule, baseline.entries[i].fingerprint), i);
  BaselineUse use{std::vector<bool>(baseline.entries.size(), false)};
  std::vector<bool> accepted(findings.findings.size(), false);
  for (const bool any_file : {false, true})
    for (std::size_t i = 0; i < findings.findings.size(); ++i) {
      if (accepted[i])
        continue;
      Finding& finding = findings.findings[i];
      const auto entry = free_entry(baseline, entries, use.matched, finding, any_file);
      if (!entry)
        continue;
      use.matched[*entry] = accepted[i] = true;
      ++use.accepted;
      finding.suppression = Suppression{"baseline", baseline.entries[*entry].reason, {}};
    }
  std::vector<Finding> kept;
  for (std::size_t i = 0; i < accepted.size(); ++i)
    (accepted[i] ? findings.suppressed : kept).push_back(std::move(findings.findings[i]));
  findings.findings = std::move(kept);
  return use;
}

Baseline baseline_of(const Findings& findings) {
  return with_new({}, findings);
}

Baseline with_new(Baseline baseline, const Findings& findings) {
  for (const Finding& finding : findings.findings)
    baseline.entries.push_back(entry_of(finding));
  sort(baseline);
  return baseline;
}

Baseline pruned(const Baseline& baseline, const BaselineUse& use,
                const std::function<bool(const BaselineEntry&)>& was_judged) {
  Baseline kept;
  for (std::size_t i = 0; i < baseline.entries.size(); ++i)
    if (use.matched[i] || !was_judged(baseline.entries[i]))
      kept.entries.push_back(baseline.entries[i]);
  return kept;
}

} // namespace reprobe::report
