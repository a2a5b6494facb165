#include "analyzer/scan/driver/project.h"

#include "analyzer/scan/driver/declarations.h"
#include "analyzer/scan/driver/inference.h"
#include "analyzer/scan/facts/paths.h"
#include "rules/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_set>
#include <utility>

extern char** environ;

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr int kDeepestFolder = 24;
constexpr std::size_t kMostFiles = 50000;

std::string shown(const fs::path& path, const fs::path& root) {
  return (lies_below(path, root) ? path.lexically_relative(root) : path).generic_string();
}

// Files below `folder` that git tracks or would track. Nothing when there is no repository or no git.
std::optional<std::unordered_set<std::string>> known_to_git(const fs::path& folder) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0)
    return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const std::string where = folder.string();
  // A repository's configuration must not make git start a program.
  const char* arguments[] = {"git",
                             "-c",
                             "core.fsmonitor=false",
                             "-c",
                             "core.hooksPath=/dev/null",
                             "-c",
                             "core.untrackedCache=false",
                             "-c",
                             "protocol.allow=never",
                             "-C",
                             where.c_str(),
                             "ls-files",
                             "-z",
                             "--cached",
                             "--others",
                             "--exclude-standard",
                             nullptr};
  // An incomplete clone would fetch what is missing, by whatever program its remote names.
  std::vector<char*> variables;
  std::string no_protocol = "GIT_ALLOW_PROTOCOL=none", no_fetch = "GIT_NO_LAZY_FETCH=1";
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with("GIT_ALLOW_PROTOCOL="))
      variables.push_back(*variable);
  variables.insert(variables.end(), {no_protocol.data(), no_fetch.data(), nullptr});
  pid_t git = 0;
  const int failed =
      posix_spawnp(&git, "git", &actions, nullptr, const_cast<char**>(arguments), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  std::string text;
  if (!failed) {
    char buffer[65536];
    for (ssize_t got; (got = read(out[0], buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
      if (got > 0)
        text.append(buffer, static_cast<std::size_t>(got));
  }
  close(out[0]);
  int status = 1;
  if (failed)
    return std::nullopt;
  while (waitpid(git, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  std::unordered_set<std::string> files;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    files.insert(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return files;
}

void walk(const fs::path& folder, const fs::path& top, int depth, std::vector<fs::path>& files,
          Sources& out) {
  if (depth > kDeepestFolder || files.size() > kMostFiles)
    return;
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const fs::file_status status = entry->symlink_status(ignored);
    const std::string name = entry->path().filename().string();
    if (fs::is_directory(status)) {
      if (name.starts_with("."))
        continue;
      if (is_third_party(name) || is_build_folder(entry->path()))
        out.skipped.push_back(shown(entry->path(), top));
      else
        folders.push_back(entry->path());
    } else if (fs::is_regular_file(entry->status(ignored)) && !language_of(entry->path()).empty()) {
      files.push_back(entry->path());
    }
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& next : folders)
    walk(next, top, depth + 1, files, out);
}

class Planner {
public:
  Planner(const Options& options, const std::function<bool(const ParseRequest&)>& take_known)
      : options_(options), take_known_(take_known),
        tools_(find_toolchain(options.torch_root, options.cuda_root)) {}

  Project run() {
    std::vector<fs::path>& paths = paths_ = options_.paths;
    if (paths.empty())
      paths.emplace_back(".");
    for (fs::path& path : paths) {
      if (!is_there(path) && !options_.contents.contains(real_path(path).string()) && !options_.selects())
        throw Error("no such file or folder", path.string(), "", "name a source file or a folder");
      path = real_path(path);
    }
    choose_root(paths);
    if (!options_.database.empty())
      use_named_database();
    contents_ = options_.contents;
    if (options_.selects())
      select_changes(paths);
    else
      for (const fs::path& path : paths)
        add_path(path);
    if (options_.is_partial())
      project_.whole = knows_rest(paths.front());
    if (tools_.torch.empty() && !project_.requests.empty())
      project_.remarks.push_back(
          "LibTorch not found: its functions are known by built-in declarations only "
          "(give --torch-root DIR, set Torch_DIR or activate a Python that has torch)");
    if (tools_.cuda.empty() && has_cuda_)
      project_.remarks.push_back("CUDA not found: its functions are known by built-in declarations only "
                                 "(give --cuda DIR or set CUDA_HOME)");
    add_remarks();
    return std::move(project_);
  }

private:
  void choose_root(const std::vector<fs::path>& paths) {
    project_.root = real_path(fs::current_path());
    const bool inside = std::any_of(paths.begin(), paths.end(), [&](const fs::path& path) {
      return path == project_.root || lies_below(path, project_.root);
    });
    if (!inside && is_folder(paths.front()))
      project_.root = paths.front();
  }

  void use_named_database() {
    fs::path file = options_.database;
    if (is_folder(file))
      file /= "compile_commands.json";
    databases_[{}] = read_database(real_path(file));
  }

  const Database* database_for(const fs::path& folder) {
    if (!options_.database.empty())
      return &databases_[{}];
    const auto found = find_database(folder);
    if (!found)
      return nullptr;
    if (auto known = databases_.find(*found); known != databases_.end())
      return &known->second;
    project_.remarks.push_back("compile commands from " + shown(*found, project_.root));
    return &(databases_[*found] = read_database(*found));
  }

  // Changed files at or below the named paths.
  void select_changes(const std::vector<fs::path>& paths) {
    std::size_t skipped = 0;
    const Wanted wanted = [&](const fs::path& file) {
      const auto named = std::find_if(paths.begin(), paths.end(), [&](const fs::path& path) {
        return file == path || lies_below(file, path);
      });
      if (named == paths.end() || language_of(file).empty())
        return false;
      const bool foreign = *named != file && is_skipped_below(file.parent_path(), *named);
      skipped += foreign;
      return !foreign;
    };
    const fs::path start = nearest_folder(paths.front());
    project_.selection =
        options_.staged ? staged(start, wanted) : changed_since(start, options_.changed_since, wanted);
    for (const auto& [file, text] : project_.selection->contents)
      contents_.emplace(file, text);
    const std::vector<std::string>& remarks = project_.selection->remarks;
    project_.remarks.insert(project_.remarks.end(), remarks.begin(), remarks.end());
    if (skipped)
      project_.remarks.push_back("skipped " + std::to_string(skipped) +
                                 " changed files in build folders and other people's code");
    for (const ChangedFile& file : project_.selection->files)
      add_file(file.path, database_for(nearest_folder(file.path.parent_path())));
  }

  static bool is_skipped_below(fs::path folder, const fs::path& top) {
    for (; folder != top && folder.has_relative_path(); folder = folder.parent_path())
      if (is_third_party(folder.filename().string()) || is_build_folder(folder))
        return true;
    return false;
  }

  // Of a path that may be staged but not on disk.
  static fs::path nearest_folder(fs::path path) {
    while (!is_folder(path) && path.has_relative_path())
      path = path.parent_path();
    return path;
  }

  // Ends at the first source that is not known: one gap is as good as many.
  bool knows_rest(const fs::path& path) {
    const fs::path root = project_root(nearest_folder(path) / "file");
    const Database* database = nullptr;
    bool have_database = false;
    for (const fs::path& file : find_sources(root).files) {
      if (added_.contains(file) || (options_.excluded && options_.excluded(file)))
        continue;
      if (!take_known_ || !why_unusable(file).empty())
        return false;
      if (!std::exchange(have_database, true))
        database = database_for(root);
      const std::size_t inferred = inferred_; // the remark speaks of what is parsed
      const std::vector<ParseRequest> requests = requests_for(file, database);
      inferred_ = inferred;
      if (!std::all_of(requests.begin(), requests.end(), take_known_))
        return false;
    }
    return true;
  }

  void add_path(const fs::path& path) {
    if (!is_folder(path)) {
      if (!is_regular(path) && !contents_.contains(path.string()))
        throw Error("cannot scan", path.string(), "not a regular file", "name a source file or a folder");
      if (language_of(path).empty())
        throw Error("cannot scan", path.string(), "not a C, C++ or CUDA source",
                    "name a source file or a folder");
      add_file(path, database_for(path.parent_path()));
      return;
    }
    const Sources sources = find_sources(path);
    if (sources.files.empty())
      throw Error("nothing to scan", path.string(), "no C, C++ or CUDA source in it", skipped_text(sources));
    if (!sources.skipped.empty())
      project_.remarks.push_back("skipped " + skipped_text(sources));
    if (sources.ignored)
      project_.remarks.push_back("skipped " + std::to_string(sources.ignored) + " files that git ignores");
    const Database* database = database_for(path);
    for (const fs::path& file : sources.files)
      add_file(file, database);
  }

  static std::string skipped_text(const Sources& sources) {
    std::string text;
    const std::size_t shown_count = std::min<std::size_t>(sources.skipped.size(), 12);
    for (std::size_t i = 0; i < shown_count; ++i)
      text += (i ? ", " : "") + sources.skipped[i];
    if (shown_count < sources.skipped.size())
      text += " and " + std::to_string(sources.skipped.size() - shown_count) + " more folders";
    return text.empty() ? text : "build folders and other people's code: " + text;
  }

  void add_file(const fs::path& file, const Database* database) {
    if (!added_.insert(file).second)
      return;
    if (options_.excluded && options_.excluded(file)) {
      ++excluded_;
      return;
    }
    if (const std::string problem = why_unusable(file); !problem.empty()) {
      TranslationUnit unit;
      unit.main_file = shown(file, project_.root);
      unit.status = "failed";
      unit.reason = problem;
      project_.failed.push_back(std::move(unit));
      return;
    }
    for (ParseRequest& request : requests_for(file, database))
      project_.requests.push_back(std::move(request));
  }

  // A file may be compiled for several targets: what differs for facts is parsed again.
  std::vector<ParseRequest> requests_for(const fs::path& file, const Database* database) {
    std::vector<ParseRequest> requests;
    std::vector<const DatabaseEntry*> entries =
        database ? database->find(file) : std::vector<const DatabaseEntry*>();
    if (entries.empty())
      entries.push_back(nullptr);
    for (const DatabaseEntry* entry : entries) {
      ParseRequest request = request_for(file, entry);
      const auto same = [&](const ParseRequest& other) {
        return other.command == request.command && other.directory == request.directory &&
               other.fact_flags == request.fact_flags;
      };
      if (std::none_of(requests.begin(), requests.end(), same))
        requests.push_back(std::move(request));
    }
    return requests;
  }

  ParseRequest request_for(const fs::path& file, const DatabaseEntry* entry) {
    Translation translation;
    ParseRequest request;
    if (entry) {
      translation = translate(*entry);
      request.directory = is_folder(entry->directory) ? entry->directory : file.parent_path();
    } else {
      translation = inferred(file);
      request.directory = project_root(file);
      request.inferred_flags = true;
      ++inferred_;
    }
    dropped_.insert(translation.dropped.begin(), translation.dropped.end());
    unreadable_.insert(translation.unreadable.begin(), translation.unreadable.end());
    has_cuda_ = has_cuda_ || translation.language == "cuda";

    Toolchain tools = tools_;
    if (options_.cuda_root.empty() && !translation.cuda.empty())
      use_cuda(tools, translation.cuda);
    request.main_file = file;
    request.root = project_.root;
    request.user_roots = {project_root(file)};
    request.third_party_roots = {tools.torch, tools.cuda, tools.clang_resources};
    request.language = translation.language;
    request.fact_flags = translation.fact_flags;
    request.virtual_files = contents_;
    add_declarations(tools, translation, request);
    request.command = clang_command(file, translation, tools, options_.extra_arguments);
    request.command.insert(std::next(request.command.begin()), options_.extra_arguments_before.begin(),
                           options_.extra_arguments_before.end());
    return request;
  }

  std::string why_unusable(const fs::path& file) const {
    constexpr const char* kTooLarge = "larger than 16 MiB";
    if (const auto given = contents_.find(file.string()); given != contents_.end())
      return given->second.size() > kLargestSource ? kTooLarge : "";
    std::error_code error;
    if (fs::file_size(file, error) > kLargestSource)
      return error ? "cannot be read" : kTooLarge;
    return std::ifstream(file) ? "" : "cannot be read";
  }

  Translation inferred(const fs::path& file) {
    Translation out = inference_.translation(file, project_root(file));
    // What torch.utils.cpp_extension gives to nvcc: without, c10::Half's operators are ambiguous.
    if (out.language == "cuda" && !tools_.torch.empty())
      for (const char* macro : {"__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__",
                                "__CUDA_NO_BFLOAT16_CONVERSIONS__", "__CUDA_NO_HALF2_OPERATORS__"})
        out.arguments.push_back(std::string("-D") + macro);
    return out;
  }

  fs::path project_root(const fs::path& file) {
    const fs::path folder = file.parent_path();
    auto known = roots_.find(folder);
    if (known == roots_.end()) {
      fs::path root = project_root_of(file);
      // Without a repository, a folder that was named to be scanned is the project.
      for (const fs::path& named : paths_) {
        if (is_folder(named) && lies_below(file, named) && lies_below(root, named))
          root = named;
      }
      known = roots_.emplace(folder, root).first;
    }
    return known->second;
  }

  void add_remarks() {
    if (excluded_)
      project_.remarks.push_back("skipped " + std::to_string(excluded_) +
                                 (excluded_ == 1 ? " file" : " files") + " that the configuration excludes");
    if (inferred_)
      project_.remarks.push_back("no compile command for " + std::to_string(inferred_) +
                                 (inferred_ == 1 ? " file" : " files") +
                                 ": include folders and language inferred");
    std::string list;
    for (const std::string& option : dropped_)
      list += (list.empty() ? "" : " ") + option;
    if (!list.empty())
      project_.remarks.push_back(
          "left out of compile commands, as they load code, run programs or write files: " + list);
    for (const std::string& file : unreadable_)
      project_.remarks.push_back("response file not read: " + file);
  }

  const Options& options_;
  const std::function<bool(const ParseRequest&)>& take_known_;
  Toolchain tools_;
  std::vector<fs::path> paths_; // as named, or the current folder
  Project project_;
  std::map<fs::path, Database> databases_;
  std::map<fs::path, fs::path> roots_;
  Inference inference_;
  std::set<fs::path> added_;
  std::map<std::string, std::string> contents_; // by absolute path: what replaces the disk's
  std::set<std::string> dropped_, unreadable_;
  std::size_t inferred_ = 0, excluded_ = 0;
  bool has_cuda_ = false;
};

} // namespace

fs::path project_root_of(const fs::path& path) {
  const fs::path start = is_folder(path) ? path : path.parent_path();
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (is_there(folder / ".git"))
      return folder;
    if (!folder.has_parent_path() || folder == folder.parent_path())
      break;
  }
  // No repository: the nearest folder with a build file, a few levels up at most.
  fs::path folder = start;
  for (int level = 0; level < 4 && folder != folder.parent_path(); ++level, folder = folder.parent_path())
    for (const char* name : {"CMakeLists.txt", "Makefile", "setup.py", "pyproject.toml", "meson.build", "MODULE.bazel", "WORKSPACE",
                             "WORKSPACE.bazel"})
      if (is_regular(folder / name))
        return folder;
  return start;
}

Sources find_sources(const fs::path& folder) {
  Sources out;
  std::vector<fs::path> files;
  walk(folder, folder, 0, files, out);
  if (const auto known = known_to_git(folder)) {
    // Of a folder that git ignores as a whole, as of one outside a repository, everything is meant.
    const auto ignored = [&](const fs::path& file) {
      return !known->contains(file.lexically_relative(folder).generic_string());
    };
    if (!known->empty())
      out.ignored = std::erase_if(files, ignored);
  }
  std::sort(files.begin(), files.end());
  std::sort(out.skipped.begin(), out.skipped.end());
  std::set<std::string> included;
  for (const fs::path& file : files)
    for (const IncludeLine& line : include_lines(file))
      included.insert(fs::path(line.name).filename().string());
  for (const fs::path& file : files)
    if (!is_header(file))
      out.files.push_back(file);
  for (const fs::path& file : files)
    if (is_header(file) && !included.contains(file.filename().string()))
      out.files.push_back(file);
  return out;
}

std::optional<fs::path> find_database(const fs::path& start) {
  const fs::path top = project_root_of(start);
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (is_there(folder / "compile_commands.json"))
      return folder / "compile_commands.json";
    if (is_there(folder / "build/compile_commands.json"))
      return folder / "build/compile_commands.json";
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder / "build", error), end; !error && entry != end;
         entry.increment(error))
      if (is_there(entry->path() / "compile_commands.json"))
        found.push_back(entry->path() / "compile_commands.json");
    if (!found.empty())
      return *std::min_element(found.begin(), found.end());
    if (folder == top || folder == folder.parent_path())
      break;
  }
  // One above a folder that is no repository.
  const fs::path above = start.parent_path() / "compile_commands.json";
  if (top == start && is_there(above))
    return above;
  return std::nullopt;
}

Project plan(const Options& options, const std::function<bool(const ParseRequest&)>& take_known) {
  return Planner(options, take_known).run();
}

} // namespace reprobe::scan
