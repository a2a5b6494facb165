#include "runtime/launch/launch.h"

#include "analyzer/report/findings.h"
#include "analyzer/report/join.h"
#include "rules/error.h"
#include "rules/registry.h"
#include "runtime/environment/environment.h"
#include "runtime/launch/journals.h"
#include "runtime/launch/process.h"
#include "runtime/launch/program.h"
#include "runtime/launch/replay.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <limits>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;

constexpr int kCouldNot = 3;

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = "reprobe: " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void check(const LaunchOptions& options) {
  const auto refuse = [](const char* what, const std::string& why, const char* remedy) {
    throw Error(what, "reprobe run", why, remedy, 2);
  };
  if (options.program.empty())
    refuse("no program", "nothing follows --", "write: reprobe run [options] -- PROGRAM [ARGUMENTS]");
  if (options.rounds < 2)
    refuse("--rounds is too small", "one execution has nothing to be compared with", "give 2 or more");
  if (options.per_signature < 1)
    refuse("--per-signature is too small", "no call would be examined", "give 1 or more");
  if (!(options.budget_seconds > 0))
    refuse("--budget is not a time", "nothing could be re-executed", "give seconds, more than 0");
  if (options.error_exit_code && (*options.error_exit_code < 1 || *options.error_exit_code > 255))
    refuse("--error-exitcode is not an exit code", "exit codes reach from 0, which means success, to 255",
           "give 1 to 255");
  if (options.processes < 0 || options.processes > 1000)
    refuse("--processes is no number of processes", "each re-executes all cases", "give 1 to 1000");
  if (options.output == "-")
    refuse("-o - is not possible", "standard output is the program's", "name a file");
}

std::vector<std::string> selected_operators(const LaunchOptions& options) {
  std::vector<std::string> globs = options.operators;
  if (!options.findings)
    return globs;
  const report::Findings findings =
      report::findings_from_json(report::read_file(*options.findings), *options.findings);
  std::set<std::string> names;
  for (const report::Finding& finding : findings.findings)
    names.insert(finding.operators.begin(), finding.operators.end());
  if (names.empty())
    throw Error("nothing to measure", *options.findings, "none of its findings names an operator",
                "leave --from out to measure every operator", 2);
  globs.insert(globs.end(), names.begin(), names.end());
  return globs;
}

bool replays_cases(const LaunchOptions& options) {
  return options.amp || options.strict || options.processes > 0;
}

/// Where cases go: kept, or only for what follows the program.
std::optional<fs::path> case_directory(const LaunchOptions& options, const fs::path& run_directory) {
  if (options.case_directory)
    return fs::absolute(*options.case_directory);
  return replays_cases(options) ? std::optional(run_directory / "cases") : std::nullopt;
}

void make_case_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error || ::access(directory.c_str(), W_OK) != 0)
    throw Error("cases cannot be saved", directory, error ? error.message() : std::strerror(errno),
                "name another folder with --save-case", kCouldNot);
}

/// After the program: its cases get their source lines, and are re-executed in fresh processes.
void use_cases(const LaunchOptions& options, const fs::path& directory, std::uint64_t memory,
               Collected& collected) {
  complete_cases(collected.entries, directory, collected.remarks);
  std::error_code error;
  for (const std::string& name : collected.unused_cases)
    fs::remove(directory / name, error);
  if (replays_cases(options)) {
    ReplayOptions replay;
    replay.rounds = options.rounds;
    replay.processes = std::max(1, options.processes);
    replay.as_recorded = options.processes > 0;
    replay.amp = options.amp;
    replay.strict = options.strict;
    replay.memory_bytes = memory;
    replay.trust_program = true; // this run started it
    const ReplayOutcome outcome = replay_into(collected.entries, replay);
    collected.remarks.insert(collected.remarks.end(), outcome.remarks.begin(), outcome.remarks.end());
  }
  if (!options.case_directory)
    for (report::Measurement& entry : collected.entries)
      entry.case_file.clear();
}

std::vector<std::string> environment_of(const LaunchOptions& options, const fs::path& run_directory,
                                        bool preload, std::uint64_t memory) {
  if (!preload)
    return plain_environment();
  Settings settings;
  const auto add = [&](const char* name, const std::string& value) { settings.emplace_back(name, value); };
  add("REPROBE_ROUNDS", std::to_string(options.rounds));
  add("REPROBE_PER_SIGNATURE", std::to_string(options.per_signature));
  add("REPROBE_BUDGET_SECONDS", fmt::format("{}", options.budget_seconds));
  add("REPROBE_MEMORY_BYTES", std::to_string(memory));
  if (const auto cases = case_directory(options, run_directory)) {
    add("REPROBE_CASE_DIRECTORY", cases->string());
    add("REPROBE_CASE_BYTES", std::to_string(options.case_bytes));
  }
  return observed_environment(run_directory, settings);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("the program was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fmt::format("the program ended with exit code {} without running its exit handlers",
                       WEXITSTATUS(status));
  return "a process ended without running its exit handlers (_exit), or another program took its place";
}

