#include "analyzer/scan/driver/worker.h"

#include "rules/error.h"

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

struct Worker {
  pid_t process = -1;
  int result = -1; // an anonymous file: no pipe that could fill, nothing left on disk
  std::size_t request = 0;
  Clock::time_point deadline;
  bool timed_out = false;
};

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

[[noreturn]] void work(const ParseRequest& request, int result, const Limits& limits, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(kRefused); // it died before the line above
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream : {0, 1, 2})
    dup2(nothing, stream);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_STACK, kDeepStack);
#if !defined(__SANITIZE_ADDRESS__)
  if (limits.memory)
    limit(RLIMIT_AS, limits.memory);
#endif
  std::set_new_handler([] { _exit(kOutOfMemory); });
  try {
    _exit(write_all(result, to_json(extract(request))) ? 0 : kCannotWrite);
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

TranslationUnit failed_unit(const ParseRequest& request, const std::string& reason) {
  TranslationUnit unit;
  const std::filesystem::path relative = request.main_file.lexically_relative(request.root);
  const bool below = !relative.empty() && *relative.begin() != "..";
  unit.main_file = (below ? relative : request.main_file).generic_string();
  unit.language = request.language;
  unit.inferred_flags = request.inferred_flags;
  unit.flags = request.fact_flags;
  unit.status = "failed";
  unit.reason = reason;
  return unit;
}

class Pool {
public:
  Pool(const std::vector<ParseRequest>& requests, const Limits& limits,
       const std::function<void(std::size_t)>& progress)
      : requests_(requests), limits_(limits), progress_(progress), units_(requests.size()),
        without_graphs_(requests.size(), false) {}

  ~Pool() {
    for (const Worker& worker : workers_) {
      kill(worker.process, SIGKILL);
      waitpid(worker.process, nullptr, 0);
      close(worker.result);
    }
  }

  std::vector<TranslationUnit> run() {
    const unsigned jobs = limits_.jobs ? limits_.jobs : std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = requests_.size(); i-- > 0;)
      waiting_.push_back(i);
    while (!waiting_.empty() || !workers_.empty()) {
      while (!waiting_.empty() && workers_.size() < jobs) {
        const std::size_t next = waiting_.back();
        waiting_.pop_back();
        start(next);
      }
      if (progress_)
        progress_(done_);
      if (!reap() && !workers_.empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (progress_)
      progress_(done_);
    return std::move(units_);
  }

private:
  void start(std::size_t index) {
    Worker worker;
    worker.request = index;
    worker.result = memfd_create("reprobe-facts", MFD_CLOEXEC);
    worker.deadline = Clock::now() + std::chrono::seconds(limits_.seconds);
    const pid_t parent = getpid();
    ParseRequest request = requests_[index];
    if (without_graphs_[index])
      request.graphs = false;
    worker.process = worker.result < 0 ? -1 : fork();
    if (worker.process == 0)
      work(request, worker.result, limits_, parent);
    if (worker.process < 0) {
      const std::string reason = std::string("cannot start a worker: ") + std::strerror(errno);
      if (worker.result >= 0)
        close(worker.result);
      finish(index, failed_unit(requests_[index], reason));
      return;
    }
    workers_.push_back(worker);
  }

  void finish(std::size_t index, TranslationUnit unit) {
    units_[index] = std::move(unit);
    ++done_;
  }

  bool reap() {
    bool any = false;
    for (std::size_t i = 0; i < workers_.size();) {
      Worker& worker = workers_[i];
      int status = 0;
      const pid_t ended = waitpid(worker.process, &status, WNOHANG);
      if (ended == 0 || (ended < 0 && errno == EINTR)) {
        if (!worker.timed_out && Clock::now() > worker.deadline) {
          worker.timed_out = true;
          kill(worker.process, SIGKILL);
        }
        ++i;
        continue;
      }
      const Worker ended_worker = worker;
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      take(ended_worker, status);
      close(ended_worker.result);
      any = true;
    }
    return any;
  }

  void take(const Worker& worker, int status) {
    const ParseRequest& request = requests_[worker.request];
    const bool crashed = WIFSIGNALED(status) && !worker.timed_out && WTERMSIG(status) != SIGKILL;
    if (crashed && !without_graphs_[worker.request]) {
      without_graphs_[worker.request] = true; // building control flow graphs is the part that odd code breaks
      waiting_.push_back(worker.request);
      return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      try {
        TranslationUnit unit = from_json(read_result(worker.result), request.main_file.string());
        if (without_graphs_[worker.request]) {
          unit.status = "partial";
          unit.reason += (unit.reason.empty() ? "" : "; ") +
                         std::string("the order of events is approximate: clang crashed on the control flow");
        }
        finish(worker.request, std::move(unit));
      } catch (const Error& problem) {
        finish(worker.request, failed_unit(request, problem.what()));
      }
      return;
    }
    finish(worker.request, failed_unit(request, reason_of(worker, status)));
  }

  std::string reason_of(const Worker& worker, int status) const {
    if (worker.timed_out)
      return "parsing took longer than " + std::to_string(limits_.seconds) + " s";
    if (WIFSIGNALED(status))
      return std::string("clang crashed while parsing (") + strsignal(WTERMSIG(status)) +
             (WTERMSIG(status) == SIGABRT ? ", perhaps out of memory)" : ")");
    switch (WEXITSTATUS(status)) {
    case kOutOfMemory:
      return "parsing needs more than " + std::to_string(limits_.memory >> 30) + " GiB of memory";
    case kCannotWrite:
      return "out of memory for the facts";
    default:
      return "the parser ended with exit code " + std::to_string(WEXITSTATUS(status));
    }
  }

  const std::vector<ParseRequest>& requests_;
  const Limits& limits_;
  const std::function<void(std::size_t)>& progress_;
  std::vector<TranslationUnit> units_;
  std::vector<bool> without_graphs_;
  std::vector<std::size_t> waiting_;
  std::vector<Worker> workers_;
  std::size_t done_ = 0;
};

} // namespace

std::vector<TranslationUnit> parse_all(const std::vector<ParseRequest>& requests, const Limits& limits,
                                       const std::function<void(std::size_t)>& progress) {
  return Pool(requests, limits, progress).run();
}

} // namespace reprobe::scan
