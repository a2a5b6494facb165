#include "analyzer/scan/driver/precompiled_headers.h"

#include "analyzer/scan/driver/leading_includes.h"
#include "analyzer/scan/facts/paths.h"
#include "analyzer/scan/driver/whole_files.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "reprobe-precompiled-header/1\n";
constexpr std::uint64_t kRoom = 1ull << 30; // bytes that must be free on the disk

// A source with several of them gets the first of this list: it includes most of the others.
constexpr std::array kLargeHeaders = {"torch/extension.h",
                                      "torch/torch.h",
                                      "torch/all.h",
                                      "torch/script.h",
                                      "torch/nn.h",
                                      "torch/types.h",
                                      "torch/library.h",
                                      "ATen/ATen.h",
                                      "ATen/cuda/CUDAContext.h",
                                      "ATen/Functions.h",
                                      "ATen/NativeFunctions.h",
                                      "ATen/Tensor.h",
                                      "ATen/core/Tensor.h",
                                      "thrust/device_vector.h",
                                      "cub/cub.cuh",
                                      "opencv2/opencv.hpp",
                                      "cuda_runtime.h"};

// Macros that headers are known to ask for; whether they do is checked afterwards.
bool is_likely_asked_for(const std::string& macro) {
  for (const char* prefix :
       {"_", "NDEBUG", "C10_", "AT_", "TORCH_", "USE_", "CUDA", "THRUST_", "CUB_", "CCCL_"})
    if (macro.starts_with(prefix))
      return macro != "TORCH_EXTENSION_NAME";
  return false;
}

// "-DNAME(x)=1" → "NAME"
std::string macro_name(const std::string& option) {
  return option.substr(2, option.find_first_of("=(", 2) - 2);
}

fs::path absolute(const fs::path& path, const fs::path& directory) {
  return (path.is_absolute() ? path : directory / path).lexically_normal();
}

bool is_users(const fs::path& folder, const ParseRequest& request) {
  for (const fs::path& root : request.third_party_roots)
    if (!root.empty() && lies_below(folder, root))
      return false;
  return lies_below(folder, request.root) ||
         std::any_of(request.user_roots.begin(), request.user_roots.end(),
                     [&](const fs::path& root) { return lies_below(folder, root); });
}

// The command sorted by what a header can depend on.
struct Sorted {
  std::vector<std::string> words; // for the header
  std::vector<std::string> macros;
  std::vector<fs::path> user_folders;
  std::vector<std::string> included; // virtual files that the command includes first
  bool usable = true;
};

Sorted sort(const ParseRequest& request) {
  Sorted out;
  const auto& command = request.command;
  for (std::size_t i = 0; i < command.size() && command[i] != "--"; ++i) {
    const std::string& word = command[i];
    const auto value = [&](const std::string& option) {
      return word == option ? (++i < command.size() ? command[i] : std::string())
                            : word.substr(option.size());
    };
    std::string folder_option;
    for (const char* option : {"-isystem", "-iquote", "-idirafter", "-I"})
      if (folder_option.empty() && word.starts_with(option))
        folder_option = option;
    if (!folder_option.empty()) {
      const fs::path folder = absolute(value(folder_option), request.directory);
      if (is_users(folder, request))
        out.user_folders.push_back(folder);
      else
        out.words.insert(out.words.end(), {folder_option, folder.string()});
    } else if (word.starts_with("-D") || word.starts_with("-U")) {
      const std::string option = word.substr(0, 2);
      out.macros.push_back(option + value(option));
    } else if (word == "-include") {
      const std::string file = value(word);
      out.usable = out.usable && request.virtual_files.contains(file);
      out.included.push_back(file);
      out.words.insert(out.words.end(), {word, file});
    } else if (word.starts_with("-imacros") || word.starts_with("-include") || word.starts_with("-iprefix") ||
               word.starts_with("-iwithprefix") || word.starts_with("-Xclang") ||
               word.starts_with("-fmodule")) {
      out.usable = false;
    } else if (word != request.main_file) {
      out.words.push_back(word);
    }
  }
  return out;
}

struct Choice {
  std::string header;
  bool moved = false;
};

Choice choose(const LeadingIncludes& includes) {
  const auto holds = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const char* large : kLargeHeaders) {
    if (holds(includes.names, large))
      return {large, false};
    if (holds(includes.later, large))
      return {large, true};
  }
  return {};
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

// Held while a header is made, by one process at a time.
class Lock {
public:
  Lock(const fs::path& file, bool wait) : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    held_ = file_ >= 0 && flock(file_, LOCK_EX | (wait ? 0 : LOCK_NB)) == 0;
  }
  ~Lock() {
    if (file_ >= 0)
      close(file_);
  }
  Lock(const Lock&) = delete;
  bool held() const { return held_; }

private:
  int file_;
  bool held_;
};