struct Tally {
  std::size_t measured = 0, varying = 0, blamed = 0;
  std::map<std::string, std::size_t> not_examined; // reason to signatures
};

/// Numbers and names out of a reason, so that like reasons are counted together.
std::string kind_of(const std::string& reason) {
  std::string kind = reason.substr(0, reason.find("; its forward call is not known"));
  // "(float32[64,16])" differs from call to call; what follows it does not.
  for (std::size_t open; (open = kind.find(" (")) != std::string::npos;) {
    const std::size_t close = kind.find(')', open);
    kind.erase(open, close == std::string::npos ? std::string::npos : close + 1 - open);
  }
  if (kind.rfind("re-executing it failed", 0) == 0)
    return "re-executing it failed";
  if (kind.rfind("replay not faithful", 0) == 0)
    return "replay not faithful";
  return kind;
}

Tally tally(const report::Measurements& measurements) {
  Tally tally;
  for (const report::Measurement& entry : measurements.entries) {
    if (!entry.path.empty())
      continue; // inside another
    if (entry.verdict == "not-examined")
      ++tally.not_examined[kind_of(entry.reason)];
    else
      ++tally.measured;
    tally.varying += entry.verdict == "varies";
  }
  return tally;
}

void print_summary(const report::Measurements& measurements, const Collected& collected,
                   const LaunchOptions& options) {
  constexpr std::size_t kShown = 20;
  const Tally counts = tally(measurements);
  std::size_t not_examined = 0;
  for (const auto& [reason, count] : counts.not_examined)
    not_examined += count;
  say("{} operations measured, {} {}, {} not examined{}", counts.measured, counts.varying,
      counts.varying == 1 ? "varies" : "vary", not_examined,
      measurements.complete ? "" : "; not complete: " + measurements.reason);
  for (const std::string& line : modes_text(measurements.entries))
    say("  {}", line);
  std::size_t shown = 0;
  for (const report::Measurement& entry : measurements.entries) {
    if (entry.verdict != "varies" || !entry.blamed || ++shown > kShown)
      continue;
    const std::string where = entry.file.empty() ? entry.function.empty() ? "unknown place" : entry.function
                                                 : fmt::format("{}:{}", entry.file, entry.line);
    say("  varies: {} at {}: {}", report::name_of(entry), where, report::distance_of(entry));
  }
  if (shown > kShown)
    say("  and {} more in {}", shown - kShown, options.output.string());
  for (const auto& [reason, count] : counts.not_examined)
    say("  not examined: {} ({})", reason, count);
  for (const std::string& remark : collected.remarks)
    say("  note: {}", remark);
  if (options.verbose || collected.observed_processes == 0)
    for (const std::string& refusal : collected.refusals)
      say("  not observed: {}", refusal);
  say("measurements are in {}", options.output.string());
}

std::string version_text(const nlohmann::json& number) { // 13000: "13.0"
  return fmt::format("{}.{}", number.get<int>() / 1000, number.get<int>() % 1000 / 10);
}

nlohmann::json merged_environment(const Collected& collected) {
  nlohmann::json environment = environment::fingerprint();
  for (const auto& [key, value] : collected.environment.items())
    environment[key] = value;
  if (environment.contains("cuda_runtime") && environment["cuda_runtime"].is_number_integer())
    environment["cuda"] = version_text(environment["cuda_runtime"]);
  return environment;
}

report::Measurements assemble(const LaunchOptions& options, Collected& collected, int status,
                              const std::string& unobserved, std::uint64_t memory) {
  report::Measurements measurements;
  measurements.entries = std::move(collected.entries);
  measurements.environment = merged_environment(collected);
  if (collected.observed_processes == 0) {
    measurements.complete = false;
    measurements.reason = !unobserved.empty() ? unobserved
                          : collected.refusals.empty()
                              ? "no process of the program could be observed"
                              : fmt::format("{}", fmt::join(collected.refusals, "; "));
  } else if (collected.unfinished_processes > 0) {
    measurements.complete = false;
    measurements.reason = describe_end(status);
    if (!collected.replaying.empty())
      measurements.reason += " while Reprobe re-executed " + collected.replaying +
                             " (leave it out with --ops '!" + collected.replaying + "')";
  } else if (WIFSIGNALED(status)) {
    measurements.complete = false;
    measurements.reason = describe_end(status) + ", after its exit handlers had begun";
  }
  auto& program = measurements.program;
  program["arguments"] = options.program;
  if (WIFSIGNALED(status))
    program["signal"] = WTERMSIG(status);
  else
    program["exit_code"] = WEXITSTATUS(status);
  program["processes"] = collected.observed_processes;
  program["budget"] = {{"rounds", options.rounds},
                       {"per_signature", options.per_signature},
                       {"seconds", options.budget_seconds},
                       {"memory_bytes", memory}};
  program["left_out"] = nlohmann::json::array();
  for (const auto& [reason, count] : tally(measurements).not_examined)
    program["left_out"].push_back({{"reason", reason}, {"signatures", count}});
  program["remarks"] = collected.remarks;
  for (const std::string& refusal : collected.refusals)
    program["remarks"].push_back("not observed: " + refusal);
  return measurements;
}

