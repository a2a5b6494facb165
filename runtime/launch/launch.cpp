#include "runtime/launch/launch.h"

#include "analyzer/report/findings.h"
#include "analyzer/report/join.h"
#include "rules/error.h"
#include "rules/registry.h"
#include "runtime/environment/environment.h"
#include "runtime/launch/journals.h"
#include "runtime/launch/process.h"
#include "runtime/launch/program.h"
#include "runtime/launch/questions.h"
#include "runtime/launch/replay.h"
#include "runtime/op/journal.h"

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
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;

constexpr int kCouldNot = 3;

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = "reprobe: " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void check(const LaunchOptions& options, bool starts_program = true) {
  const auto refuse = [](const char* what, const std::string& why, const char* remedy) {
    throw Error(what, "reprobe run", why, remedy, 2);
  };
  if (starts_program && options.program.empty())
    refuse("no program", "nothing follows --", "write: reprobe run [options] -- PROGRAM [ARGUMENTS]");
  if (options.rounds < 2)
    refuse("--rounds is too small", "one execution has nothing to be compared with", "give 2 or more");
  if (options.per_signature < 1)
    refuse("--per-signature is too small", "no call would be examined", "give 1 or more");
  if (options.every < 1)
    refuse("--every is too small", "every call is --every 1", "give 1 or more");
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

/// What --ops and --from ask for.
struct Selection {
  std::vector<std::string> globs; // of operators
  std::vector<FlaggedLine> lines;
  std::string text; // for messages: "--ops aten::conv*"; empty: everything
};

Selection selection_of(const LaunchOptions& options) {
  Selection selection;
  selection.globs = options.operators;
  for (const std::string& glob : options.operators)
    if (glob.rfind('!', 0) != 0)
      selection.text += (selection.text.empty() ? "--ops " : " --ops ") + glob;
  if (!options.findings)
    return selection;
  const report::Findings findings =
      report::findings_from_json(report::read_file(*options.findings), *options.findings);
  std::set<std::string> names;
  for (const report::Finding& finding : findings.findings)
    names.insert(finding.operators.begin(), finding.operators.end());
  selection.lines = lines_of(findings);
  if (names.empty() && selection.lines.empty())
    throw Error("nothing to measure", *options.findings, "none of its findings names an operator or a line",
                "leave --from out to measure every operator", 2);
  selection.globs.insert(selection.globs.end(), names.begin(), names.end());
  selection.text += (selection.text.empty() ? "--from " : " --from ") + options.findings->string();
  return selection;
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

constexpr const char* kCaseDirectory = "REPROBE_CASE_DIRECTORY";

/// Writes what the observer reads, and makes the folder for its cases: the answer, where it saves any.
std::optional<fs::path> prepare_folders(const LaunchOptions& options, const Selection& selection,
                                        std::uint64_t memory, const fs::path& run_directory, Settings settings = {}) {
  const auto add = [&](const char* name, const std::string& value) { settings.emplace_back(name, value); };
  add("REPROBE_ROUNDS", std::to_string(options.rounds));
  add("REPROBE_PER_SIGNATURE", std::to_string(options.per_signature));
  add("REPROBE_EVERY", std::to_string(options.every));
  add("REPROBE_SKIP", std::to_string(options.skip));
  add("REPROBE_STEPS", std::to_string(options.steps));
  add("REPROBE_ASK_LINES", selection.lines.empty() ? "0" : "1");
  add("REPROBE_BUDGET_SECONDS", fmt::format("{}", options.budget_seconds));
  add("REPROBE_MEMORY_BYTES", std::to_string(memory));
  const auto cases = case_directory(options, run_directory);
  if (cases) {
    make_case_directory(*cases);
    add(kCaseDirectory, cases->string());
    add("REPROBE_CASE_BYTES", std::to_string(options.case_bytes));
  }
  write_settings(run_directory, settings, selection.globs, options.windows);
  return cases;
}

/// Of a run whose launcher is gone.
std::optional<fs::path> saved_cases(const fs::path& run_directory) {
  std::ifstream settings(run_directory / "settings");
  const std::string prefix = std::string(kCaseDirectory) + "=";
  for (std::string line; std::getline(settings, line);)
    if (line.rfind(prefix, 0) == 0)
      return line.substr(prefix.size());
  return std::nullopt;
}

/// A page that all observed processes read: whether they are to examine, as a signal to us switches it.
class Control {
public:
  explicit Control(const fs::path& run_directory) {
    const fs::path path = run_directory / "control";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool sized = file >= 0 && ::ftruncate(file, sizeof(op::SharedControl)) == 0;
    void* page = sized ? ::mmap(nullptr, sizeof(op::SharedControl), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                       : MAP_FAILED;
    const int error = errno;
    if (file >= 0)
      ::close(file);
    if (page == MAP_FAILED)
      throw Error("the run's folder cannot be written", path, std::strerror(error),
                  "free some space, or point TMPDIR elsewhere", kCouldNot);
    page_ = static_cast<op::SharedControl*>(page);
  }
  ~Control() { ::munmap(page_, sizeof(op::SharedControl)); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  op::SharedControl* page() { return page_; }

private:
  op::SharedControl* page_ = nullptr;
};

int signal_number(const std::string& name) {
  std::string plain = name;
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::toupper(c); });
  if (plain.rfind("SIG", 0) == 0)
    plain.erase(0, 3);
  if (plain == "USR1")
    return SIGUSR1;
  if (plain == "USR2")
    return SIGUSR2;
  throw Error("--signal is not a signal to wait for", name, "the others have a meaning of their own",
              "give USR1 or USR2", 2);
}

/// After the program: its cases get their source lines, and are re-executed in fresh processes.
void use_cases(const LaunchOptions& options, const fs::path& directory, Collected& collected) {
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
    replay.memory_bytes = options.memory_bytes.value_or(default_memory());
    replay.trust_program = true; // this run started it
    const ReplayOutcome outcome = replay_into(collected.entries, replay);
    collected.remarks.insert(collected.remarks.end(), outcome.remarks.begin(), outcome.remarks.end());
  }
  if (!options.case_directory)
    for (report::Measurement& entry : collected.entries)
      entry.case_file.clear();
}

std::vector<std::string> environment_of(const LaunchOptions& options, const fs::path& run_directory, bool preload) {
  if (!preload)
    return plain_environment();
  Settings more;
  if (!options.trace_children)
    more.emplace_back("REPROBE_ONLY_THIS_PROCESS", "1");
  if (!options.windows.empty() && !std::getenv("NVTX_INJECTION64_PATH")) // else another tool listens
    more.emplace_back("NVTX_INJECTION64_PATH", shim().string());
  return observed_environment(run_directory, more);
}

std::string describe_end(std::optional<int> of_program) {
  if (!of_program)
    return "the program was killed, ended without running its exit handlers, or still runs";
  const int status = *of_program;
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

/// ", first seen at train.cpp:41 (aten::conv2d)".
std::string seen_at(const nlohmann::json& change) {
  std::string text = ", first seen";
  if (const auto source = change.find("source"); source != change.end()) {
    const std::string file = source->value("file", "");
    text += " at " + (file.empty() ? source->value("function", "")
                                   : fmt::format("{}:{}", file, source->value("line", 0)));
  }
  return text + " (" + change.at("operator").get<std::string>() + ")";
}

/// Nothing was examined because nothing was asked for that the program does; empty when that is not so.
std::string nothing_matched(const LaunchOptions& options, const Selection& selection,
                            const std::map<fs::path, Collected>& collected) {
  std::uint64_t outside = 0;
  for (const auto& [path, of_file] : collected) {
    if (!of_file.entries.empty() || of_file.observed_processes == 0)
      return {};
    outside += of_file.outside;
  }
  if (outside > 0)
    return fmt::format("all {} calls that could be examined were outside of the steps and ranges asked for",
                       outside);
  if (!selection.text.empty())
    return "no operation of the program matches " + selection.text;
  if (options.skip > 0 || !options.windows.empty() || !options.signal.empty())
    return "the program called no operation that could be examined";
  return {};
}

void print_summary(const report::Measurements& measurements, const Collected& collected,
                   const LaunchOptions& options, const fs::path& output) {
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
    say("  and {} more in {}", shown - kShown, output.string());
  for (const auto& [reason, count] : counts.not_examined)
    say("  not examined: {} ({})", reason, count);
  if (collected.outside > 0)
    say("  {} calls outside of the steps and ranges asked for were not examined", collected.outside);
  shown = 0;
  for (const auto& change : measurements.flags)
    if (++shown <= kShown)
      say("  {} changed from {} to {} in step {}{}", change.at("flag").get<std::string>(),
          change.at("from").dump(), change.at("to").dump(), change.at("step").dump(), seen_at(change));
  if (shown > kShown)
    say("  and {} more changes of flags in {}", shown - kShown, output.string());
  for (const std::string& remark : collected.remarks)
    say("  note: {}", remark);
  if (options.verbose || collected.observed_processes == 0)
    for (const std::string& refusal : collected.refusals)
      say("  not observed: {}", refusal);
  say("measurements are in {}", output.string());
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

report::Measurements assemble(const LaunchOptions& options, Collected& collected, std::optional<int> status,
                              const std::string& unobserved, std::uint64_t memory) {
  report::Measurements measurements;
  measurements.entries = std::move(collected.entries);
  measurements.flags = std::move(collected.flags);
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
  } else if (status && WIFSIGNALED(*status)) {
    measurements.complete = false;
    measurements.reason = describe_end(status) + ", after its exit handlers had begun";
  }
  auto& program = measurements.program;
  program["arguments"] = options.program;
  if (status && WIFSIGNALED(*status))
    program["signal"] = WTERMSIG(*status);
  else if (status)
    program["exit_code"] = WEXITSTATUS(*status);
  program["processes"] = collected.observed_processes;
  program["budget"] = {{"rounds", options.rounds},
                       {"per_signature", options.per_signature},
                       {"every", options.every},
                       {"skip", options.skip},
                       {"steps", options.steps},
                       {"seconds", options.budget_seconds},
                       {"memory_bytes", memory}};
  if (!options.windows.empty())
    program["windows"] = options.windows;
  if (collected.outside > 0)
    program["outside_calls"] = collected.outside;
  program["left_out"] = nlohmann::json::array();
  for (const auto& [reason, count] : tally(measurements).not_examined)
    program["left_out"].push_back({{"reason", reason}, {"signatures", count}});
  program["remarks"] = collected.remarks;
  for (const std::string& refusal : collected.refusals)
    program["remarks"].push_back("not observed: " + refusal);
  return measurements;
}

/// The program's own failure wins, then what kept us from measuring, then what varied.
int exit_code_of(int status, const LaunchOptions& options, bool examined, bool varies) {
  if (WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) != 0)
    return WEXITSTATUS(status);
  if (!examined)
    return kCouldNot;
  return varies && options.error_exit_code ? *options.error_exit_code : 0;
}

/// Where each process's measurements go.
class Outputs {
public:
  explicit Outputs(std::string pattern)
      : pattern_(std::move(pattern)), by_process_(names_processes(pattern_)), self_(op::process_identity()),
        common_(expand_output(pattern_, self_)) {}

  /// Before anything is known of the program's processes.
  const fs::path& common() const { return common_; }
  fs::path of(Identity process) const {
    if (!by_process_)
      return common_;
    if (process.rank.empty())
      process.rank = self_.rank;
    return expand_output(pattern_, process);
  }

private:
  std::string pattern_;
  bool by_process_;
  Identity self_;
  fs::path common_;
};

/// Reads what the observers left, and writes and prints the measurements. `status` is that of waitpid.
LaunchOutcome finish(const LaunchOptions& options, const Selection& selection, const Outputs& outputs,
                     const fs::path& run_directory, const std::optional<fs::path>& cases, std::optional<int> status,
                     const std::string& unobserved, std::uint64_t memory) {
  auto collected = collect_by(run_directory, [&](const Identity& process) { return outputs.of(process); });
  const std::string unmatched = nothing_matched(options, selection, collected);
  LaunchOutcome outcome;
  bool observed = false, varies = false;
  std::optional<int> failure;
  for (auto& [path, of_file] : collected) {
    if (cases)
      use_cases(options, *cases, of_file);
    report::Measurements& measurements = outcome.measurements[path] =
        assemble(options, of_file, status, unobserved, memory);
    observed |= of_file.observed_processes > 0;
    varies |= std::any_of(measurements.entries.begin(), measurements.entries.end(),
                          [](const auto& entry) { return entry.verdict == "varies"; });
    try {
      report::write_file(path, report::to_json(measurements));
      print_summary(measurements, of_file, options, path);
    } catch (const Error& error) { // the disk filled up meanwhile; the program's own failure still wins
      say("error: {}", error.what());
      failure = error.exit_code == 2 ? kCouldNot : error.exit_code;
    }
  }
  if (!unmatched.empty())
    say("error: nothing was examined: {}", unmatched);
  outcome.exit_code = exit_code_of(status.value_or(0), options, observed && unmatched.empty(), varies);
  if (failure && outcome.exit_code == 0)
    outcome.exit_code = *failure;
  return outcome;
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
  const Selection selection = selection_of(options);
  const fs::path program =
      options.executable.empty() ? find_program(options.program.front()) : options.executable;
  const Outputs outputs(options.output);
  check_output(outputs.common());
  Obstacle obstacle = obstacle_to_observing(program);
  if (obstacle.reason.empty() && !fs::exists(shim()))
    obstacle = {"the observer is not there (" + shim().string() +
                    "): this build of Reprobe has no LibTorch half, or was moved",
                true};
  if (!obstacle.reason.empty())
    say("the program runs unobserved: {}", obstacle.reason);

  const RunDirectory directory;
  const std::uint64_t memory = options.memory_bytes.value_or(default_memory());
  const auto cases = prepare_folders(options, selection, memory, directory.path());
  std::optional<Control> control;
  KeptSignal kept;
  if (!options.signal.empty()) {
    control.emplace(directory.path());
    kept = {signal_number(options.signal), &control->page()->listening};
  }
  std::optional<LineAnswers> answers;
  if (!selection.lines.empty())
    answers.emplace(directory.path(), selection.lines);
  if (options.verbose)
    say("running {} with {} rounds an operation, {:g} s and {} MiB for re-executions", program.string(),
        options.rounds, options.budget_seconds, memory >> 20);
  const int status = run(program, options.program,
                         environment_of(options, directory.path(), obstacle.reason.empty()), std::nullopt, kept);
  answers.reset();
  return finish(options, selection, outputs, directory.path(), cases, status, obstacle.reason, memory);
}

void prepare(const LaunchOptions& options, const fs::path& run_directory) {
  check(options, false);
  Selection selection = selection_of(options);
  if (!options.signal.empty())
    throw Error("--signal needs a launcher", "reprobe::Observe", "a signal to the program is the program's own",
                "let the program open and leave scopes itself, or start it with reprobe run", 2);
  if (replays_cases(options))
    throw Error("--processes, --amp and --strict need a launcher", "reprobe::Observe",
                "they start processes when the program has ended",
                "give --save-case and reprobe replay the cases, or start the program with reprobe run", 2);
  if (!selection.lines.empty() && selection.globs.empty())
    throw Error("the findings name no operator", *options.findings,
                "lines are looked up by the launcher, and this program observes itself",
                "start it with reprobe run", 2);
  selection.lines.clear();
  if (!fs::exists(observer()))
    throw Error("the observer is not there", observer(),
                "this build of Reprobe has no LibTorch half, or was moved",
                "build Reprobe with the program's LibTorch: -DTorch_DIR=...", kCouldNot);
  const Outputs outputs(options.output);
  check_output(outputs.common());
  prepare_folders(options, selection, options.memory_bytes.value_or(default_memory()), run_directory,
                  {{"REPROBE_OBSERVER", observer().string()},
                   {"REPROBE_COLLECTOR", fs::read_symlink("/proc/self/exe").string()},
                   {"REPROBE_OUTPUT", fs::absolute(options.output).string()}});
}

int collect_run(LaunchOptions options, const fs::path& run_directory) {
  if (!fs::exists(run_directory / "settings"))
    throw Error("there is nothing to collect", run_directory, "it is not the folder of a run",
                "name the folder that a run left", 2);
  const Outputs outputs(options.output);
  check_output(outputs.common());
  const auto cases = saved_cases(run_directory);
  if (cases && cases->parent_path() != fs::absolute(run_directory))
    options.case_directory = cases; // they stay
  const int exit_code =
      finish(options, {}, outputs, run_directory, cases, std::nullopt, {}, options.memory_bytes.value_or(0)).exit_code;
  std::error_code error;
  fs::remove_all(run_directory, error);
  return exit_code;
}

} // namespace reprobe::launch
