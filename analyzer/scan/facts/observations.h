// What a parse saw of the file system. As long as it would see the same again, its facts stay true: also the files
// that were looked for and not there count, since a new header earlier on the path changes no file that was read.
#pragma once

#include "analyzer/scan/facts/bytes.h"
#include "analyzer/scan/facts/digest.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Observations {
  std::map<std::string, Digest> files;                     // absolute path to content
  std::map<std::string, std::set<std::string>> absent;     // existing folder to names that it has not
  std::map<std::string, Digest> listings;                  // folder to its names
  std::set<std::string> folders, present;                  // exist; whatever they hold
  std::vector<std::set<std::string>> same_file;            // paths of equal content that led to one file
  bool complete = true;                                    // false: something could not be followed; not to be cached

  void write(Bytes&) const;
  static Observations read(ByteReader&); // throws BadBytes
  void add(Observations);
  /// Moves what lies below `folder` to the result.
  Observations split_off_below(const std::string& folder);
  bool empty() const { return files.empty() && absent.empty() && listings.empty() && folders.empty() && present.empty(); }
};

/// Of the names in a folder, sorted.
Digest digest_of_names(const std::set<std::string>& names);

} // namespace reprobe::scan