int exit_code_of(int status, const LaunchOptions& options, const Collected& collected,
                 const report::Measurements& measurements) {
  if (WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) != 0)
    return WEXITSTATUS(status);
  if (collected.observed_processes == 0)
    return kCouldNot;
  const bool varies = std::any_of(measurements.entries.begin(), measurements.entries.end(),
                                  [](const auto& entry) { return entry.verdict == "varies"; });
  return varies && options.error_exit_code ? *options.error_exit_code : 0;
}

} // namespace

void check_output(const fs::path& output) {
  std::error_code error;
  if (fs::is_directory(output, error))
    throw Error("the measurements cannot be written", output, "it is a folder", "name a file with -o",
                kCouldNot);
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  std::string probe = (folder / ".reprobe-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0)
    throw Error("the measurements cannot be written", output, std::strerror(errno),
                "name another file with -o", kCouldNot);
  ::close(file);
  ::unlink(probe.c_str());
}

std::uint64_t default_memory() {
  std::ifstream info("/proc/meminfo");
  std::uint64_t available = std::uint64_t(8) << 30;
  for (std::string key, unit; info >> key;) {
    std::uint64_t kibibytes = 0;
    info >> kibibytes;
    std::getline(info, unit);
    if (key == "MemAvailable:")
      available = kibibytes * 1024;
  }
  return std::min(std::uint64_t(2) << 30, available / 4);
}

fs::path library_directory() {
  if (const char* named = std::getenv("REPROBE_LIBRARY_DIR"); named && *named)
    return fs::absolute(named);
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "lib";
}

std::uint64_t parse_bytes(const std::string& text) {
  const auto refuse = [&] {
    return Error("not an amount of memory", text, "it is not a number with B, K, M, G or T",
                 "write 512M or 2GiB", 2);
  };
  std::size_t digits = 0;
  double value = 0;
  try {
    value = std::stod(text, &digits);
  } catch (const std::exception&) {
    throw refuse();
  }
  std::string unit = text.substr(digits);
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  if (unit.size() > 1 && unit.back() == 'b')
    unit.pop_back();
  if (unit.size() > 1 && unit.back() == 'i')
    unit.pop_back();
  const std::string units = "bkmgt";
  if (unit.empty())
    unit = "b";
  const auto power = units.find(unit);
  if (unit.size() != 1 || power == std::string::npos || !(value >= 0) || !std::isfinite(value))
    throw refuse();
  const double bytes = value * std::pow(1024.0, double(power));
  if (bytes >= 9.2e18)
    throw refuse();
  return static_cast<std::uint64_t>(bytes);
}

LaunchOutcome launch(const LaunchOptions& options) {
  check(options);
  const std::vector<std::string> selection = selected_operators(options);
  const fs::path program = find_program(options.program.front());
  check_output(options.output);
  const fs::path shim = library_directory() / "libreprobe-preload.so";
  Obstacle obstacle = obstacle_to_observing(program);
  if (obstacle.reason.empty() && !fs::exists(shim))
    obstacle = {"the observer is not there (" + shim.string() +
                    "): this build of Reprobe has no LibTorch half, or was moved",
                true};
  if (!obstacle.reason.empty())
    say("the program runs unobserved: {}", obstacle.reason);

  const RunDirectory directory;
  directory.write("selection", selection);
  directory.write("not-replayed", operators_not_replayed());
  const std::uint64_t memory = options.memory_bytes.value_or(default_memory());
  if (options.verbose)
    say("running {} with {} rounds an operation, {:g} s and {} MiB for re-executions", program.string(),
        options.rounds, options.budget_seconds, memory >> 20);
  const auto cases = case_directory(options, directory.path());
  if (cases)
    make_case_directory(*cases);
  const int status =
      run(program, options.program,
          environment_of(options, directory.path(), !obstacle.harmful && obstacle.reason.empty(), memory));

  Collected collected = collect(directory.path());
  if (cases)
    use_cases(options, *cases, memory, collected);
  LaunchOutcome outcome;
  outcome.measurements = assemble(options, collected, status, obstacle.reason, memory);
  outcome.exit_code = exit_code_of(status, options, collected, outcome.measurements);
  try {
    report::write_file(options.output, report::to_json(outcome.measurements));
    print_summary(outcome.measurements, collected, options);
  } catch (const Error& error) { // the disk filled up meanwhile; the program's own failure still wins
    say("error: {}", error.what());
    if (outcome.exit_code == 0)
      outcome.exit_code = error.exit_code == 2 ? kCouldNot : error.exit_code;
  }
  return outcome;
}

} // namespace reprobe::launch
