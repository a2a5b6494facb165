#include "analyzer/scan/driver/process_pool.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace reprobe::scan {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kOutOfMemory = 41, kCannotWrite = 42, kRefused = 43; // exit codes of a worker
constexpr std::uint64_t kDeepStack = 120ull << 20;                 // bytes: deep expressions recurse

void limit(int resource, std::uint64_t value) {
  rlimit limits{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limits);
  limits.rlim_cur =
      limits.rlim_max == RLIM_INFINITY ? value : std::min<std::uint64_t>(value, limits.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = write(file, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

[[noreturn]] void work(const Task& task, int result, const Limits& limits, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(kRefused); // it died before the line above
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream : {0, 1, 2})
    dup2(nothing, stream);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.seconds); // not by the clock: a busy machine is no reason to give up
  limit(RLIMIT_STACK, kDeepStack);
#if !defined(__SANITIZE_ADDRESS__)
  if (limits.memory)
    limit(RLIMIT_AS, limits.memory);
#endif
  std::set_new_handler([] { _exit(kOutOfMemory); });
  try {
    _exit(write_all(result, task.work()) ? 0 : kCannotWrite);
  } catch (const std::bad_alloc&) {
    _exit(kOutOfMemory);
  } catch (...) {
    _exit(kRefused);
  }
}

std::string read_result(int file) {
  std::string text;
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0)
    return text;
  text.resize(static_cast<std::size_t>(size));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return {};
    done += static_cast<std::size_t>(got);
  }
  return text;
}

} // namespace

ProcessPool::~ProcessPool() {
  for (const Worker& worker : workers_) {
    kill(worker.process, SIGKILL);
    waitpid(worker.process, nullptr, 0);
    close(worker.result);
  }
}

void ProcessPool::run(const std::function<void()>& progress) {
  const unsigned jobs = limits_.jobs ? limits_.jobs : std::max(1u, std::thread::hardware_concurrency());
  while (!waiting_.empty() || !workers_.empty()) {
    while (!waiting_.empty() && workers_.size() < jobs) {
      Task next = std::move(waiting_.front());
      waiting_.pop_front();
      start(std::move(next));
    }
    if (progress)
      progress();
    if (!reap() && !workers_.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ProcessPool::start(Task task) {
  Worker worker;
  worker.result = memfd_create("reprobe-facts", MFD_CLOEXEC);
  worker.deadline = Clock::now() + std::chrono::seconds(10 * limits_.seconds);
  const pid_t parent = getpid();
  worker.process = worker.result < 0 ? -1 : fork();
  if (worker.process == 0)
    work(task, worker.result, limits_, parent);
  if (worker.process < 0) {
    Outcome outcome;
    outcome.failure = std::string("cannot start a worker: ") + std::strerror(errno);
    if (worker.result >= 0)
      close(worker.result);
    task.done(std::move(outcome));
    return;
  }
  worker.task = std::move(task);
  workers_.push_back(std::move(worker));
}

bool ProcessPool::reap() {
  bool any = false;
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    int status = 0;
    const pid_t ended = waitpid(worker->process, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
      if (!worker->timed_out && Clock::now() > worker->deadline) {
        worker->timed_out = true;
        kill(worker->process, SIGKILL);
      }
      ++worker;
      continue;
    }
    const Worker finished = std::move(*worker);
    worker = workers_.erase(worker);
    Outcome outcome = outcome_of(finished, status);
    close(finished.result);
    finished.task.done(std::move(outcome)); // may add tasks
    any = true;
  }
  return any;
}

Outcome ProcessPool::outcome_of(const Worker& worker, int status) const {
  Outcome outcome;
  if (worker.timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    outcome.failure = "parsing took longer than " + std::to_string(limits_.seconds) + " s";
  } else if (WIFSIGNALED(status)) {
    outcome.crashed = WTERMSIG(status) != SIGKILL;
    outcome.failure = std::string("clang crashed while parsing (") + strsignal(WTERMSIG(status)) +
                      (WTERMSIG(status) == SIGABRT ? ", perhaps out of memory)" : ")");
  } else if (WEXITSTATUS(status) == kOutOfMemory) {
    outcome.failure = "parsing needs more than " + std::to_string(limits_.memory >> 30) + " GiB of memory";
  } else if (WEXITSTATUS(status) == kCannotWrite) {
    outcome.failure = "out of memory for the facts";
  } else if (WEXITSTATUS(status) != 0) {
    outcome.failure = "the parser ended with exit code " + std::to_string(WEXITSTATUS(status));
  } else {
    outcome.result = read_result(worker.result);
  }
  return outcome;
}

} // namespace reprobe::scan
