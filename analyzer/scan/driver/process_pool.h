// Runs tasks in processes of their own, some at a time: a crash, a hang or too much memory costs one task.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <sys/types.h>

namespace reprobe::scan {

struct Limits {
  unsigned jobs = 0;      // 0: one a core
  unsigned seconds = 300; // of processor time for each file; ten times that by the clock
  std::uint64_t memory = std::uint64_t(8) << 30; // bytes of address space for each worker; 0: no limit
};

struct Outcome {
  std::string result;   // what the task returned
  std::string failure;  // empty: it did return
  bool crashed = false; // by a signal of its own
};

struct Task {
  std::function<std::string()> work;      // in the process
  std::function<void(Outcome)> done = {}; // here; may add tasks
};

class ProcessPool {
public:
  explicit ProcessPool(const Limits& limits) : limits_(limits) {}
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;

  void add(Task task) { waiting_.push_back(std::move(task)); }
  void add_first(Task task) { waiting_.push_front(std::move(task)); }
  /// Until no task is left. `progress` is called again and again.
  void run(const std::function<void()>& progress = {});

private:
  struct Worker {
    Task task;
    pid_t process = -1;
    int result = -1; // an anonymous file: no pipe that could fill, nothing left on disk
    std::chrono::steady_clock::time_point deadline;
    bool timed_out = false;
  };

  void start(Task);
  bool reap();
  Outcome outcome_of(const Worker&, int status) const;

  Limits limits_;
  std::list<Task> waiting_;
  std::list<Worker> workers_;
};

} // namespace reprobe::scan
