// Precompiled forms of the large headers that sources begin with, kept in the cache and shared by all files
// that would read the same: other optimisation, other targets, other include folders and macros that the
// header never asks for.
#pragma once

#include "analyzer/scan/driver/cache.h"
#include "analyzer/scan/facts/precompile.h"

namespace reprobe::scan {

/// A source's large header, and what its precompiled form depends on.
struct HeaderUse {
  Digest family;                         // header, language options, system include folders
  PrecompileRequest request;             // no macros, no output yet
  std::vector<std::string> macros;       // -D… and -U… of the command, in order
  bool moved = false;                    // the source has code before the include
  std::set<std::string> defined_before;  // macros that the source itself defines before the include
  std::vector<std::string> user_folders; // include folders left out: nothing in them may shadow a header
};

/// Nothing when the source does not begin with one of them.
std::optional<HeaderUse> header_use(const ParseRequest&);

struct PrecompiledHeader {
  std::filesystem::path file;
  std::string header; // as in #include <…>
  bool moved = false; // HeaderUse::moved
  Basis basis;
};

class PrecompiledHeaders {
public:
  explicit PrecompiledHeaders(Cache& cache) : cache_(cache) {}

  std::optional<PrecompiledHeader> find(const HeaderUse&);
  /// False when an attempt failed and nothing has changed since, or there is no place for it.
  bool worth_making(const HeaderUse&);
  /// In a process of its own: makes it, unless another scan just has. True when it can be found now.
  bool make(const HeaderUse&, bool wait_for_others);
  /// After `make` in another process: look again.
  void forget(const HeaderUse&);

private:
  struct Variant {
    std::filesystem::path file; // of its description
    std::vector<std::string> macros;
    bool failed = false;
    std::uint64_t bytes = 0;
    Basis basis;
    Digest names;
    std::vector<std::uint64_t> identifiers;
    std::filesystem::path header() const;
  };
  std::vector<Variant>& variants(const Digest& family);
  static std::optional<Variant> read(const std::filesystem::path&);
  bool fits(const Variant&, const HeaderUse&);
  bool make_variant(const HeaderUse&, const std::vector<std::string>& macros);
  Basis basis_for(const Variant&, const HeaderUse&) const;

  Cache& cache_;
  std::unordered_map<Digest, std::vector<Variant>, DigestHash> known_;
};

} // namespace reprobe::scan
