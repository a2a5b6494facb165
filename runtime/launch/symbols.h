// Addresses in modules to lines of the program's own source.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reprobe::launch {

struct Frame {
  std::string function, file; // file empty: no line table there
  std::uint32_t line = 0;
};

using Address = std::pair<std::string, std::uint64_t>; // module, offset as in its symbol table

class Symbols {
public:
  /// Asks llvm-symbolizer or addr2line, whichever is there, once a module.
  explicit Symbols(const std::vector<Address>&);
  /// Frames at an address, inlined ones first.
  const std::vector<Frame>& at(const Address&) const;
  const std::vector<std::string>& remarks() const { return remarks_; }

private:
  std::map<Address, std::vector<Frame>> frames_;
  std::vector<std::string> remarks_;
};

/// True for files of LibTorch, CUDA, the C++ library and the system.
bool is_library_file(const std::string& file);

} // namespace reprobe::launch
