#include "analyzer/scan/driver/cache.h"

#include "analyzer/scan/driver/whole_files.h"
#include "analyzer/scan/facts/facts_binary.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace reprobe::scan {
namespace fs = std::filesystem;

extern const char* const kExtractionSources; // hash of the sources, made at build time

namespace {

constexpr std::string_view kEntryMagic = "reprobe-cached-facts/1\n";
constexpr std::string_view kSetMagic = "reprobe-cached-set/1\n";
constexpr auto kPruneAtMostEvery = std::chrono::hours(1);
constexpr auto kLeftover = std::chrono::hours(1); // a temporary file that old belongs to no running scan

// The linker's build ids of Clang's libraries; of the program itself when they are linked into it.
std::string build_ids() {
  struct Found {
    std::string libraries, program;
    bool first = true;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& ids = *static_cast<Found*>(out);
        const std::string name = info->dlpi_name ? info->dlpi_name : "";
        const bool program = std::exchange(ids.first, false);
        const bool library =
            name.find("libclang-cpp") != std::string::npos || name.find("libLLVM") != std::string::npos;
        if (!program && !library)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_NOTE)
            continue;
          const auto* note = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          const char* const end = note + info->dlpi_phdr[i].p_memsz;
          while (note + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) header;
            std::memcpy(&header, note, sizeof header);
            const char* const owner = note + sizeof header;
            const char* const value = owner + ((header.n_namesz + 3) & ~3u);
            if (header.n_type == NT_GNU_BUILD_ID && value + header.n_descsz <= end)
              (library ? ids.libraries : ids.program).append(value, header.n_descsz);
            note = value + ((header.n_descsz + 3) & ~3u);
          }
        }
        return 0;
      },
      &found);
  return found.libraries.empty() ? found.program : found.libraries;
}

// Ours; the others stand in for files of the disk, and are observed like those.
bool is_generated(const std::string& path) {
  return path.starts_with("/reprobe-");
}

Digest generated_files_digest(const ParseRequest& request) {
  Digester digester;
  for (const auto& [path, text] : request.virtual_files)
    if (is_generated(path))
      digester.add(path).add(digest_of(text));
  return digester.finish();
}

void touch(const fs::path& file) {
  utimensat(AT_FDCWD, file.c_str(), nullptr, 0); // when it was last of use
}

} // namespace

void Basis::write(Bytes& out) const {
  out.number(sets.size());
  for (const Digest& set : sets)
    out.raw(&set, sizeof set);
  out.number(unshadowed.size());
  for (const Unshadowed& each : unshadowed) {
    out.number(each.folders.size());
    for (const std::string& folder : each.folders)
      out.text(folder);
    out.raw(&each.names, sizeof each.names);
  }
  own.write(out);
}

Basis Basis::read(ByteReader& in) {
  Basis out;
  out.sets.resize(in.count(sizeof(Digest)));
  for (Digest& set : out.sets)
    in.raw(&set, sizeof set);
  for (std::uint64_t left = in.count(sizeof(Digest)); left > 0; --left) {
    Unshadowed& each = out.unshadowed.emplace_back();
    for (std::uint64_t folders = in.count(1); folders > 0; --folders)
      each.folders.emplace_back(in.text());
    in.raw(&each.names, sizeof each.names);
  }
  out.own = Observations::read(in);
  return out;
}

const Digest& extraction_identity() {
  static const Digest identity = Digester().add(kExtractionSources).add(build_ids()).finish();
  return identity;
}

Digest request_digest(const ParseRequest& request) {
  Digester digester;
  digester.add(extraction_identity()).add(request.directory.string()).add(request.main_file.string());
  digester.add(request.root.string()).add(request.language);
  for (const auto* paths : {&request.user_roots, &request.third_party_roots}) {
    digester.add(paths->size());
    for (const fs::path& path : *paths)
      digester.add(path.string());
  }
  for (const auto* words : {&request.command, &request.fact_flags}) {
    digester.add(words->size());
    for (const std::string& word : *words)
      digester.add(word);
  }
  digester.add(generated_files_digest(request));
  digester.add(std::uint64_t(request.inferred_flags));
  // Clang adds these to its search path.
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH",
                           "GCC_EXEC_PREFIX", "SDKROOT", "CUDA_PATH", "SOURCE_DATE_EPOCH"})
    if (const char* value = std::getenv(name))
      digester.add(name).add(value);
  return digester.finish();
}

