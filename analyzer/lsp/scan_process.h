// One scan of one document's unsaved text, in a process of its own: the server stays responsive, and a scan
// that is no longer wanted is killed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace reprobe::lsp {

class ScanProcess {
public:
  /// Starts `reprobe scan` on the file in the folder. Throws reprobe::Error when no process can be started.
  ScanProcess(const std::string& file, const std::string& text, const std::string& folder,
              const std::vector<std::string>& options);
  ~ScanProcess(); // kills it
  ScanProcess(const ScanProcess&) = delete;
  ScanProcess& operator=(const ScanProcess&) = delete;

  /// Readable for poll() once the process has ended.
  int descriptor() const { return ended_; }
  /// What it wrote to standard output. Call once, after it has ended.
  std::string result();

private:
  pid_t process_ = -1;
  int ended_ = -1, output_ = -1;
};

} // namespace reprobe::lsp
