#include "analyzer/scan/scan.h"

#include "analyzer/scan/driver/build_files.h"
#include "analyzer/scan/driver/project.h"
#include "analyzer/scan/driver/worker.h"
#include "analyzer/scan/judge/judge.h"

#include <chrono>
#include <cstdio>
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
  for (const TranslationUnit& unit : units) {
    findings.examined.push_back({unit.main_file, unit.status, unit.reason, unit.missing_headers});
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

} // namespace

report::Findings scan(const Options& options, const rules::Registry& registry) {
  const Project project = plan(options);
  Progress progress(project.requests.size());
  Limits limits;
  limits.jobs = options.jobs;
  std::vector<TranslationUnit> units =
      parse_all(project.requests, limits, [&](std::size_t done) { progress(done); });
  units.insert(units.end(), project.failed.begin(), project.failed.end());

  report::Findings findings;
  if (options.facts_only) {
    for (const TranslationUnit& unit : units)
      std::printf("%s\n", to_json(unit).c_str());
  } else {
    findings = judge(units, registry, options, build_flags_of(project));
  }
  findings.stage = options.stage;
  describe_examined(units, findings);
  findings.remarks.insert(findings.remarks.begin(), project.remarks.begin(), project.remarks.end());
  return findings;
}

} // namespace reprobe::scan
