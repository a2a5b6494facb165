// Facts of earlier scans, kept in the user's cache folder and never wrong: an entry is found by the source's
// content, its command and the build of the extraction, and counts while a parse would see the same files
// (FileStates). Rules are no part of it. Safe with scans side by side and with being killed; a folder that
// cannot be used costs speed only.
#pragma once

#include "analyzer/scan/driver/file_states.h"
#include "analyzer/scan/facts/extract.h"

#include <unordered_set>

namespace reprobe::scan {

/// Names that lie in none of some folders: none of them may come to shadow what a precompiled header
/// includes.
struct Unshadowed {
  std::vector<std::string> folders;
  Digest names; // a stored set of names
};

/// What an entry or a precompiled header rests on.
struct Basis {
  std::vector<Digest> sets; // stored observations, shared by many entries
  std::vector<Unshadowed> unshadowed;
  Observations own;

  void write(Bytes&) const;
  static Basis read(ByteReader&); // throws BadBytes
};

class Cache {
public:
  /// An empty folder switches it off.
  explicit Cache(std::filesystem::path folder, std::uint64_t most_bytes = kMostBytes);

  static constexpr std::uint64_t kMostBytes = 4ull << 30;

  bool usable() const { return usable_; }
  /// Why not, when a folder was given.
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& folder() const { return folder_; }

  std::optional<TranslationUnit> find(const ParseRequest&);
  /// `extra` is what a precompiled header adds.
  void store(const ParseRequest&, const Extraction&, const Basis* extra = nullptr);

  /// Keeps what lies outside the user's folders as shared sets.
  Basis basis_of(const ParseRequest&, Observations);
  bool holds(const Basis&);
  Digest store_names(const std::set<std::string>& names);
  /// Whether one of the stored names lies in one of the folders.
  bool is_unshadowed(const Unshadowed&);

  /// Saves what was learned, and removes what was not used for longest when there is too much.
  void finish();

  std::size_t found = 0, stored = 0;

private:
  void give_contents(const ParseRequest&);
  std::filesystem::path entry_file(const ParseRequest&, const Digest& main) const;
  std::filesystem::path shared_file(const Digest&) const;
  Digest store_shared(const std::string& bytes);
  bool set_holds(const Digest&);
  void prune();

  std::filesystem::path folder_;
  std::uint64_t most_bytes_;
  std::string problem_;
  bool usable_ = false;
  FileStates states_;
  std::unordered_map<Digest, bool, DigestHash> sets_;
  std::unordered_map<Digest, std::vector<std::string>, DigestHash> names_;
  std::map<std::pair<std::string, Digest>, bool> shadows_;
};

/// All that the facts depend on besides files: command, folders, generated files, build of Clang and of the
/// extraction, and the environment that Clang reads.
Digest request_digest(const ParseRequest&);
/// Of Clang's and our own code.
const Digest& extraction_identity();

/// $XDG_CACHE_HOME/reprobe/scan or ~/.cache/reprobe/scan; empty when there is no home.
std::filesystem::path default_cache_folder();

} // namespace reprobe::scan
