// What survives the program: JSON lines, appended as soon as they are known, and a page shared with the
// launcher.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::op {

struct Signature;
struct Site;

/// Layout of <run directory>/shared-<pid>-<n>: which operators are being re-executed, and how often each was
/// called.
struct SharedPage {
  static constexpr int kSlots = 64, kNameBytes = 120;
  static constexpr std::uint32_t kSignatures = 1u << 16;
  struct Slot {
    std::atomic<int> active;
    char name[kNameBytes];
  } replaying[kSlots];
  std::atomic<std::uint64_t> unlisted; // calls of signatures beyond kSignatures
  std::atomic<std::uint64_t> outside;  // calls outside of the steps and windows asked for
  std::atomic<std::uint64_t> calls[kSignatures];
};

/// <run directory>/control, written by the launcher: what a signal to it switches.
struct SharedControl {
  std::atomic<std::uint32_t> listening;
};

/// One flag of LibTorch that has another value than before.
struct FlagChange {
  std::string flag;
  nlohmann::json from, to;
  std::uint64_t step = 0;
  std::string op; // the first operator seen since, and where it was called
  const Site* site = nullptr;
};

struct OutputLine {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint32_t distinct = 1;
  double differing_share = 0, max_ulp = 0, max_absolute = 0, max_relative = 0;
  // Of an output that differed; report::MeasuredOutput says what they are.
  double mean_absolute = 0, v_ermv = 0, v_c = 0;
  std::uint64_t nan_mismatches = 0, infinity_mismatches = 0;
  std::vector<std::uint64_t> ulp_histogram;
  std::optional<std::vector<std::int64_t>> first_differing;
  std::optional<bool> same_values;
};

struct MeasurementLine {
  std::string verdict, reason;
  std::uint32_t rounds = 0, distinct = 0;
  double microseconds = 0;
  bool blamed = false;
  std::vector<OutputLine> outputs;
};

nlohmann::json to_json(const MeasurementLine&);

namespace journal {
/// Opens the files of this process; false when they cannot be written.
bool open(const std::string& directory);
SharedPage& page();
void site(const Site&);
void signature(Signature&); // once
void measured(Signature&, const MeasurementLine&);
/// A file of that name in the folder of cases.
void saved_case(const Signature&, const std::string& name);
void line(const nlohmann::json&);
void skipped(Signature&, const std::string& reason); // once
void remark(const std::string&);
void environment(const std::string& json);
void initial_flags(const nlohmann::json& values);
void flag_change(const FlagChange&);
/// The launcher's answer: does a finding name this line? False when it does not answer.
bool is_flagged(const Site&);
void end();
/// In the child of a fork: says so in <run directory>/processes and writes nothing any more.
void forked();
} // namespace journal

/// Names the operator being re-executed on the shared page while it lives.
class Replaying {
public:
  explicit Replaying(const std::string& name);
  ~Replaying();
  Replaying(const Replaying&) = delete;
  Replaying& operator=(const Replaying&) = delete;

private:
  int slot_ = -1;
};

} // namespace reprobe::op
