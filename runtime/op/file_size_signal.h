// Writing files in a program that limits their size.
#pragma once

#include <csignal>
#include <ctime>

namespace reprobe::op {

/// The program's limit on file sizes must not kill it for what we write.
class WithoutFileSizeSignal {
public:
  WithoutFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutFileSizeSignal() {
    const timespec now{};
    if (!was_pending_)
      while (::sigtimedwait(&signal_, nullptr, &now) == SIGXFSZ)
        ;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

} // namespace reprobe::op
