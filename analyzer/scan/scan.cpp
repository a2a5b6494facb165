#include "analyzer/scan/scan.h"

#include "analyzer/report/sources.h"
#include "analyzer/scan/driver/build_files.h"
#include "analyzer/scan/driver/project.h"
#include "analyzer/scan/driver/worker.h"
#include "analyzer/scan/facts/facts_files.h"
#include "analyzer/scan/judge/judge.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <unistd.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

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
    const auto [place, fresh] = known.try_emplace(unit.main_file, findings.examined.size());
    const report::ExaminedFile file{unit.main_file, unit.status, unit.reason, unit.missing_headers};
    if (fresh)
      findings.examined.push_back(file);
    else if (findings.examined[place->second].status == "full" || unit.status == "failed")
      findings.examined[place->second] = file;
    findings.user_files.insert(unit.main_file);
    for (const SourceFile& source : unit.files)
      if (source.user)
        findings.user_files.insert(source.path);
    if (unit.status == "failed")
      findings.complete = false;
  }
}

std::vector<BuildFlag> build_flags_of(const Project& project) {
  std::vector<std::filesystem::path> sources;
  for (const ParseRequest& request : project.requests)
    sources.push_back(request.main_file);
  return read_build_flags(sources, project.root);
}

/// The text of each finding's line, and its fingerprint, from the sources as they were parsed.
void add_source_text(const Project& project, const Options& options, report::Findings& findings) {
  report::Sources sources(project.root);
  for (const auto& [path, text] : options.contents)
    sources.put(path, text);
  if (project.selection)
    for (const auto& [path, text] : project.selection->contents)
      sources.put(path, text);
  add_lines(findings, sources);
  add_fingerprints(findings);
}

// A change that makes one of a finding's other places concerns the finding as well.
template <class Predicate>
void keep_findings_at(const Predicate& matters, report::Findings& findings) {
  for (auto* list : {&findings.findings, &findings.suppressed})
    std::erase_if(*list, [&](const report::Finding& finding) {
      return !matters(finding.source) &&
             std::none_of(finding.notes.begin(), finding.notes.end(),
                          [&](const report::Note& note) { return matters(note.source); });
    });
}

void keep_selected(const Project& project, const Options& options, report::Findings& findings) {
  if (project.selection && !options.whole_files) {
    keep_findings_at(
        [&](const report::SourceRange& place) {
          return project.selection->changes((project.root / place.file).lexically_normal(), place.line,
                                            std::max(place.line, place.end_line));
        },
        findings);
  } else if (options.is_partial()) {
    std::set<fs::path> parsed;
    for (const ParseRequest& request : project.requests)
      parsed.insert(request.main_file);
    keep_findings_at(
        [&](const report::SourceRange& place) {
          return parsed.contains((project.root / place.file).lexically_normal());
        },
        findings);
  }
}

std::vector<TranslationUnit> parse(const Project& project, const Options& options, Cache& cache) {
  Progress progress(project.requests.size());
  Limits limits;
  limits.jobs = options.jobs;
  std::vector<TranslationUnit> units =
      parse_all(project.requests, limits, [&](std::size_t done) { progress(done); }, &cache);
  units.insert(units.end(), project.failed.begin(), project.failed.end());
  return units;
}

Cache cache_of(const Options& options) {
  if (!options.cache)
    return Cache({});
  return Cache(options.cache_folder.empty() ? default_cache_folder() : options.cache_folder);
}

void describe_cache(const Cache& cache, std::size_t found, const Project& project,
                    report::Findings& findings) {
  if (found > 0)
    findings.remarks.push_back("facts of " + std::to_string(found) + " of " +
                               std::to_string(project.requests.size()) + " files from the cache");
  if (!cache.problem().empty())
    findings.remarks.push_back(cache.problem());
}

report::Findings judge_units(const std::vector<TranslationUnit>& units, const Project& project,
                             const Options& options, const rules::Registry& registry) {
  Options absolute = options;
  if (options.severity)
    absolute.severity = [&](const rules::Rule& rule, const fs::path& file) {
      return options.severity(rule, project.root / file);
    };
  return judge(units, registry, absolute, build_flags_of(project), project.whole);
}

} // namespace

report::Findings scan(const Options& options, const rules::Registry& registry) {
  Cache cache = cache_of(options);
  Project project;
  std::vector<TranslationUnit> units, rest;
  if (options.from_facts.empty()) {
    project = plan(options, [&](const ParseRequest& request) {
      std::optional<TranslationUnit> unit = cache.find(request);
      if (unit)
        rest.push_back(std::move(*unit));
      return unit.has_value();
    });
    units = parse(project, options, cache);
  } else {
    project.root = fs::current_path();
    units = read_facts(options.from_facts);
  }
  const std::size_t examined = units.size(), found = cache.found - rest.size();
  // A rest that is known in part would make findings depend on what happens to be cached.
  if (project.whole)
    units.insert(units.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  report::Findings findings = judge_units(units, project, options, registry);
  findings.stage = options.stage;
  findings.root = project.root;
  add_source_text(project, options, findings); // of all: a fingerprint counts what is equal before it
  keep_selected(project, options, findings);
  units.resize(examined);
  describe_examined(units, findings);
  findings.remarks.insert(findings.remarks.begin(), project.remarks.begin(), project.remarks.end());
  describe_cache(cache, found, project, findings);
  return findings;
}

Facts facts(const Options& options) {
  Cache cache = cache_of(options);
  const Project project = plan(options);
  const std::vector<TranslationUnit> units = parse(project, options, cache);
  Facts out;
  out.lines = to_lines(units);
  std::set<fs::path> reads;
  for (const TranslationUnit& unit : units) {
    if (unit.status == "failed")
      out.problems.push_back(unit.main_file + ": not examined: " + unit.reason);
    reads.insert(project.root / unit.main_file);
    for (const SourceFile& file : unit.files)
      if (file.user)
        reads.insert(project.root / file.path);
  }
  out.reads.assign(reads.begin(), reads.end());
  return out;
}

} // namespace reprobe::scan
