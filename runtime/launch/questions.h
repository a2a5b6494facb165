// Answers the observer's one question while the program runs: does a finding name the line of this call? The
// observer knows addresses only, and symbolising inside the program would disturb it.
#pragma once

#include "analyzer/report/findings.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace reprobe::launch {

/// A line that a finding names.
struct FlaggedLine {
  std::string file; // as findings give it: the end of the path that the compiler knew
  std::uint32_t first = 0, last = 0;
};

std::vector<FlaggedLine> lines_of(const report::Findings&);

/// A thread that serves <run directory>/questions for as long as it lives. Throws reprobe::Error.
class LineAnswers {
public:
  LineAnswers(const std::filesystem::path& run_directory, std::vector<FlaggedLine>);
  ~LineAnswers();
  LineAnswers(const LineAnswers&) = delete;
  LineAnswers& operator=(const LineAnswers&) = delete;

private:
  class Server;
  std::unique_ptr<Server> server_;
};

} // namespace reprobe::launch
