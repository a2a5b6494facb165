#include "analyzer/scan/facts/observed_files.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <filesystem>

namespace reprobe::scan {
namespace fs = std::filesystem;

// An open file whose content is noted when it is read.
class ObservedFile : public llvm::vfs::File {
public:
  ObservedFile(std::unique_ptr<llvm::vfs::File> file, ObservedFiles& files, std::string path)
      : file_(std::move(file)), files_(files), path_(std::move(path)) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return file_->status(); }
  llvm::ErrorOr<std::string> getName() override { return file_->getName(); }
  std::error_code close() override { return file_->close(); }

  // Copied rather than mapped: a file that changes meanwhile can neither kill us nor differ from what was noted.
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t size,
                                                               bool terminated, bool) override {
    auto buffer = file_->getBuffer(name, size, terminated, /*IsVolatile=*/true);
    if (buffer)
      files_.note_content(path_, (*buffer)->getBuffer());
    return buffer;
  }

private:
  std::unique_ptr<llvm::vfs::File> file_;
  ObservedFiles& files_;
  std::string path_;
};

ObservedFiles::ObservedFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, std::string cache)
    : ProxyFileSystem(std::move(files)), cache_(std::move(cache)) {}

bool ObservedFiles::is_ours(const std::string& path) const {
  return path.starts_with("/reprobe-") || (!cache_.empty() && path.starts_with(cache_));
}

std::string ObservedFiles::absolute(const llvm::Twine& path) const {
  llvm::SmallString<256> out;
  path.toVector(out);
  if (!llvm::sys::path::is_absolute(out))
    (void)getUnderlyingFS().makeAbsolute(out);
  return out.str().str();
}

llvm::ErrorOr<llvm::vfs::Status> ObservedFiles::look(const std::string& path) {
  auto status = getUnderlyingFS().status(path);
  if (is_ours(path))
    return status;
  if (!status) {
    absent_.insert(path);
    complete_ = complete_ && (status.getError() == std::errc::no_such_file_or_directory ||
                              status.getError() == std::errc::not_a_directory);
  } else if (status->isDirectory()) {
    folders_.insert(path);
  } else if (status->isRegularFile()) {
    present_.insert(path);
    identities_[path] = {status->getUniqueID().getDevice(), status->getUniqueID().getFile()};
  } else {
    special_.insert(path);
    complete_ = false;
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }
  return status;
}

llvm::ErrorOr<llvm::vfs::Status> ObservedFiles::status(const llvm::Twine& path) {
  return look(absolute(path));
}

bool ObservedFiles::exists(const llvm::Twine& path) {
  return static_cast<bool>(look(absolute(path)));
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> ObservedFiles::openFileForRead(const llvm::Twine& path) {
  const std::string name = absolute(path);
  auto status = look(name);
  if (!status)
    return status.getError();
  if (is_ours(name))
    return getUnderlyingFS().openFileForRead(path);
  if (!status->isRegularFile())
    return std::make_error_code(std::errc::is_a_directory);
  auto file = getUnderlyingFS().openFileForRead(path);
  if (!file) {
    complete_ = false; // there, but not to be read
    return file.getError();
  }
  return std::make_unique<ObservedFile>(std::move(*file), *this, name);
}

llvm::vfs::directory_iterator ObservedFiles::dir_begin(const llvm::Twine& folder, std::error_code& error) {
  const std::string name = absolute(folder);
  std::set<std::string> names;
  std::error_code ignored;
  for (auto entry = getUnderlyingFS().dir_begin(name, ignored); !ignored && entry != llvm::vfs::directory_iterator();
       entry.increment(ignored))
    names.insert(llvm::sys::path::filename(entry->path()).str());
  if (const auto status = look(name); status && status->isDirectory())
    listings_[name] = digest_of_names(names);
  return getUnderlyingFS().dir_begin(folder, error);
}

void ObservedFiles::note_content(const std::string& path, llvm::StringRef content) {
  const Digest digest = digest_of({content.data(), content.size()});
  const auto [known, fresh] = contents_.try_emplace(path, digest);
  if (!fresh && known->second != digest)
    complete_ = false; // it changed while we were reading
}

Observations ObservedFiles::observations() const {
  Observations out;
  out.complete = complete_;
  out.files.insert(contents_.begin(), contents_.end());
  out.listings = listings_;
  out.folders.insert(folders_.begin(), folders_.end());
  for (const std::string& path : present_)
    if (!contents_.contains(path))
      out.present.insert(path);

  // Of a missing path only its first missing part counts.
  std::unordered_map<std::string, bool> exists;
  const auto is_there = [&](const std::string& folder) {
    const auto [known, fresh] = exists.try_emplace(folder, false);
    std::error_code ignored;
    if (fresh)
      known->second = folders_.contains(folder) || fs::is_directory(folder, ignored);
    return known->second;
  };
  for (fs::path path : absent_) {
    while (path.has_relative_path() && !is_there(path.parent_path().string()))
      path = path.parent_path();
    out.absent[path.parent_path().string()].insert(path.filename().string());
  }

  // One file under several names, and files with equal content that are not one.
  std::map<Identity, std::set<std::string>> names;
  std::map<Digest, std::set<Identity>> with_content;
  for (const auto& [path, identity] : identities_) {
    names[identity].insert(path);
    if (const auto content = contents_.find(path); content != contents_.end())
      with_content[content->second].insert(identity);
  }
  std::set<Identity> alike;
  for (const auto& [digest, identities] : with_content)
    if (identities.size() > 1)
      alike.insert(identities.begin(), identities.end());
  for (const auto& [identity, paths] : names)
    if (paths.size() > 1 || alike.contains(identity))
      out.same_file.push_back(paths);
  return out;
}

} // namespace reprobe::scan
