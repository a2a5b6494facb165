// The baseline's part of `reprobe scan`: which file, what is accepted, and what is written back.
#pragma once

#include "analyzer/cli/scan_options.h"
#include "analyzer/report/baseline.h"

#include <functional>
#include <optional>

namespace reprobe::cli {

struct BaselineResult {
  std::size_t accepted = 0, stale = 0, added = 0, removed = 0;
};

class ScanBaseline {
public:
  /// Reads the file that the options or the configuration name, if any. Throws reprobe::Error.
  ScanBaseline(const BaselineOptions&, const std::optional<std::filesystem::path>& from_config);
  /// Before any filter: `is_judged` tells whether the scan looked for a rule's findings in a file.
  void accept(report::Findings&,
              const std::function<bool(const std::string& rule, const std::string& file)>& is_judged);
  /// After the filters: what is still reported can be accepted too.
  void save(report::Findings&);
  const BaselineResult& result() const { return result_; }

private:
  const BaselineOptions& options_;
  std::filesystem::path file_; // empty: none
  report::Baseline baseline_;
  BaselineResult result_;
};

} // namespace reprobe::cli