fs::path default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/')
    return fs::path(cache) / "reprobe/scan";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? fs::path(home) / ".cache/reprobe/scan" : fs::path();
}

Cache::Cache(fs::path folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes),
      states_(folder_.empty() ? fs::path() : folder_ / "files") {
  if (folder_.empty())
    return;
  std::error_code error;
  for (const char* part : {"facts", "sets", "headers"})
    if (fs::create_directories(folder_ / part, error); error) {
      problem_ = "the cache folder " + folder_.string() + " cannot be used: " + error.message();
      return;
    }
  if (access(folder_.c_str(), W_OK) != 0)
    problem_ = "the cache folder " + folder_.string() + " is read-only: nothing new is kept";
  else if (!fs::exists(folder_ / "CACHEDIR.TAG", error)) // tells back-up programs to leave it out
    std::ofstream(folder_ / "CACHEDIR.TAG") << "Signature: 8a477f597d28d172789f06886806bc55\n";
  usable_ = true;
}

fs::path Cache::entry_file(const ParseRequest& request, const Digest& main) const {
  const std::string name = Digester().add(request_digest(request)).add(main).finish().hex();
  return folder_ / "facts" / name.substr(0, 2) / name.substr(2);
}

fs::path Cache::shared_file(const Digest& digest) const {
  return folder_ / "sets" / digest.hex();
}

void Cache::give_contents(const ParseRequest& request) {
  for (const auto& [path, text] : request.virtual_files)
    if (!is_generated(path))
      states_.give(path, text);
}

std::optional<TranslationUnit> Cache::find(const ParseRequest& request) {
  if (!usable_)
    return std::nullopt;
  give_contents(request);
  const std::optional<Digest> main = states_.content(request.main_file.string());
  if (!main)
    return std::nullopt;
  const fs::path file = entry_file(request, *main);
  const std::optional<std::string> text = read_checked(file, kEntryMagic);
  if (!text)
    return std::nullopt;
  try {
    ByteReader in(*text);
    if (!holds(Basis::read(in)))
      return std::nullopt; // the next store replaces it
    std::optional<TranslationUnit> unit = from_binary(in.rest());
    if (unit) {
      ++found;
      touch(file);
    }
    return unit;
  } catch (const BadBytes&) {
    return std::nullopt;
  }
}

void Cache::store(const ParseRequest& request, const Extraction& extraction, const Basis* extra) {
  if (!usable_ || !extraction.seen.complete || extraction.unit.status == "failed")
    return;
  const auto main = extraction.seen.files.find(request.main_file.string());
  if (main == extraction.seen.files.end())
    return;
  Basis basis = basis_of(request, extraction.seen);
  if (extra) {
    basis.sets.insert(basis.sets.end(), extra->sets.begin(), extra->sets.end());
    basis.unshadowed.insert(basis.unshadowed.end(), extra->unshadowed.begin(), extra->unshadowed.end());
  }
  Bytes out;
  basis.write(out);
  const fs::path file = entry_file(request, main->second);
  std::error_code ignored;
  fs::create_directory(file.parent_path(), ignored);
  if (write_checked(file, kEntryMagic, out.take() + to_binary(extraction.unit)))
    ++stored;
}

Basis Cache::basis_of(const ParseRequest& request, Observations seen) {
  Basis out;
  const auto contents = seen.files;
  std::vector<std::string> users;
  for (const fs::path& root : request.user_roots)
    users.push_back(root.string());
  users.push_back(request.root.string());
  // LibTorch, CUDA and Clang each on their own: files differ in what else they include.
  for (const fs::path& root : request.third_party_roots) {
    if (root.empty())
      continue;
    const Observations part = seen.split_off_below(root.string());
    if (part.empty())
      continue;
    Bytes bytes;
    part.write(bytes);
    out.sets.push_back(store_shared(bytes.take()));
  }
  for (const std::string& root : users) {
    Observations part = seen.split_off_below(root);
    out.own.files.merge(part.files), out.own.absent.merge(part.absent), out.own.listings.merge(part.listings);
    out.own.folders.merge(part.folders), out.own.present.merge(part.present);
  }
  out.own.same_file = std::move(seen.same_file);
  for (const auto& paths : out.own.same_file) // their contents are needed to compare
    for (const std::string& path : paths)
      if (const auto content = contents.find(path); content != contents.end())
        out.own.files.insert(*content);
  seen.same_file.clear();
  if (!seen.empty()) {
    Bytes bytes;
    seen.write(bytes);
    out.sets.push_back(store_shared(bytes.take()));
  }
  return out;
}

