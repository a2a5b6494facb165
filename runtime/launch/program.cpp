#include "runtime/launch/program.h"

#include "rules/error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;

Error cannot_start(const std::string& name, const std::string& why, const std::string& remedy) {
  return Error("the program cannot be started", name, why, remedy, 3);
}

/// What the loader would read of a 64-bit ELF file.
class Elf {
public:
  static std::optional<Elf> open(const fs::path& path) {
    Elf elf;
    elf.file_.open(path, std::ios::binary);
    if (!elf.read(0, elf.header_) || std::memcmp(elf.header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.header_.e_ident[EI_CLASS] != ELFCLASS64 || elf.header_.e_phentsize != sizeof(Elf64_Phdr))
      return std::nullopt;
    elf.segments_.resize(elf.header_.e_phnum);
    for (std::size_t i = 0; i < elf.segments_.size(); ++i)
      if (!elf.read(elf.header_.e_phoff + i * sizeof(Elf64_Phdr), elf.segments_[i]))
        return std::nullopt;
    return elf;
  }

  bool has(Elf64_Word segment_type) const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const auto& s) { return s.p_type == segment_type; });
  }

  /// The dynamic string table: names of needed libraries and of imported symbols.
  std::string dynamic_strings() {
    std::uint64_t address = 0, size = 0;
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC)
        continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        if (!read(segment.p_offset + at, entry) || entry.d_tag == DT_NULL)
          break;
        if (entry.d_tag == DT_STRTAB)
          address = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ)
          size = entry.d_un.d_val;
      }
    }
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
          address >= segment.p_vaddr + segment.p_filesz)
        continue;
      std::string strings(std::min<std::uint64_t>(size, 64u << 20), '\0');
      file_.clear();
      file_.seekg(static_cast<std::streamoff>(segment.p_offset + (address - segment.p_vaddr)));
      file_.read(strings.data(), static_cast<std::streamsize>(strings.size()));
      return strings;
    }
    return {};
  }

private:
  template <class T>
  bool read(std::uint64_t offset, T& value) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(&value), sizeof value);
    return file_.gcount() == sizeof value;
  }

  std::ifstream file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
};

} // namespace

fs::path find_program(const std::string& name) {
  if (name.empty())
    throw cannot_start("\"\"", "its name is empty", "name a program after --");
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name, error))
      throw cannot_start(name, "there is no such file", "check the path");
    if (fs::is_directory(name, error))
      throw cannot_start(name, "it is a folder", "name the executable in it");
    if (::access(name.c_str(), X_OK) != 0)
      throw cannot_start(name, "it is not executable", "chmod +x it, or name its interpreter first");
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = (folder.empty() ? fs::path(".") : fs::path(folder)) / name;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  throw cannot_start(name, "it is not on PATH", "name it with its path, as ./" + name);
}

Obstacle obstacle_to_observing(const fs::path& program) {
  std::optional<Elf> elf = Elf::open(program);
  if (!elf)
    return {}; // a script: its interpreter and what that starts decide
  if (!elf->has(PT_INTERP))
    return {"the program is statically linked, so nothing can be loaded into it", false};
  const std::string strings = elf->dynamic_strings();
  for (const char* mark : {"libasan.so", "__asan_init", "libtsan.so", "__tsan_init"})
    if (strings.find(mark) != std::string::npos)
      return {std::string("the program is built with ") +
                  (mark[2] == 't' || mark[3] == 't' ? "ThreadSanitizer" : "AddressSanitizer") +
                  ", which must be the first library loaded and refuses the observer",
              true};
  return {};
}

} // namespace reprobe::launch
