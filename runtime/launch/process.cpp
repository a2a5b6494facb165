#include "runtime/launch/process.h"

#include "rules/error.h"
#include "rules/registry.h"
#include "runtime/launch/launch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;

constexpr int kCouldNot = 3;

// Signals meant for the program that reach only us are passed on; the terminal sends its own to both.

volatile sig_atomic_t child_process = 0;
KeptSignal kept_signal; // set while no handler is

void pass_on(int signal, siginfo_t* info, void*) {
  const int before = errno;
  if (signal == kept_signal.number)
    kept_signal.flag->fetch_xor(1);
  else if (child_process > 0 && info->si_code != SI_KERNEL)
    ::kill(static_cast<pid_t>(child_process), signal);
  errno = before;
}

class PassSignalsOn {
public:
  explicit PassSignalsOn(const KeptSignal& kept) {
    kept_signal = kept;
    struct sigaction action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN || kSignals[i] == kept.number)
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

/// In the child: nothing to read, everything written goes into `file`, and a crash leaves no core file.
void redirect(const fs::path& file) {
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

} // namespace

RunDirectory::RunDirectory() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : temporary) / "reprobe-run-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw Error("no folder for the run can be made", name, std::strerror(errno),
                "free some space, or point TMPDIR elsewhere", kCouldNot);
  path_ = name;
}

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (!std::getenv("REPROBE_KEEP_RUN_DIRECTORY"))
    fs::remove_all(path_, error);
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

void write_settings(const fs::path& run_directory, const Settings& settings,
                    const std::vector<std::string>& selection, const std::vector<std::string>& windows) {
  std::vector<std::string> lines, not_replayed;
  if (const fs::path compare = library_directory() / "libreprobe-compare-cuda.so"; fs::exists(compare))
    lines.push_back("REPROBE_COMPARE_CUDA=" + compare.string());
  for (const auto& [name, value] : settings)
    lines.push_back(name + "=" + value);
  for (const auto& row : rules::Registry::builtin().table("replay"))
    not_replayed.push_back(row.at("operator").get<std::string>() + "\t" + row.at("reason").get<std::string>());
  write_lines(run_directory / "settings", lines);
  write_lines(run_directory / "windows", windows);
  write_lines(run_directory / "selection", selection);
  write_lines(run_directory / "not-replayed", not_replayed); // glob, tab, reason
}

fs::path shim() { return library_directory() / "libreprobe-preload.so"; }
fs::path observer() { return library_directory() / "libreprobe-op.so"; }

std::vector<std::string> plain_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    if (text.rfind("REPROBE_", 0) != 0 || text.rfind("REPROBE_LIBRARY_DIR=", 0) == 0)
      variables.push_back(text);
  }
  return variables;
}

std::vector<std::string> observed_environment(const fs::path& run_directory, const Settings& more) {
  std::vector<std::string> variables;
  std::string preloaded = shim().string();
  for (std::string& variable : plain_environment()) {
    if (variable.rfind("LD_PRELOAD=", 0) != 0)
      variables.push_back(std::move(variable));
    else if (const std::string before = variable.substr(11); before.rfind(preloaded, 0) == 0)
      preloaded = before; // by hand, with REPROBE_OUTPUT
    else if (!before.empty())
      preloaded += ":" + before;
  }
  variables.push_back("REPROBE_RUN_DIRECTORY=" + run_directory.string());
  if (fs::exists(observer()))
    variables.push_back("REPROBE_OBSERVER=" + observer().string());
  for (const auto& [name, value] : more)
    variables.push_back(name + "=" + value);
  variables.push_back("LD_PRELOAD=" + preloaded);
  return variables;
}

int run(const fs::path& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& variables, const std::optional<fs::path>& streams, const KeptSignal& kept) {
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
    if (streams)
      redirect(*streams);
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
  const PassSignalsOn passing(kept);
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

} // namespace reprobe::launch
