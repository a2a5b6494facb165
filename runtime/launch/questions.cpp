#include "runtime/launch/questions.h"

#include "analyzer/report/join.h"
#include "rules/error.h"
#include "runtime/launch/symbols.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace reprobe::launch {
namespace {

// A compiler puts a call that spans several lines on any of them.
constexpr std::uint32_t kSlack = 3;

bool names(const FlaggedLine& line, const Frame& frame, std::uint32_t slack) {
  return frame.line + slack >= line.first && frame.line <= line.last + slack &&
         report::same_file(line.file, frame.file);
}

} // namespace

std::vector<FlaggedLine> lines_of(const report::Findings& findings) {
  std::vector<FlaggedLine> lines;
  for (const report::Finding& finding : findings.findings)
    if (const auto& at = finding.source; at.line != 0 && !at.file.empty())
      lines.push_back({at.file, at.line, std::max(at.line, at.end_line)});
  return lines;
}

class LineAnswers::Server {
public:
  Server(const std::filesystem::path& run_directory, std::vector<FlaggedLine> lines)
      : lines_(std::move(lines)), listening_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    const std::filesystem::path path = run_directory / "questions";
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const auto fail = [&](const std::string& why) {
      ::close(listening_);
      ::close(stop_);
      throw Error("the flagged lines cannot be looked up during the run", path, why,
                  "point TMPDIR to a folder with a short name on a local disk, or use --ops instead of --from",
                  3);
    };
    if (path.native().size() >= sizeof address.sun_path)
      fail("the name is too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.native().size());
    if (::bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listening_, 64) != 0)
      fail(std::strerror(errno));
    // Signals are for the main thread, which passes them on to the program.
    sigset_t all, mask;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask);
    thread_ = std::thread([this] { serve(); });
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }

  ~Server() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
    thread_.join();
    ::close(listening_);
    ::close(stop_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

private:
  void serve() {
    for (;;) {
      std::array<pollfd, 2> waiting = {{{listening_, POLLIN, 0}, {stop_, POLLIN, 0}}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
        return;
      if (waiting[1].revents)
        return;
      if (!(waiting[0].revents & POLLIN))
        continue;
      const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0)
        continue;
      const char answer = is_flagged(read_question(client)) ? '1' : '0';
      ::send(client, &answer, 1, MSG_NOSIGNAL);
      ::close(client);
    }
  }

  /// One line of JSON: [[module, offset], ...], innermost frame first.
  std::string read_question(int client) {
    const timeval patience{10, 0}; // a program that is stopped in the middle of asking must not hold up others
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    std::string question;
    char buffer[4096];
    while (question.empty() || question.back() != '\n') {
      const ssize_t count = ::recv(client, buffer, sizeof buffer, 0);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return {};
      question.append(buffer, static_cast<std::size_t>(count));
    }
    return question;
  }

  bool is_flagged(const std::string& question) {
    const auto frames = nlohmann::json::parse(question, nullptr, false);
    if (!frames.is_array())
      return false;
    bool innermost = true;
    for (const auto& address : frames)
      for (const Frame& frame : symbols_.at({address.at(0).get<std::string>(), address.at(1).get<std::uint64_t>()})) {
        if (frame.line == 0 || is_library_file(frame.file))
          continue;
        const std::uint32_t slack = innermost ? kSlack : 0;
        innermost = false;
        if (std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) { return names(line, frame, slack); }))
          return true;
      }
    return false;
  }

  std::vector<FlaggedLine> lines_;
  SymbolStream symbols_;
  int listening_, stop_;
  std::thread thread_;
};

LineAnswers::LineAnswers(const std::filesystem::path& run_directory, std::vector<FlaggedLine> lines)
    : server_(std::make_unique<Server>(run_directory, std::move(lines))) {}
LineAnswers::~LineAnswers() = default;

} // namespace reprobe::launch
