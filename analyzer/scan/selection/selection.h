// Which files and lines of a repository changed: since a revision, or staged for the next commit.
//
// Reads the repository's objects by itself (libgit2): no program, filter or hook that a repository's
// configuration names is ever started. A build without libgit2 says so when a selection is asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reprobe::scan {

struct LineRange {
  std::uint32_t first = 0, last = 0; // count from 1, both included
};

struct ChangedFile {
  std::filesystem::path path; // absolute
  bool whole = false;         // new, or binary to git: all of its lines
  std::vector<LineRange> lines;
};

struct Selection {
  std::filesystem::path work_tree;
  std::vector<ChangedFile> files; // sorted by path
  std::map<std::string, std::string>
      contents; // absolute path to what is staged, where the disk has something else
  std::vector<std::string> remarks;

  const ChangedFile* find(const std::filesystem::path& file) const;
  /// Some line from `first` to `last` of the file is a changed one.
  bool changes(const std::filesystem::path& file, std::uint32_t first, std::uint32_t last) const;
};

/// Which files are worth reading, by their absolute path.
using Wanted = std::function<bool(const std::filesystem::path&)>;

/// Files that differ between `revision` and the working tree, uncommitted and untracked ones included.
/// "REV..." stands for the commit at which HEAD left REV. `start` lies in the repository. Throws
/// reprobe::Error: no repository, no such revision, a repository of a form that cannot be read, a build
/// without libgit2.
Selection changed_since(const std::filesystem::path& start, const std::string& revision, const Wanted&);

/// Files that the next commit would change, with their staged content. Respects GIT_INDEX_FILE.
Selection staged(const std::filesystem::path& start, const Wanted&);

} // namespace reprobe::scan
