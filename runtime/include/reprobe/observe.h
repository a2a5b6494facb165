// What a LibTorch program can tell Reprobe about itself, and how it observes itself without a launcher.
//
//   #include <reprobe/observe.h>
//   for (...) {
//     reprobe::Region region("training");   // selected by `reprobe run --window training`
//     ...
//     reprobe::step();                      // instead of "a step is one outermost backward pass"
//   }
//
// or, with no `reprobe run` around the program:
//
//   reprobe::Observe observe({.output = "m.json", .options = {"--rounds", "10"}});
//   if (!observe) std::cerr << observe.reason() << '\n';
//
// Needs C++17 and no library: the functions are those of the observer, where one is loaded, and do nothing
// where none is. Under `reprobe run` an Observe is a Region of its name. Nothing here throws, and all of it may
// be called from any thread.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace reprobe {
namespace detail {

struct Functions { // of the observer; null where none is loaded
  std::atomic<void (*)(const char*)> region_begin{nullptr}, region_end{nullptr};
  std::atomic<void (*)()> step{nullptr};

  Functions() { find(); }
  void find() {
    region_begin = reinterpret_cast<void (*)(const char*)>(::dlsym(RTLD_DEFAULT, "reprobe_region_begin"));
    region_end = reinterpret_cast<void (*)(const char*)>(::dlsym(RTLD_DEFAULT, "reprobe_region_end"));
    step = reinterpret_cast<void (*)()>(::dlsym(RTLD_DEFAULT, "reprobe_step"));
  }
};

inline Functions& functions() {
  static Functions functions;
  return functions;
}

} // namespace detail

/// True where an observer is loaded, by `reprobe run` or by an Observe.
inline bool observed() { return detail::functions().region_begin.load() != nullptr; }

/// A step of the program ends here. From the first call on, backward passes no longer count as steps.
inline void step() {
  if (const auto function = detail::functions().step.load())
    function();
}

/// A named range of the program, for `--window`. It counts for all threads, and for the gradients of what is
/// called inside. The name is copied.
class Region {
public:
  explicit Region(std::string name) : name_(std::move(name)) {
    if (const auto function = detail::functions().region_begin.load())
      function(name_.c_str());
  }
  ~Region() {
    if (const auto function = detail::functions().region_end.load())
      function(name_.c_str());
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

private:
  std::string name_;
};

struct ObserveOptions {
  std::string output = "reprobe-measurements.json"; // as of `reprobe run -o`
  std::vector<std::string> options{};               // as of `reprobe run`; neither -o nor --signal
  std::string name = "reprobe::Observe";            // of the region
  std::string executable{}; // reprobe; empty: $REPROBE_EXECUTABLE, else `reprobe` on PATH
};

/// Observes the operations called while it lives. Without `reprobe run` the first one loads the observer: its
/// options count, later ones only open the region again. The measurements are written when the program ends
/// by exit() or from main; a program that is killed leaves the folder OUTPUT.run, from which
/// `reprobe run --collect OUTPUT.run -o OUTPUT` makes them.
class Observe {
public:
  explicit Observe(const ObserveOptions& options = {}) : reason_(load(options)), region_(options.name) {}

  explicit operator bool() const { return reason_.empty(); }
  /// Why nothing is observed; empty when something is.
  const std::string& reason() const { return reason_; }

private:
  static std::string load(const ObserveOptions& options) {
    if (observed())
      return {};
    const std::string directory = options.output + ".run";
    if (::mkdir(directory.c_str(), 0700) != 0)
      return directory + " cannot be made: " + std::strerror(errno) +
             (errno == EEXIST ? " (left by a killed run: reprobe run --collect it, or remove it)" : "");
    const std::string reason = load_into(options, directory);
    if (!reason.empty()) {
      for (const char* file : {"settings", "windows", "selection", "not-replayed"})
        ::unlink((directory + "/" + file).c_str());
      ::rmdir(directory.c_str());
    }
    return reason;
  }

  static std::string load_into(const ObserveOptions& options, const std::string& directory) {
    const char* named = std::getenv("REPROBE_EXECUTABLE");
    const std::string executable = !options.executable.empty() ? options.executable : named ? named : "reprobe";
    std::vector<std::string> command = {"reprobe", "run", "--prepare", directory, "-o", options.output};
    command.insert(command.end(), {"--window", options.name});
    command.insert(command.end(), options.options.begin(), options.options.end());
    std::vector<char*> arguments;
    for (std::string& argument : command)
      arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    if (const int error = ::posix_spawnp(&child, executable.c_str(), nullptr, nullptr, arguments.data(), environ))
      return executable + " cannot be started: " + std::strerror(error) +
             " (name it in ObserveOptions::executable or REPROBE_EXECUTABLE)";
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0)
      return executable + " refused the options (see its message)";
    std::string observer;
    std::ifstream settings(directory + "/settings");
    for (std::string line; std::getline(settings, line);)
      if (line.rfind("REPROBE_OBSERVER=", 0) == 0)
        observer = line.substr(std::strlen("REPROBE_OBSERVER="));
    void* library = ::dlopen(observer.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return ::dlerror();
    const auto observe =
        reinterpret_cast<const char* (*)(const char*, const char*)>(::dlsym(library, "reprobe_observe"));
    std::string libtorch;
    ::dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* found) {
          const std::string path = module->dlpi_name;
          if (path.find("/libtorch_cpu.so") == std::string::npos)
            return 0;
          *static_cast<std::string*>(found) = path;
          return 1;
        },
        &libtorch);
    if (const char* failure = observe ? observe(libtorch.c_str(), directory.c_str()) : "it is no observer")
      return observer + ": " + failure;
    detail::functions().find();
    return {};
  }

  std::string reason_;
  Region region_;
};

} // namespace reprobe
