// Findings and measurements that the report's tests share.
#pragma once

#include "analyzer/report/join.h"

namespace reprobe::report::examples {

inline Finding index_add_at(const std::string& file, unsigned line) {
  Finding finding;
  finding.rule = "nondeterministic-op";
  finding.severity = "warning";
  finding.confidence = "high";
  finding.message = "index_add_ adds floats with atomics on CUDA";
  finding.fix = "at::globalContext().setDeterministicAlgorithms(true, false);";
  finding.source = {file, line, 9, line, 30};
  finding.operators = {"aten::index_add", "aten::index_add_"};
  finding.direction = "forward";
  finding.tags = {"LT-D08"};
  finding.notes = {{{file, 3, 1, 0, 0}, "determinism is switched off here"}};
  return finding;
}

inline Measurement measured(const std::string& op, const std::string& file, unsigned line, unsigned distinct) {
  Measurement entry;
  entry.op = op;
  entry.signature = "(float32[64,16], int64, int64[4096], float32[4096,16])";
  entry.file = file;
  entry.line = line;
  entry.device = "cuda:0";
  entry.rounds = 20;
  entry.distinct = distinct;
  entry.verdict = distinct > 1 ? "varies" : "stable";
  if (distinct > 1) {
    entry.differing_share = 0.25;
    entry.max_ulp = 3;
    entry.max_absolute = 1e-7;
    entry.max_relative = 2e-6;
    entry.blamed = true;
  }
  entry.calls = 5;
  return entry;
}

inline Measurement not_examined(const std::string& op, const std::string& reason) {
  Measurement entry;
  entry.op = op;
  entry.verdict = "not-examined";
  entry.reason = reason;
  entry.calls = 1;
  return entry;
}

} // namespace reprobe::report::examples
