// From the paths that the user names to what is parsed: sources, compile commands, inferred include folders.
#pragma once

#include "analyzer/scan/driver/commands.h"
#include "analyzer/scan/facts/extract.h"
#include "analyzer/scan/scan.h"
#include "analyzer/scan/selection/selection.h"

#include <functional>
#include <optional>

namespace reprobe::scan {

struct Project {
  std::filesystem::path root; // paths in facts and findings are relative to it
  std::vector<ParseRequest> requests;
  std::vector<TranslationUnit> failed; // named by the user or the database, but cannot be read
  std::vector<std::string> remarks;
  std::optional<Selection> selection; // what changed, where the options ask for it
  bool whole = true;                  // false: some source is neither among the requests nor known
};

/// Throws reprobe::Error for unknown paths, folders without sources and unreadable databases.
/// Where a part of a project is scanned, each request that the rest would take is offered to `take_known`,
/// until one is refused.
Project plan(const Options&, const std::function<bool(const ParseRequest&)>& take_known = {});

/// Sources below a folder, without build folders, other people's code and what git ignores.
struct Sources {
  std::vector<std::filesystem::path> files; // sources, then headers that no source includes
  std::vector<std::string> skipped;         // folders, relative to the folder
  std::size_t ignored = 0;                  // files that git ignores
};
Sources find_sources(const std::filesystem::path& folder);

/// The compilation database that a build left in the folder, below its build folder, or above it.
std::optional<std::filesystem::path> find_database(const std::filesystem::path& folder);

/// The folder that holds the repository; without one the nearest with a build file, else `path` (its folder
/// for a file).
std::filesystem::path project_root_of(const std::filesystem::path& path);

} // namespace reprobe::scan
