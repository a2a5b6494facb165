// Addresses in modules to lines of the program's own source.
#pragma once

#include <cstdint>
#include <cstdio>
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

/// The same while the program still runs, an address at a time: one symbolizer process answers all.
class SymbolStream {
public:
  SymbolStream();
  ~SymbolStream();
  SymbolStream(const SymbolStream&) = delete;
  SymbolStream& operator=(const SymbolStream&) = delete;
  const std::vector<Frame>& at(const Address&);

private:
  std::vector<Frame> ask(const Address&);

  std::map<Address, std::vector<Frame>> known_;
  std::FILE *questions_ = nullptr, *answers_ = nullptr; // of llvm-symbolizer, where it is there
  int child_ = 0;
};

/// True for files of LibTorch, CUDA, the C++ library and the system.
bool is_library_file(const std::string& file);
/// True for functions of LibTorch and the C++ library, of which programs hold inlined copies.
bool is_library_function(const std::string& function);

} // namespace reprobe::launch
