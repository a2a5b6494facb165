#include "analyzer/scan/scan.h"

#include "analyzer/report/sources.h"
#include "analyzer/scan/driver/project.h"
#include "analyzer/scan/driver/worker.h"
#include "analyzer/scan/judge/judge.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <unistd.h>

namespace reprobe::scan {
namespace {

/// One line on a terminal, rewritten, for scans that take longer than a second.
class Progress {
public:
  explicit Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO)) {}
  ~Progress() {
    if (shown_)
      std::fprintf(stderr, "\r\033[K");
  }
  void operator()(std::size_t done) {
    using namespace std::chrono_literals;
    if (!terminal_ || done == last_ || std::chrono::steady_clock::now() - start_ < 1s)
      return;
    std::fprintf(stderr, "\r\033[Kparsed %zu of %zu files", done, total_);
    std::fflush(stderr);
    shown_ = true, last_ = done;
  }

private:
  std::size_t total_, last_ = static_cast<std::size_t>(-1);
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void describe_examined(const std::vector<TranslationUnit>& units, report::Findings& findings) {
  std::map<std::string, std::size_t> known; // files with several compile commands are one file
  for (const TranslationUnit& unit : units) {
    findings.user_files.insert(unit.main_file);
    for (const SourceFile& file : unit.files)
      if (file.user)
        findings.user_files.insert(file.path);
    const auto [place, fresh] = known.try_emplace(unit.main_file, findings.examined.size());
    const report::ExaminedFile file{unit.main_file, unit.status, unit.reason, unit.missing_headers};
    if (fresh)
      findings.examined.push_back(file);
    else if (findings.examined[place->second].status == "full" || unit.status == "failed")
      findings.examined[place->second] = file;
    if (unit.status == "failed")
      findings.complete = false;
  }
}

/// The text of each finding's line, and its fingerprint, from the sources as they were parsed.
void add_source_text(const Project& project, report::Findings& findings) {
  report::Sources sources(project.root);
  for (const ParseRequest& request : project.requests)
    for (const auto& [path, text] : request.virtual_files)
      if (path == request.main_file)
        sources.put(path, text);
  add_lines(findings, sources);
  add_fingerprints(findings);
}

} // namespace

report::Findings scan(const Options& options, const rules::Registry& registry) {
  const Project project = plan(options);
  Cache cache(options.cache ? (options.cache_folder.empty() ? default_cache_folder() : options.cache_folder)
                            : std::filesystem::path());
  Progress progress(project.requests.size());
  Limits limits;
  limits.jobs = options.jobs;
  std::vector<TranslationUnit> units =
      parse_all(project.requests, limits, [&](std::size_t done) { progress(done); }, &cache);
  units.insert(units.end(), project.failed.begin(), project.failed.end());

  report::Findings findings;
  if (options.facts_only) {
    for (const TranslationUnit& unit : units)
      std::printf("%s\n", to_json(unit).c_str());
  } else {
    Options absolute = options;
    if (options.severity)
      absolute.severity = [&](const rules::Rule& rule, const std::filesystem::path& file) {
        return options.severity(rule, project.root / file);
      };
    findings = judge(units, registry, absolute);
  }
  findings.stage = options.stage;
  findings.root = project.root;
  add_source_text(project, findings);
  describe_examined(units, findings);
  findings.remarks.insert(findings.remarks.begin(), project.remarks.begin(), project.remarks.end());
  if (cache.found > 0)
    findings.remarks.push_back("facts of " + std::to_string(cache.found) + " of " +
                               std::to_string(project.requests.size()) + " files from the cache");
  if (!cache.problem().empty())
    findings.remarks.push_back(cache.problem());
  return findings;
}

} // namespace reprobe::scan
