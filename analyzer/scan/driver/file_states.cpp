#include "analyzer/scan/driver/file_states.h"

#include "analyzer/scan/driver/whole_files.h"

#include <algorithm>
#include <chrono>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRows = 200000;
constexpr std::string_view kMagic = "reprobe-files/1\n";
// A file that changes twice within a file system's clock step looks unchanged: only older stamps are trusted.
constexpr std::int64_t kClockStep = 2'000'000'000; // nanoseconds: FAT's

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

FileStates::State& FileStates::state(const std::string& path) {
  const auto [known, fresh] = states_.try_emplace(path);
  State& state = known->second;
  if (!fresh)
    return state;
  struct stat about;
  if (stat(path.c_str(), &about) != 0)
    return state;
  state.kind = S_ISREG(about.st_mode) ? State::file : S_ISDIR(about.st_mode) ? State::folder : State::other;
  state.stamp = {about.st_dev, about.st_ino, static_cast<std::uint64_t>(about.st_size),
                 nanoseconds(about.st_mtim), nanoseconds(about.st_ctim)};
  return state;
}

void FileStates::give(const std::string& file, const std::string& text) {
  State& given = states_[file];
  const Digest digest = digest_of(text);
  if (given.kind == State::file && given.content && *given.content == digest)
    return;
  given.kind = State::file;
  given.stamp = {~std::uint64_t(0), states_.size(), text.size(), 0, 0}; // one file of its own
  given.content = digest;
  for (fs::path folder = fs::path(file).parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (State& above = state(folder.string()); above.kind == State::missing)
      above.kind = State::folder;
}

std::optional<Digest> FileStates::content(const std::string& file) {
  State& about = state(file);
  if (about.kind != State::file)
    return std::nullopt;
  if (about.content)
    return *about.content;
  if (!known_)
    known_ = load(table_);
  if (const auto row = known_->find(file); row != known_->end() && row->second.stamp == about.stamp)
    return *(about.content = row->second.digest);
  return *(about.content = read(file, about.stamp));
}

std::optional<Digest> FileStates::read(const std::string& file, const Stamp& stamp) {
  const std::int64_t before = now();
  const std::optional<std::string> text = read_whole(file);
  if (!text)
    return std::nullopt;
  const Digest digest = digest_of(*text);
  if (text->size() == stamp.size && stamp.changed + kClockStep < before &&
      stamp.modified + kClockStep < before)
    learned_[file] = {stamp, digest};
  return digest;
}

const std::set<std::string>* FileStates::names(const std::string& folder) {
  const auto [known, fresh] = names_.try_emplace(folder);
  if (fresh) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    if (open) {
      known->second.emplace();
      while (const dirent* entry = readdir(open.get()))
        if (const std::string name = entry->d_name; name != "." && name != "..")
          known->second->insert(name);
    }
  }
  return known->second ? &*known->second : nullptr;
}

bool FileStates::is_absent(const std::string& folder, const std::string& name) {
  const std::string path = folder + (folder.ends_with('/') ? "" : "/") + name;
  if (const auto known = states_.find(path); known != states_.end())
    return known->second.kind == State::missing;
  if (const auto* all = names(folder); all && !all->contains(name))
    return true;
  return state(path).kind == State::missing;
}

bool FileStates::hold(const Observations& seen) {
  if (!seen.complete)
    return false;
  for (const auto& [folder, absent] : seen.absent)
    for (const std::string& name : absent)
      if (!is_absent(folder, name))
        return false;
  for (const auto& [file, digest] : seen.files)
    if (content(file) != digest)
      return false;
  for (const std::string& folder : seen.folders)
    if (state(folder).kind != State::folder)
      return false;
  for (const std::string& file : seen.present)
    if (state(file).kind != State::file)
      return false;
  for (const auto& [folder, digest] : seen.listings)
    if (const auto* all = names(folder); !all || digest_of_names(*all) != digest)
      return false;
  // Of files with equal content, which of them are one file decides what #pragma once leaves out.
  std::map<Digest, std::set<std::pair<std::uint64_t, std::uint64_t>>> known;
  for (const auto& paths : seen.same_file) {
    const Stamp first = state(*paths.begin()).stamp;
    std::optional<Digest> content;
    for (const std::string& path : paths) {
      if (const Stamp each = state(path).stamp; each.device != first.device || each.inode != first.inode)
        return false;
      if (const auto read = seen.files.find(path); read != seen.files.end())
        content = read->second;
    }
    if (content && !known[*content].insert({first.device, first.inode}).second)
      return false;
  }
  return true;
}

FileStates::Rows FileStates::load(const fs::path& table) {
  Rows rows;
  const std::optional<std::string> text = table.empty() ? std::nullopt : read_checked(table, kMagic);
  if (!text)
    return rows;
  try {
    ByteReader in(*text);
    const std::uint64_t count = in.count(sizeof(Row));
    rows.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string path(in.text());
      Row row;
      in.raw(&row, sizeof row);
      rows.emplace(std::move(path), row);
    }
  } catch (const BadBytes&) {
    rows.clear();
  }
  return rows;
}

void FileStates::save() {
  if (learned_.empty() || table_.empty())
    return;
  Rows rows = load(table_); // another scan may have written meanwhile
  if (rows.size() > kMostRows)
    std::erase_if(rows, [&](const auto& row) { return !states_.contains(row.first); });
  for (const auto& [path, row] : learned_)
    rows[path] = row;
  Bytes out;
  out.number(rows.size());
  for (const auto& [path, row] : rows) {
    out.text(path);
    out.raw(&row, sizeof row);
  }
  write_checked(table_, kMagic, out.take());
  learned_.clear();
}

} // namespace reprobe::scan
