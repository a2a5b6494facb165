// What a source needs that no compile command tells: language standard, include folders and macros, guessed
// from the project's own tree and build files.
#pragma once

#include "analyzer/scan/driver/build_files.h"
#include "analyzer/scan/driver/commands.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace reprobe::scan {

struct IncludeLine {
  std::string name; // as written
  bool quoted = false;
};
std::vector<IncludeLine> include_lines(const std::filesystem::path& file);

/// Of one scan: reads each folder and each header once.
class Inference {
public:
  Translation translation(const std::filesystem::path& source, const std::filesystem::path& project_root);

  /// Include folders, nearest first: those above the source, those named `include`, and those that hold what
  /// the source and the project's headers that it reaches include by name and nothing else resolves.
  std::vector<std::filesystem::path> include_folders(const std::filesystem::path& source,
                                                     const std::filesystem::path& project_root);

  /// Macros that build files define and whose names speak of the GPU: with `#ifdef GPU` undefined, the code
  /// that matters would not be seen. "NAME" or "NAME=value".
  std::vector<std::string> macros(const std::filesystem::path& source,
                                  const std::filesystem::path& project_root);

private:
  struct Project {
    std::string standard;
    std::vector<std::filesystem::path> include_folders; // named `include`
    std::optional<std::multimap<std::string, std::filesystem::path>>
        headers; // by name; read when one is missing
  };
  Project& project(const std::filesystem::path& root);
  const std::vector<IncludeLine>& includes_of(const std::filesystem::path& file);
  std::filesystem::path missing_folder(const IncludeLine&, const std::filesystem::path& includer,
                                       const std::filesystem::path& root);
  bool holds(const std::filesystem::path& file);

  std::map<std::filesystem::path, Project> projects_;
  std::map<std::filesystem::path, std::vector<IncludeLine>> includes_;
  std::map<std::filesystem::path, std::vector<std::string>> macros_; // of a folder's sources
  std::map<std::filesystem::path, bool> regular_;
  std::set<std::filesystem::path> last_; // folders known from <name> only
};

} // namespace reprobe::scan
