#include "runtime/launch/symbols.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::is_regular_file(fs::path(folder) / name, error) &&
        ::access((fs::path(folder) / name).c_str(), X_OK) == 0)
      return fs::path(folder) / name;
  return std::nullopt;
}

std::optional<fs::path> find_llvm_symbolizer() {
  if (auto found = on_path("llvm-symbolizer"))
    return found;
  for (int version = 40; version >= 10; --version) {
    if (auto found = on_path("llvm-symbolizer-" + std::to_string(version)))
      return found;
    const fs::path beside = "/usr/lib/llvm-" + std::to_string(version) + "/bin/llvm-symbolizer";
    if (::access(beside.c_str(), X_OK) == 0)
      return beside;
  }
  return std::nullopt;
}

/// What `command` prints when given `input`. Through a file: a pipe on both sides could fill up on both.
std::optional<std::string> output_of(const std::vector<std::string>& command, const std::string& input) {
  std::FILE* question = std::tmpfile();
  std::FILE* answer = std::tmpfile();
  std::optional<std::string> text;
  if (question && answer && std::fwrite(input.data(), 1, input.size(), question) == input.size()) {
    std::rewind(question);
    std::vector<char*> arguments;
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(question), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(answer), 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0 &&
        ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      std::rewind(answer);
      text.emplace();
      char buffer[65536];
      for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, answer)) > 0;)
        text->append(buffer, count);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  if (question)
    std::fclose(question);
  if (answer)
    std::fclose(answer);
  return text;
}

/// "file:line", "file:line:column", "file:line (discriminator 2)", "??:0".
Frame parse_place(std::string function, std::string place) {
  Frame frame;
  if (function != "??")
    frame.function = std::move(function);
  place = place.substr(0, place.find(" (discriminator"));
  const auto take_number = [&]() -> std::optional<std::uint32_t> {
    const auto colon = place.rfind(':');
    if (colon == std::string::npos || colon + 1 == place.size() ||
        !std::all_of(place.begin() + static_cast<std::ptrdiff_t>(colon) + 1, place.end(),
                     [](unsigned char c) { return std::isdigit(c); }))
      return std::nullopt;
    const auto number = static_cast<std::uint32_t>(std::strtoul(place.c_str() + colon + 1, nullptr, 10));
    place.resize(colon);
    return number;
  };
  const auto last = take_number(), before = last ? take_number() : std::nullopt;
  const std::uint32_t line = before ? *before : last.value_or(0);
  if (line != 0 && place != "??" && !place.empty()) {
    frame.file = fs::path(place).lexically_normal().string();
    frame.line = line;
  }
  return frame;
}

} // namespace

Symbols::Symbols(const std::vector<Address>& addresses) {
  std::map<std::string, std::set<std::uint64_t>> modules;
  for (const auto& [module, offset] : addresses)
    if (!module.empty())
      modules[module].insert(offset);
  if (modules.empty())
    return;
  const auto symbolizer = find_llvm_symbolizer();
  const auto addr2line = symbolizer ? std::nullopt : on_path("addr2line");
  if (!symbolizer && !addr2line) {
    remarks_.push_back("source lines are not known: neither llvm-symbolizer nor addr2line is on PATH");
    return;
  }
  for (const auto& [module, offsets] : modules) {
    std::string input;
    for (const std::uint64_t offset : offsets)
      input += fmt::format("{:#x}\n", offset);
    // Both print the address, then function and place in turns; only the first ends each answer with an empty
    // line.
    const auto text = symbolizer
                          ? output_of({symbolizer->string(), "--obj=" + module, "--addresses", "--inlines",
                                       "--demangle", "--functions=linkage"},
                                      input)
                          : output_of({addr2line->string(), "-e", module, "-a", "-i", "-f", "-C"}, input);
    if (!text) {
      remarks_.push_back("source lines in " + module +
                         " are not known: " + (symbolizer ? symbolizer : addr2line)->string() + " failed");
      continue;
    }
    std::vector<Frame>* frames = nullptr;
    std::istringstream lines(*text);
    bool any_line = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty())
        continue;
      if (line.rfind("0x", 0) == 0 &&
          line.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos) {
        frames = &frames_[{module, std::strtoull(line.c_str(), nullptr, 16)}];
        continue;
      }
      std::string place;
      if (!frames || !std::getline(lines, place))
        break;
      frames->push_back(parse_place(line, place));
      any_line |= frames->back().line != 0;
    }
    if (!any_line)
      remarks_.push_back(
          module + " has no line table (build it with -g1 or -g): operations in it are placed by function");
  }
}

const std::vector<Frame>& Symbols::at(const Address& address) const {
  static const std::vector<Frame> none;
  const auto found = frames_.find(address);
  return found == frames_.end() ? none : found->second;
}

SymbolStream::SymbolStream() {
  const auto symbolizer = find_llvm_symbolizer();
  if (!symbolizer)
    return;
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0)
    return;
  if (::pipe2(from, O_CLOEXEC) != 0) {
    ::close(to[0]);
    ::close(to[1]);
    return;
  }
  const std::string name = symbolizer->string();
  const char* arguments[] = {name.c_str(), "--inlines", "--demangle", "--functions=linkage", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&child_, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ) == 0) {
    questions_ = ::fdopen(to[1], "w");
    answers_ = ::fdopen(from[0], "r");
  } else {
    child_ = 0;
    ::close(to[1]);
    ::close(from[0]);
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
}

SymbolStream::~SymbolStream() {
  if (questions_)
    std::fclose(questions_); // the end of its input ends it
  if (answers_)
    std::fclose(answers_);
  if (child_ > 0)
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

const std::vector<Frame>& SymbolStream::at(const Address& address) {
  const auto known = known_.find(address);
  return known != known_.end() ? known->second : known_[address] = ask(address);
}

std::vector<Frame> SymbolStream::ask(const Address& address) {
  if (!questions_ || !answers_ || address.first.find_first_of("\"\n") != std::string::npos)
    return Symbols({address}).at(address);
  std::fprintf(questions_, "\"%s\" %#llx\n", address.first.c_str(),
               static_cast<unsigned long long>(address.second));
  if (std::fflush(questions_) != 0)
    return {};
  const auto read_line = [this] {
    char* text = nullptr;
    std::size_t size = 0;
    const ssize_t length = ::getline(&text, &size, answers_);
    std::string line(text, length > 0 ? static_cast<std::size_t>(length) - 1 : 0);
    std::free(text);
    return line;
  };
  std::vector<Frame> frames;
  for (std::string function; !(function = read_line()).empty();) // an empty line ends an answer
    frames.push_back(parse_place(std::move(function), read_line()));
  return frames;
}

bool is_library_function(const std::string& function) {
  // A demangled template begins with its result: "at::Tensor user::f<int>(...)" is the user's.
  std::string_view name = function;
  name = name.substr(0, name.find('('));
  if (const auto space = name.rfind(' '); space != std::string_view::npos && name.find('<') > space)
    name = name.substr(space + 1);
  for (const std::string_view space : {"at::", "c10::", "torch::", "caffe2::", "std::", "__gnu_cxx::"})
    if (name.substr(0, space.size()) == space)
      return true;
  return false;
}

bool is_library_file(const std::string& file) {
  for (const char* part : {"/include/torch/", "/include/ATen/", "/include/c10/", "/include/caffe2/",
                           "/torch/csrc/", "/include/c++/", "/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm",
                           "/include/cuda", "/include/cccl/", "/libstdc++", "/csu/", "/sysdeps/"})
    if (file.find(part) != std::string::npos)
      return true;
  return false;
}

} // namespace reprobe::launch
