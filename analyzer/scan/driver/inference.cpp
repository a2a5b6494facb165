#include "analyzer/scan/driver/inference.h"

#include "analyzer/scan/facts/paths.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostIncludeFolders = 60;
constexpr std::size_t kMostHeaders = 50000, kMostReached = 2000;
constexpr int kDeepestFolder = 12;

// What the project's own build files ask for: "17", "20" …
std::string language_standard(const fs::path& root) {
  int newest = 0;
  for (const char* name :
       {"CMakeLists.txt", "setup.py", "Makefile", "meson.build", "BUILD.bazel", "BUILD", ".bazelrc"}) {
    if (!is_regular(root / name))
      continue;
    std::ifstream in(root / name);
    std::stringstream buffer;
    buffer << in.rdbuf();
    const std::string text = buffer.str();
    for (const char* marker : {"CXX_STANDARD ", "cxx_std_", "std=c++", "std=gnu++", "cpp_std=c++", "std=c++"})
      for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
        const std::string digits = text.substr(at + std::strlen(marker), 2);
        if (digits.size() == 2 && std::isdigit(static_cast<unsigned char>(digits[0])) &&
            std::isdigit(static_cast<unsigned char>(digits[1])) && digits != "98")
          newest = std::max(newest, std::stoi(digits));
      }
  }
  // LibTorch needs 17; what is written for 11 and 14 is good 17 with few exceptions.
  return "-std=gnu++" + std::to_string(newest > 17 ? std::min(newest, 23) : 17);
}

// What is in a folder, sorted: folders but hidden ones and those that a build made, and headers.
struct Contents {
  std::vector<fs::path> folders, headers;
};

Contents contents_of(const fs::path& folder) {
  Contents out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const fs::file_status status = entry->symlink_status(ignored);
    if (fs::is_directory(status)) {
      if (!entry->path().filename().string().starts_with(".") && !is_build_folder(entry->path()))
        out.folders.push_back(entry->path());
    } else if (fs::is_regular_file(status) && is_header(entry->path())) {
      out.headers.push_back(entry->path());
    }
  }
  std::sort(out.folders.begin(), out.folders.end());
  std::sort(out.headers.begin(), out.headers.end());
  return out;
}

void add_include_folders(const fs::path& folder, int depth, std::set<fs::path>& seen,
                         std::vector<fs::path>& out) {
  if (depth > 5 || out.size() >= kMostIncludeFolders)
    return;
  for (const fs::path& next : contents_of(folder).folders) {
    if (next.filename() == "include" && seen.insert(next).second)
      out.push_back(next);
    else
      add_include_folders(next, depth + 1, seen, out);
  }
}

// Headers below, other people's too.
void add_headers(const fs::path& folder, int depth, std::multimap<std::string, fs::path>& out) {
  if (depth > kDeepestFolder || out.size() >= kMostHeaders)
    return;
  const Contents contents = contents_of(folder);
  for (const fs::path& header : contents.headers)
    out.emplace(header.filename().string(), header);
  for (const fs::path& next : contents.folders)
    add_headers(next, depth + 1, out);
}

bool lies_in_third_party(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return std::any_of(relative.begin(), relative.end(),
                     [](const fs::path& part) { return is_third_party(part.string()); });
}

// `a/b.h` of `/x/a/b.h`: the folder to give to the compiler, `/x`. Empty when the path ends otherwise.
fs::path folder_for(const fs::path& header, const fs::path& name) {
  fs::path folder = header;
  for (auto part = std::make_reverse_iterator(name.end()); part != std::make_reverse_iterator(name.begin());
       ++part) {
    if (folder.filename() != *part)
      return {};
    folder = folder.parent_path();
  }
  return folder;
}

std::size_t shared_parts(const fs::path& a, const fs::path& b) {
  const auto difference = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::distance(a.begin(), difference.first));
}

// CUDNN_HALF, WITH_CUDA, GPU, MULTI_GPU; not DEBUG, OPENCV.
bool speaks_of_gpu(const std::string& definition) {
  constexpr std::array kParts = {"GPU", "CUDA", "CUDNN", "CUBLAS", "CURAND", "NCCL", "TORCH", "LIBTORCH"};
  const std::string name = definition.substr(0, definition.find('='));
  if (name.starts_with("__"))
    return false; // the compiler's
  std::stringstream parts(name);
  for (std::string part; std::getline(parts, part, '_');)
    if (std::find(kParts.begin(), kParts.end(), part) != kParts.end())
      return true;
  return false;
}

} // namespace

std::vector<IncludeLine> include_lines(const fs::path& file) {
  std::vector<IncludeLine> out;
  std::error_code error;
  if (fs::file_size(file, error) > kLargestSource || error)
    return out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#')
      continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0)
      continue;
    const std::size_t open = line.find_first_of("<\"", word + 7);
    if (open == std::string::npos)
      continue;
    const std::size_t close = line.find_first_of(">\"", open + 1);
    if (close != std::string::npos)
      out.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return out;
}

