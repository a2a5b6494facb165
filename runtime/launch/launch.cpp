#include "runtime/launch/launch.h"

#include "analyzer/report/findings.h"
#include "analyzer/report/join.h"
#include "rules/error.h"
#include "rules/registry.h"
#include "runtime/environment/environment.h"
#include "runtime/launch/journals.h"
#include "runtime/launch/program.h"
#include "runtime/launch/questions.h"
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
#include <sys/prctl.h>
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
  if (options.output == "-")
    refuse("-o - is not possible", "standard output is the program's", "name a file");
}

/// Before the program runs for hours: can the result be written where it is to go?
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

void write_lines(const fs::path& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines)
    file << line << '\n';
  file.close();
  if (!file)
    throw Error("the run's folder cannot be written", path, "is the disk full?",
                "free some space, or point TMPDIR elsewhere", kCouldNot);
}

/// The private folder through which the observer and the launcher speak; removed at the end.
class RunDirectory {
public:
  RunDirectory() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string name = ((error ? fs::path("/tmp") : temporary) / "reprobe-run-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Error("no folder for the run can be made", name, std::strerror(errno),
                  "free some space, or point TMPDIR elsewhere", kCouldNot);
    path_ = name;
  }
  ~RunDirectory() {
    std::error_code error;
    if (!std::getenv("REPROBE_KEEP_RUN_DIRECTORY"))
      fs::remove_all(path_, error);
  }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

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

std::vector<std::string> operators_not_replayed() {
  std::vector<std::string> lines;
  for (const auto& row : rules::Registry::builtin().table("replay"))
    lines.push_back(row.at("operator").get<std::string>() + "\t" + row.at("reason").get<std::string>());
  return lines;
}

fs::path observer() { return library_directory() / "libreprobe-op.so"; }

/// What the observer reads: <run directory>/settings, one NAME=value a line.
std::vector<std::string> settings_of(const LaunchOptions& options, const Selection& selection,
                                     std::uint64_t memory) {
  std::vector<std::string> settings;
  const auto add = [&](const char* name, const std::string& value) {
    settings.push_back(std::string(name) + "=" + value);
  };
  if (const fs::path compare = library_directory() / "libreprobe-compare-cuda.so"; fs::exists(compare))
    add("REPROBE_COMPARE_CUDA", compare.string());
  add("REPROBE_ROUNDS", std::to_string(options.rounds));
  add("REPROBE_PER_SIGNATURE", std::to_string(options.per_signature));
  add("REPROBE_EVERY", std::to_string(options.every));
  add("REPROBE_SKIP", std::to_string(options.skip));
  add("REPROBE_STEPS", std::to_string(options.steps));
  add("REPROBE_ASK_LINES", selection.lines.empty() ? "0" : "1");
  add("REPROBE_BUDGET_SECONDS", fmt::format("{}", options.budget_seconds));
  add("REPROBE_MEMORY_BYTES", std::to_string(memory));
  return settings;
}

std::vector<std::string> environment_of(const LaunchOptions& options, const fs::path& run_directory,
                                        bool preload) {
  const fs::path shim = library_directory() / "libreprobe-preload.so";
  std::vector<std::string> variables;
  std::string preloaded;
  bool other_nvtx_tool = false;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    if (text.rfind("LD_PRELOAD=", 0) == 0)
      preloaded = text.substr(11);
    else if (text.rfind("REPROBE_", 0) != 0 || text.rfind("REPROBE_LIBRARY_DIR=", 0) == 0)
      variables.push_back(text);
    other_nvtx_tool |= text.rfind("NVTX_INJECTION64_PATH=", 0) == 0;
  }
  if (preload) {
    if (preloaded.rfind(shim.string(), 0) != 0) // by hand, with REPROBE_OUTPUT
      preloaded = preloaded.empty() ? shim.string() : shim.string() + ":" + preloaded;
    variables.push_back("REPROBE_RUN_DIRECTORY=" + run_directory.string());
    if (fs::exists(observer()))
      variables.push_back("REPROBE_OBSERVER=" + observer().string());
    if (!options.trace_children)
      variables.push_back("REPROBE_ONLY_THIS_PROCESS=1");
    if (!options.windows.empty() && !other_nvtx_tool)
      variables.push_back("NVTX_INJECTION64_PATH=" + shim.string());
  }
  if (!preloaded.empty())
    variables.push_back("LD_PRELOAD=" + preloaded);
  return variables;
}