Digest Cache::store_shared(const std::string& bytes) {
  const Digest digest = digest_of(bytes);
  const fs::path file = shared_file(digest);
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    write_checked(file, kSetMagic, bytes);
  return digest;
}

Digest Cache::store_names(const std::set<std::string>& names) {
  Bytes bytes;
  bytes.number(names.size());
  for (const std::string& name : names)
    bytes.text(name);
  return store_shared(bytes.take());
}

bool Cache::set_holds(const Digest& digest) {
  const auto [known, fresh] = sets_.try_emplace(digest, false);
  if (!fresh)
    return known->second;
  const std::optional<std::string> text = read_checked(shared_file(digest), kSetMagic);
  if (!text) {
    std::error_code ignored;
    fs::remove(shared_file(digest), ignored); // damaged, or not there
    sets_.erase(known);                       // it may be stored yet
    return false;
  }
  try {
    ByteReader in(*text);
    known->second = states_.hold(Observations::read(in));
    if (known->second)
      touch(shared_file(digest));
    else
      fs::remove(shared_file(digest)); // of no use any more: the headers have changed
  } catch (const BadBytes&) {
  } catch (const fs::filesystem_error&) {
  }
  return known->second;
}

bool Cache::is_unshadowed(const Unshadowed& each) {
  const auto [known, fresh] = names_.try_emplace(each.names);
  std::vector<std::string>& names = known->second;
  if (fresh) {
    const std::optional<std::string> text = read_checked(shared_file(each.names), kSetMagic);
    try {
      ByteReader in(text ? std::string_view(*text) : std::string_view());
      for (std::uint64_t left = in.count(1); left > 0; --left)
        names.emplace_back(in.text());
    } catch (const BadBytes&) {
      names.clear();
    }
    if (!names.empty())
      touch(shared_file(each.names));
  }
  if (names.empty())
    return false;
  return std::all_of(each.folders.begin(), each.folders.end(), [&](const std::string& folder) {
    const auto [result, is_new] = shadows_.try_emplace({folder, each.names}, false);
    if (is_new)
      result->second = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        const std::string first = name.substr(0, name.find('/'));
        return states_.is_absent(folder, first) ||
               (first != name && states_.is_absent(folder + "/" + fs::path(name).parent_path().string(),
                                                   fs::path(name).filename().string()));
      });
    return result->second;
  });
}

bool Cache::holds(const Basis& basis) {
  return states_.hold(basis.own) &&
         std::all_of(basis.sets.begin(), basis.sets.end(),
                     [&](const Digest& set) { return set_holds(set); }) &&
         std::all_of(basis.unshadowed.begin(), basis.unshadowed.end(),
                     [&](const Unshadowed& each) { return is_unshadowed(each); });
}

void Cache::finish() {
  if (!usable_)
    return;
  states_.save();
  struct stat about;
  const fs::path stamp = folder_ / "pruned";
  const bool recent = stat(stamp.c_str(), &about) == 0 &&
                      std::chrono::system_clock::from_time_t(about.st_mtime) + kPruneAtMostEvery >
                          std::chrono::system_clock::now();
  if (recent)
    return;
  if (write_whole(stamp, ""))
    prune();
}

void Cache::prune() {
  struct File {
    timespec used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  const auto now = std::chrono::system_clock::now();
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat about;
    if (lstat(entry->path().c_str(), &about) != 0 || !S_ISREG(about.st_mode))
      continue;
    const std::string name = entry->path().filename().string();
    if (name.find(".tmp-") != std::string::npos) {
      if (std::chrono::system_clock::from_time_t(about.st_mtime) + kLeftover < now)
        unlink(entry->path().c_str());
      continue;
    }
    if (entry->path().parent_path() == folder_ || name.ends_with(".lock"))
      continue;
    files.push_back({about.st_mtim, static_cast<std::uint64_t>(about.st_blocks) * 512, entry->path()});
    total += files.back().bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const File& file : files) {
    if (total <= most_bytes_)
      break;
    if (unlink(file.path.c_str()) == 0)
      total -= file.bytes;
  }
}

} // namespace reprobe::scan
