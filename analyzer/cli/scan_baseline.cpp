#include "analyzer/cli/scan_baseline.h"

#include "rules/error.h"

#include <set>

namespace reprobe::cli {
namespace {

namespace fs = std::filesystem;

// Whether an entry that nothing matched is out of date, rather than not looked at by this scan.
class Judged {
public:
  Judged(const report::Findings& findings,
         const std::function<bool(const std::string&, const std::string&)>& is_judged)
      : findings_(findings), is_judged_(is_judged) {
    for (const report::ExaminedFile& file : findings.examined)
      if (file.status != "full")
        incomplete_.insert(file.file);
  }
  bool operator()(const report::BaselineEntry& entry) const {
    std::error_code error;
    if (!fs::exists(findings_.root / entry.file, error))
      return true; // the file is gone
    return findings_.user_files.contains(entry.file) && !incomplete_.contains(entry.file) &&
           is_judged_(entry.rule, entry.file);
  }

private:
  const report::Findings& findings_;
  const std::function<bool(const std::string&, const std::string&)>& is_judged_;
  std::set<std::string> incomplete_;
};

} // namespace

ScanBaseline::ScanBaseline(const BaselineOptions& options, const std::optional<fs::path>& from_config)
    : options_(options), file_(options.file.empty() ? from_config.value_or("") : options.file) {
  if (!options.write.empty()) {
    file_ = options.write; // a new one, whatever the old one says
    return;
  }
  if (file_.empty() && (options.update || options.prune))
    throw Error("there is no baseline to change", "", "",
                "name it: --baseline FILE, or start one: --write-baseline FILE");
  if (!file_.empty())
    baseline_ = report::baseline_from_json(report::read_file(file_), file_.string());
}

void ScanBaseline::accept(report::Findings& findings,
                          const std::function<bool(const std::string&, const std::string&)>& is_judged) {
  const report::BaselineUse use = report::apply(baseline_, findings);
  result_.accepted = use.accepted;
  report::Baseline kept = report::pruned(baseline_, use, Judged(findings, is_judged));
  const std::size_t gone = baseline_.entries.size() - kept.entries.size();
  (options_.prune ? result_.removed : result_.stale) = gone;
  if (options_.prune)
    baseline_ = std::move(kept);
}

void ScanBaseline::save(report::Findings& findings) {
  const bool adds = options_.update || !options_.write.empty();
  if (adds) {
    result_.added = findings.findings.size();
    baseline_ = report::with_new(std::move(baseline_), findings);
    report::apply(report::baseline_of(findings), findings);
  }
  if (result_.added || result_.removed || !options_.write.empty())
    report::write_file(file_, to_json(baseline_));
}

} // namespace reprobe::cli