bool has_room(const fs::path& folder) {
  struct statvfs about;
  return statvfs(folder.c_str(), &about) == 0 && std::uint64_t(about.f_bavail) * about.f_frsize > kRoom &&
         access(folder.c_str(), W_OK) == 0;
}

} // namespace

std::optional<HeaderUse> header_use(const ParseRequest& request) {
  Sorted command = sort(request);
  if (!command.usable || request.language == "c")
    return std::nullopt;
  const auto text_of = [&](const fs::path& file) {
    if (const auto given = request.virtual_files.find(file.string()); given != request.virtual_files.end())
      return given->second;
    return read_whole(file).value_or("");
  };
  const auto user_header = [&](const fs::path& includer, const std::string& name, bool quoted) -> fs::path {
    std::vector<fs::path> folders;
    if (quoted)
      folders.push_back(includer.parent_path());
    folders.insert(folders.end(), command.user_folders.begin(), command.user_folders.end());
    std::error_code error;
    for (const fs::path& folder : folders)
      if (const fs::path file = (folder / name).lexically_normal(); fs::is_regular_file(file, error))
        return file;
    return {};
  };
  LeadingIncludes leading = leading_includes(request.main_file, user_header, text_of);
  const auto [header, moved] = choose(leading);
  if (header.empty())
    return std::nullopt;

  HeaderUse out;
  out.moved = moved;
  if (moved)
    leading.macros.merge(leading.later_macros);
  out.macros = std::move(command.macros);
  out.defined_before = std::move(leading.macros);
  for (const fs::path& folder : command.user_folders)
    out.user_folders.push_back(folder.string());
  out.request.directory = "/";
  out.request.header = header;
  out.request.command = std::move(command.words);
  for (const auto& [path, text] : request.virtual_files)
    if (path.starts_with("/reprobe-")) // ours; the others stand in for the user's own files
      out.request.virtual_files[path] = text;
  Digester family;
  family.add(extraction_identity()).add(header);
  for (const std::string& word : out.request.command)
    family.add(word);
  for (const auto& [path, text] : out.request.virtual_files)
    family.add(path).add(digest_of(text));
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"})
    if (const char* value = std::getenv(name))
      family.add(name).add(value);
  out.family = family.finish();
  return out;
}

fs::path PrecompiledHeaders::Variant::header() const {
  return fs::path(file).replace_extension(".pch");
}

std::optional<PrecompiledHeaders::Variant> PrecompiledHeaders::read(const fs::path& file) {
  const std::optional<std::string> text = read_checked(file, kMagic);
  if (!text)
    return std::nullopt;
  try {
    ByteReader in(*text);
    Variant out;
    out.file = file;
    out.failed = in.number_up_to(1) == 1;
    out.bytes = in.number();
    for (std::uint64_t left = in.count(1); left > 0; --left)
      out.macros.emplace_back(in.text());
    in.raw(&out.names, sizeof out.names);
    out.basis = Basis::read(in);
    out.identifiers.resize(in.count(sizeof(std::uint64_t)));
    in.raw(out.identifiers.data(), out.identifiers.size() * sizeof(std::uint64_t));
    return out;
  } catch (const BadBytes&) {
    return std::nullopt;
  }
}

std::vector<PrecompiledHeaders::Variant>& PrecompiledHeaders::variants(const Digest& family) {
  const auto [known, fresh] = known_.try_emplace(family);
  if (!fresh)
    return known->second;
  std::error_code error;
  const std::string prefix = family.hex() + "-";
  for (fs::directory_iterator entry(cache_.folder() / "headers", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".about"))
      continue;
    std::optional<Variant> variant = read(entry->path());
    if (variant && cache_.holds(variant->basis) &&
        (variant->failed || size_of(variant->header()) == variant->bytes)) {
      known->second.push_back(std::move(*variant));
    } else { // its headers have changed, or it is damaged: of no use any more
      std::error_code ignored;
      fs::remove(fs::path(entry->path()).replace_extension(".pch"), ignored);
      fs::remove(entry->path(), ignored);
    }
  }
  return known->second;
}

Basis PrecompiledHeaders::basis_for(const Variant& variant, const HeaderUse& use) const {
  Basis out = variant.basis;
  if (!use.user_folders.empty())
    out.unshadowed.push_back({use.user_folders, variant.names});
  return out;
}

bool PrecompiledHeaders::fits(const Variant& variant, const HeaderUse& use) {
  const auto asks_for = [&](const std::string& macro) {
    return std::binary_search(variant.identifiers.begin(), variant.identifiers.end(), identifier_hash(macro));
  };
  for (const std::string& macro : variant.macros)
    if (std::find(use.macros.begin(), use.macros.end(), macro) == use.macros.end())
      return false;
  for (const std::string& macro : use.macros)
    if (std::find(variant.macros.begin(), variant.macros.end(), macro) == variant.macros.end() &&
        asks_for(macro_name(macro)))
      return false;
  if (std::any_of(use.defined_before.begin(), use.defined_before.end(), asks_for))
    return false;
  const Basis basis = basis_for(variant, use);
  return std::all_of(basis.unshadowed.begin(), basis.unshadowed.end(),
                     [&](const Unshadowed& each) { return cache_.is_unshadowed(each); });
}