const std::vector<IncludeLine>& Inference::includes_of(const fs::path& file) {
  const auto known = includes_.find(file);
  return known != includes_.end() ? known->second
                                  : includes_.emplace(file, include_lines(file)).first->second;
}

Inference::Project& Inference::project(const fs::path& root) {
  const auto [entry, is_new] = projects_.try_emplace(root);
  if (is_new) {
    entry->second.standard = language_standard(root);
    std::set<fs::path> seen;
    add_include_folders(root, 0, seen, entry->second.include_folders);
  }
  return entry->second;
}

// The nearest of the project's headers that a folder could be given for; its own before other people's.
fs::path Inference::missing_folder(const IncludeLine& include, const fs::path& includer,
                                   const fs::path& root) {
  if (!include.quoted && !fs::path(include.name).has_extension())
    return {}; // the standard library's
  std::optional<std::multimap<std::string, fs::path>>& headers = project(root).headers;
  if (!headers)
    add_headers(root, 0, headers.emplace());
  const fs::path name = fs::path(include.name).lexically_normal();
  fs::path best;
  std::pair<bool, std::size_t> best_rank;
  const auto [begin, end] = headers->equal_range(name.filename().string());
  for (auto header = begin; header != end; ++header) {
    const fs::path folder = folder_for(header->second, name);
    const bool own = !lies_in_third_party(header->second, root);
    if (folder.empty() || !lies_below(folder, root) || (!own && !include.quoted))
      continue;
    const std::pair rank(own, shared_parts(includer, header->second));
    if (best.empty() || best_rank < rank)
      best = folder, best_rank = rank;
  }
  return best;
}

std::vector<fs::path> Inference::include_folders(const fs::path& source, const fs::path& root) {
  std::vector<fs::path> out;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& folder) {
    if (is_folder(folder) && seen.insert(folder).second)
      out.push_back(folder);
  };
  for (fs::path folder = source.parent_path();; folder = folder.parent_path()) {
    add(folder);
    for (const char* name : {"include", "inc", "src", "csrc"})
      add(folder / name);
    if (folder == root || !lies_below(folder, root))
      break;
  }
  for (const fs::path& folder : project(root).include_folders)
    add(folder);

  std::vector<fs::path> open = {source};
  std::set<fs::path> reached = {source};
  const auto reach = [&](const fs::path& header) {
    if (reached.size() < kMostReached && reached.insert(header).second)
      open.push_back(header);
  };
  while (!open.empty()) {
    const fs::path file = open.back();
    open.pop_back();
    for (const IncludeLine& include : includes_of(file)) {
      std::vector<fs::path> folders = out;
      if (include.quoted)
        folders.insert(folders.begin(), file.parent_path());
      const auto holder = std::find_if(folders.begin(), folders.end(),
                                       [&](const fs::path& folder) { return holds(folder / include.name); });
      if (holder != folders.end()) {
        reach((*holder / include.name).lexically_normal());
      } else if (const fs::path folder = missing_folder(include, file, root); !folder.empty()) {
        if (!include.quoted && !seen.contains(folder))
          last_.insert(folder);
        add(folder);
        reach((folder / include.name).lexically_normal());
      }
    }
  }
  return out;
}

bool Inference::holds(const fs::path& file) {
  const auto [known, is_new] = regular_.try_emplace(file, false);
  if (is_new)
    known->second = is_regular(file);
  return known->second;
}

std::vector<std::string> Inference::macros(const fs::path& source, const fs::path& root) {
  const auto [known, is_new] = macros_.try_emplace(source.parent_path());
  if (is_new) {
    std::set<std::string> names; // of several values the first
    for (const std::string& definition : read_definitions({source}, root))
      if (speaks_of_gpu(definition) && names.insert(definition.substr(0, definition.find('='))).second)
        known->second.push_back(definition);
  }
  return known->second;
}

Translation Inference::translation(const fs::path& source, const fs::path& root) {
  Translation out;
  out.language = language_of(source);
  if (out.language != "c")
    out.arguments.push_back(project(root).standard);
  for (const fs::path& folder : include_folders(source, root)) {
    // Other people's folders may hold headers for other systems, under the names of this one's; <name> may be
    // a system's.
    out.arguments.push_back(lies_in_third_party(folder, root) || last_.contains(folder) ? "-idirafter"
                                                                                        : "-I");
    out.arguments.push_back(folder.string());
  }
  for (const std::string& macro : macros(source, root))
    out.arguments.push_back("-D" + macro);
  return out;
}

} // namespace reprobe::scan
