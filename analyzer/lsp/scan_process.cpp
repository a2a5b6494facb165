#include "analyzer/lsp/scan_process.h"

#include "rules/error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace reprobe::lsp {
namespace {

// Anonymous files instead of pipes: neither side ever waits for the other.
int file_with(const std::string& text) {
  const int file = memfd_create("reprobe-document", MFD_CLOEXEC);
  for (std::size_t done = 0; file >= 0 && done < text.size();) {
    const ssize_t put = write(file, text.data() + done, text.size() - done);
    if (put <= 0 && errno != EINTR)
      break;
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  if (file >= 0)
    lseek(file, 0, SEEK_SET);
  return file;
}

} // namespace

ScanProcess::ScanProcess(const std::string& file, const std::string& text, const std::string& folder,
                         const std::vector<std::string>& options) {
  std::vector<std::string> words{"reprobe",          "scan", "--format", "json", "--part-of-project",
                                 "--stdin-filename", file};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int input = file_with(text);
  output_ = file_with({});
  const pid_t parent = getpid();
  process_ = input < 0 || output_ < 0 ? -1 : fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || chdir(folder.c_str()) != 0 || dup2(input, 0) < 0 || dup2(output_, 1) < 0)
      _exit(127);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  const int error = errno;
  if (input >= 0)
    close(input);
  if (process_ > 0)
    ended_ = static_cast<int>(syscall(SYS_pidfd_open, process_, 0)); // glibc 2.36 declares its own for C only
  if (ended_ < 0) {
    const std::string why = std::strerror(process_ > 0 ? errno : error);
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (output_ >= 0)
      close(output_);
    throw Error("cannot start a scan", file, why, "", 3);
  }
}

ScanProcess::~ScanProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(ended_);
  close(output_);
}

std::string ScanProcess::result() {
  waitpid(process_, nullptr, 0);
  process_ = -1;
  std::string text(static_cast<std::size_t>(lseek(output_, 0, SEEK_END)), '\0');
  std::size_t done = 0;
  for (ssize_t got; done < text.size() && (got = pread(output_, text.data() + done, text.size() - done,
                                                       static_cast<off_t>(done))) > 0;)
    done += static_cast<std::size_t>(got);
  text.resize(done);
  return text;
}

} // namespace reprobe::lsp