std::optional<PrecompiledHeader> PrecompiledHeaders::find(const HeaderUse& use) {
  if (!cache_.usable())
    return std::nullopt;
  for (const Variant& variant : variants(use.family))
    if (!variant.failed && fits(variant, use)) {
      const fs::path header = variant.header();
      utimensat(AT_FDCWD, header.c_str(), nullptr, 0);
      utimensat(AT_FDCWD, variant.file.c_str(), nullptr, 0);
      return PrecompiledHeader{header, use.request.header, use.moved, basis_for(variant, use)};
    }
  return std::nullopt;
}

bool PrecompiledHeaders::worth_making(const HeaderUse& use) {
  if (!cache_.usable() || !has_room(cache_.folder() / "headers"))
    return false;
  const auto& all = variants(use.family);
  // What a variant asks for and the source defines itself cannot be had from any header.
  return std::none_of(all.begin(), all.end(), [&](const Variant& variant) {
    return variant.failed ||
           std::any_of(use.defined_before.begin(), use.defined_before.end(), [&](const std::string& macro) {
             return std::binary_search(variant.identifiers.begin(), variant.identifiers.end(),
                                       identifier_hash(macro));
           });
  });
}

void PrecompiledHeaders::forget(const HeaderUse& use) {
  known_.erase(use.family);
}

bool PrecompiledHeaders::make(const HeaderUse& use, bool wait_for_others) {
  const fs::path folder = cache_.folder() / "headers";
  const Lock lock(folder / (use.family.hex() + ".lock"), wait_for_others);
  if (!lock.held())
    return false;
  forget(use);
  if (find(use))
    return true; // another scan has just made it
  std::vector<std::string> macros;
  for (const std::string& macro : use.macros)
    if (is_likely_asked_for(macro_name(macro)))
      macros.push_back(macro);
  if (!make_variant(use, macros))
    return false;
  forget(use);
  if (find(use))
    return true;
  // It asks for a macro that was taken for irrelevant: with those that it does ask for.
  std::vector<std::string> asked_for;
  for (const Variant& variant : variants(use.family))
    for (const std::string& macro : use.macros)
      if (std::binary_search(variant.identifiers.begin(), variant.identifiers.end(),
                             identifier_hash(macro_name(macro))) &&
          std::find(asked_for.begin(), asked_for.end(), macro) == asked_for.end())
        asked_for.push_back(macro);
  std::vector<std::string> ordered;
  for (const std::string& macro : use.macros)
    if (std::find(asked_for.begin(), asked_for.end(), macro) != asked_for.end() ||
        std::find(macros.begin(), macros.end(), macro) != macros.end())
      ordered.push_back(macro);
  if (ordered == macros || !make_variant(use, ordered))
    return false;
  forget(use);
  return find(use).has_value();
}

bool PrecompiledHeaders::make_variant(const HeaderUse& use, const std::vector<std::string>& macros) {
  Digester name;
  for (const std::string& macro : macros)
    name.add(macro);
  Variant variant;
  variant.macros = macros;
  variant.file = cache_.folder() / "headers" / (use.family.hex() + "-" + name.finish().hex() + ".about");
  PrecompileRequest request = use.request;
  request.command.insert(request.command.end(), macros.begin(), macros.end());
  request.output = variant.header().string() + ".tmp-" + std::to_string(getpid());
  request.cache = cache_.folder();
  const Precompiled made = precompile(request);
  ParseRequest places; // nothing in it is the user's
  places.root = places.main_file = "/nowhere";
  if (made.seen.complete)
    variant.basis = cache_.basis_of(places, made.seen);
  variant.failed = !made.problem.empty();
  variant.identifiers = made.identifiers;
  variant.names = cache_.store_names(made.include_names);
  variant.bytes = size_of(request.output);
  std::error_code error;
  if (variant.failed)
    fs::remove(request.output, error);
  else if (fs::rename(request.output, variant.header(), error); error)
    return false;
  Bytes out;
  out.number(variant.failed);
  out.number(variant.bytes);
  out.number(variant.macros.size());
  for (const std::string& macro : variant.macros)
    out.text(macro);
  out.raw(&variant.names, sizeof variant.names);
  variant.basis.write(out);
  out.number(variant.identifiers.size());
  out.raw(variant.identifiers.data(), variant.identifiers.size() * sizeof(std::uint64_t));
  return write_checked(variant.file, kMagic, out.take()) && !variant.failed;
}

} // namespace reprobe::scan
