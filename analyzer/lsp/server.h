// A language server: findings as diagnostics when a document is opened or saved, a rule's page on hover, and
// fixes as code actions. One thread; scans are processes.
#pragma once

#include <string>
#include <vector>

namespace reprobe::lsp {

struct ServerOptions {
  std::vector<std::string> scan_options; // given to each `reprobe scan`
  unsigned jobs = 1;                     // scans at a time
  std::string version;
  bool stdio = true; // the only way there is
};

/// Serves `input` until the client says exit or hangs up. Returns the process's exit code.
int serve(int input, int output, const ServerOptions&);

} // namespace reprobe::lsp
