// The files that the parser sees: regular files and folders only (reading a pipe or /dev/zero never ends), and each
// look noted. Our own generated files, all below /reprobe-…, are not.
#pragma once

#include "analyzer/scan/facts/observations.h"

#include <llvm/Support/VirtualFileSystem.h>

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace reprobe::scan {

class ObservedFiles : public llvm::vfs::ProxyFileSystem {
public:
  /// Files below `cache` are ours: neither noted nor copied into memory.
  ObservedFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, std::string cache);

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  bool exists(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& folder, std::error_code&) override;

  /// All looks so far.
  Observations observations() const;
  /// Some file that was asked for is neither a regular file nor a folder.
  const std::set<std::string>& special_files() const { return special_; }

private:
  std::string absolute(const llvm::Twine& path) const;
  bool is_ours(const std::string& path) const;
  llvm::ErrorOr<llvm::vfs::Status> look(const std::string& path);
  void note_content(const std::string& path, llvm::StringRef content);

  std::string cache_;
  std::unordered_map<std::string, Digest> contents_;
  using Identity = std::pair<std::uint64_t, std::uint64_t>; // device and inode
  std::unordered_map<std::string, Identity> identities_;    // of regular files
  std::unordered_set<std::string> absent_, folders_, present_;
  std::map<std::string, Digest> listings_;
  std::set<std::string> special_;
  bool complete_ = true;
  friend class ObservedFile;
};

} // namespace reprobe::scan