void write_settings(const LaunchOptions& options, const Selection& selection, std::uint64_t memory,
                    const fs::path& run_directory, const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = settings_of(options, selection, memory);
  settings.insert(settings.end(), more.begin(), more.end());
  write_lines(run_directory / "settings", settings);
  write_lines(run_directory / "windows", options.windows);
  write_lines(run_directory / "selection", selection.globs);
  write_lines(run_directory / "not-replayed", operators_not_replayed());
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

// Signals meant for the program that reach only us are passed on; the terminal sends its own to both.

volatile sig_atomic_t child_process = 0;
volatile sig_atomic_t switching_signal = 0; // kept for ourselves
op::SharedControl* volatile control_page = nullptr;

void pass_on(int signal, siginfo_t* info, void*) {
  const int before = errno;
  if (signal == switching_signal)
    control_page->listening.fetch_xor(1);
  else if (child_process > 0 && info->si_code != SI_KERNEL)
    ::kill(static_cast<pid_t>(child_process), signal);
  errno = before;
}

class PassSignalsOn {
public:
  PassSignalsOn() {
    struct sigaction action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN || kSignals[i] == switching_signal)
        ::sigaction(kSignals[i], &action, nullptr); // as under nohup
    }
  }
  ~PassSignalsOn() {
    child_process = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  PassSignalsOn(const PassSignalsOn&) = delete;
  PassSignalsOn& operator=(const PassSignalsOn&) = delete;

private:
  static constexpr std::array<int, 6> kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

/// Runs the program to its end; the status as of waitpid.
int run(const fs::path& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& variables) {
  std::vector<char*> argv, envp;
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& variable : variables)
    envp.push_back(const_cast<char*>(variable.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0)
    throw Error("the program cannot be started", program, std::strerror(errno), "", kCouldNot);

  sigset_t all, mask;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // Whoever kills us means the program: launchers know only our number.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
      ::_exit(127);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    // As execvp: a file that is neither a binary nor names its interpreter is a script for sh.
    ::execve(program.c_str(), argv.data(), envp.data());
    if (errno == ENOEXEC) {
      std::vector<char*> shell = {const_cast<char*>("sh"), const_cast<char*>(program.c_str())};
      shell.insert(shell.end(), argv.begin() + 1, argv.end());
      ::execve("/bin/sh", shell.data(), envp.data());
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(failure[1], &error, sizeof error);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(failure[1]);
  child_process = child;
  const PassSignalsOn passing;
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (child < 0) {
    ::close(failure[0]);
    throw Error("the program cannot be started", program, std::strerror(fork_error), "", kCouldNot);
  }
  int error = 0;
  ssize_t got;
  while ((got = ::read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  ::close(failure[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (got == sizeof error)
    throw Error("the program cannot be started", program, std::strerror(error),
                error == ENOENT    ? "its interpreter or loader is missing"
                : error == ENOEXEC ? "it is for another machine, or damaged"
                                   : "check it",
                kCouldNot);
  return status;
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
                     const fs::path& run_directory, std::optional<int> status, const std::string& unobserved,
                     std::uint64_t memory) {
  auto collected = collect_by(run_directory, [&](const Identity& process) { return outputs.of(process); });
  const std::string unmatched = nothing_matched(options, selection, collected);
  LaunchOutcome outcome;
  bool observed = false, varies = false;
  std::optional<int> failure;
  for (auto& [path, of_file] : collected) {
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
  const fs::path shim = library_directory() / "libreprobe-preload.so";
  Obstacle obstacle = obstacle_to_observing(program);
  if (obstacle.reason.empty() && !fs::exists(shim))
    obstacle = {"the observer is not there (" + shim.string() +
                    "): this build of Reprobe has no LibTorch half, or was moved",
                true};
  if (!obstacle.reason.empty())
    say("the program runs unobserved: {}", obstacle.reason);

  const RunDirectory directory;
  const std::uint64_t memory = options.memory_bytes.value_or(default_memory());
  write_settings(options, selection, memory, directory.path());
  std::optional<Control> control;
  if (!options.signal.empty()) {
    switching_signal = signal_number(options.signal);
    control.emplace(directory.path());
    control_page = control->page();
  }
  std::optional<LineAnswers> answers;
  if (!selection.lines.empty())
    answers.emplace(directory.path(), selection.lines);
  if (options.verbose)
    say("running {} with {} rounds an operation, {:g} s and {} MiB for re-executions", program.string(),
        options.rounds, options.budget_seconds, memory >> 20);
  const int status =
      run(program, options.program, environment_of(options, directory.path(), obstacle.reason.empty()));
  answers.reset();
  switching_signal = 0;
  return finish(options, selection, outputs, directory.path(), status, obstacle.reason, memory);
}

void prepare(const LaunchOptions& options, const fs::path& run_directory) {
  check(options, false);
  Selection selection = selection_of(options);
  if (!options.signal.empty())
    throw Error("--signal needs a launcher", "reprobe::Observe", "a signal to the program is the program's own",
                "let the program open and leave scopes itself, or start it with reprobe run", 2);
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
  write_settings(options, selection, options.memory_bytes.value_or(default_memory()), run_directory,
                 {"REPROBE_OBSERVER=" + observer().string(),
                  "REPROBE_COLLECTOR=" + fs::read_symlink("/proc/self/exe").string(),
                  "REPROBE_OUTPUT=" + fs::absolute(options.output).string()});
}

int collect_run(const LaunchOptions& options, const fs::path& run_directory) {
  if (!fs::exists(run_directory / "settings"))
    throw Error("there is nothing to collect", run_directory, "it is not the folder of a run",
                "name the folder that a run left", 2);
  const Outputs outputs(options.output);
  check_output(outputs.common());
  const int exit_code =
      finish(options, {}, outputs, run_directory, std::nullopt, {}, options.memory_bytes.value_or(0)).exit_code;
  std::error_code error;
  fs::remove_all(run_directory, error);
  return exit_code;
}

} // namespace reprobe::launch
