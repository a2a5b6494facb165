#include "analyzer/scan/selection/selection.h"

#include "rules/error.h"

#include <git2.h>
#include <git2/sys/repository.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

constexpr git_object_size_t kLargestBlob = 16u << 20; // bytes, as for sources on disk

template <auto free>
struct Free {
  template <class Object>
  void operator()(Object* object) const {
    free(object);
  }
};
using Repository = std::unique_ptr<git_repository, Free<git_repository_free>>;
using Index = std::unique_ptr<git_index, Free<git_index_free>>;
using Object = std::unique_ptr<git_object, Free<git_object_free>>;
using Tree = std::unique_ptr<git_tree, Free<git_tree_free>>;
using Diff = std::unique_ptr<git_diff, Free<git_diff_free>>;
using Patch = std::unique_ptr<git_patch, Free<git_patch_free>>;
using Blob = std::unique_ptr<git_blob, Free<git_blob_free>>;

// libgit2 counts its users.
struct Library {
  Library() {
    git_libgit2_init();
    // Whose the repository is matters to programs that run what it names; this one runs nothing.
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
  }
  ~Library() { git_libgit2_shutdown(); }
};

[[noreturn]] void fail(const std::string& what, const std::string& where, int code = 3,
                       const std::string& remedy = {}) {
  const git_error* error = git_error_last();
  throw Error(what, where, error && error->message ? error->message : "", remedy, code);
}

void check(int result, const std::string& what, const fs::path& where) {
  if (result < 0)
    fail(what, where.string(), 3, "name the files to scan instead");
}

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path out = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : out;
}

fs::path without_slash(const char* folder) {
  fs::path path = real(folder);
  return path.has_filename() ? path : path.parent_path();
}

class Git {
public:
  explicit Git(const fs::path& start) {
    git_repository* opened = nullptr;
    if (git_repository_open_ext(&opened, start.c_str(), 0, nullptr) < 0)
      fail("not in a git repository that can be read", start.string(), 2, "--changed and --staged need one");
    repository_.reset(opened);
    const char* folder = git_repository_workdir(opened);
    if (!folder)
      throw Error("cannot select changes", start.string(), "the repository has no working tree");
    work_tree = without_slash(folder);
    // A configuration may name any folder as the working tree, such as the whole disk.
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(work_tree / ".git", ignored)))
      throw Error("cannot select changes", start.string(),
                  "the repository names another folder as its working tree: " + work_tree.string());
    use_named_index();
  }

  // Nothing for a repository without commits.
  Tree tree_of(const std::string& revision) {
    git_object* found = nullptr;
    std::string name = revision;
    std::optional<git_oid> base;
    if (name.ends_with("...")) {
      name.resize(name.size() - 3);
      base = merge_base(name);
    }
    const int result = base ? git_object_lookup(&found, repository_.get(), &*base, GIT_OBJECT_COMMIT)
                            : git_revparse_single(&found, repository_.get(), name.c_str());
    if (result < 0) {
      if (name == "HEAD" && git_repository_head_unborn(repository_.get()) == 1)
        return nullptr;
      fail("no such revision", revision, 2, "name a commit, branch or tag that this clone has");
    }
    const Object object(found);
    git_object* tree = nullptr;
    if (git_object_peel(&tree, found, GIT_OBJECT_TREE) < 0)
      fail("is no revision that has files", revision, 2, "name a commit, branch or tag");
    return Tree(reinterpret_cast<git_tree*>(tree));
  }

  Diff to_work_tree(git_tree* from) {
    git_diff_options options = diff_options();
    options.flags |=
        GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS | GIT_DIFF_SHOW_UNTRACKED_CONTENT;
    git_diff* diff = nullptr;
    check(git_diff_tree_to_workdir_with_index(&diff, repository_.get(), from, &options),
          "cannot compare with the working tree", work_tree);
    return with_renames(Diff(diff));
  }

  Diff to_index(git_tree* from) {
    git_diff_options options = diff_options();
    git_diff* diff = nullptr;
    check(git_diff_tree_to_index(&diff, repository_.get(), from, index().get(), &options),
          "cannot compare with the index", work_tree);
    return with_renames(Diff(diff));
  }

  Diff index_to_work_tree() {
    git_diff_options options = diff_options();
    git_diff* diff = nullptr;
    check(git_diff_index_to_workdir(&diff, repository_.get(), index().get(), &options),
          "cannot compare the index with the working tree", work_tree);
    return Diff(diff);
  }

  std::optional<std::string> text_of(const git_oid& id) {
    git_blob* found = nullptr;
    if (git_blob_lookup(&found, repository_.get(), &id) < 0)
      return std::nullopt;
    const Blob blob(found);
    const git_object_size_t size = git_blob_rawsize(found);
    if (size > kLargestBlob)
      return std::nullopt;
    return std::string(static_cast<const char*>(git_blob_rawcontent(found)), static_cast<std::size_t>(size));
  }

  fs::path work_tree;

private:
  static git_diff_options diff_options() {
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_IGNORE_FILEMODE;
    options.context_lines = 0;
    options.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
    return options;
  }

  Diff with_renames(Diff diff) {
    git_diff_find_options options;
    git_diff_find_options_init(&options, GIT_DIFF_FIND_OPTIONS_VERSION);
    options.flags = GIT_DIFF_FIND_RENAMES | GIT_DIFF_FIND_FOR_UNTRACKED;
    check(git_diff_find_similar(diff.get(), &options), "cannot find renamed files", work_tree);
    return diff;
  }

  git_oid merge_base(const std::string& revision) {
    git_oid base;
    git_object *other = nullptr, *head = nullptr;
    if (git_revparse_single(&other, repository_.get(), revision.c_str()) < 0)
      fail("no such revision", revision, 2, "name a commit, branch or tag that this clone has");
    const Object other_owner(other);
    if (git_revparse_single(&head, repository_.get(), "HEAD") < 0)
      fail("no commit to compare with", "HEAD", 2);
    const Object head_owner(head);
    if (git_merge_base(&base, repository_.get(), git_object_id(other), git_object_id(head)) < 0)
      fail("has no common commit with HEAD", revision, 2, "fetch more of the history");
    return base;
  }

  // `git commit FILE` and `git commit -a` let hooks see an index of their own.
  void use_named_index() {
    const char* named = std::getenv("GIT_INDEX_FILE");
    if (!named || !*named || !is_named_repository())
      return;
    const fs::path file = fs::path(named).is_absolute() ? fs::path(named) : work_tree / named;
    git_index* opened = nullptr;
    check(git_index_open(&opened, file.c_str()), "cannot read the index that GIT_INDEX_FILE names", file);
    const Index owner(opened);
    check(git_repository_set_index(repository_.get(), opened),
          "cannot use the index that GIT_INDEX_FILE names", file);
  }

  // The variables that git gives to a hook speak of the hook's repository, not of another one that it scans.
  bool is_named_repository() const {
    const char* folder = std::getenv("GIT_DIR");
    if (!folder || !*folder)
      return (real(fs::current_path()).string() + "/").starts_with(work_tree.string() + "/");
    return real(folder) == without_slash(git_repository_path(repository_.get()));
  }

  Index index() {
    git_index* found = nullptr;
    check(git_repository_index(&found, repository_.get()), "cannot read the index", work_tree);
    return Index(found);
  }

  Library library_;
  Repository repository_;
};

bool is_file(std::uint16_t mode) {
  return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

void add_lines(git_diff* diff, std::size_t delta, ChangedFile& file) {
  git_patch* made = nullptr;
  if (git_patch_from_diff(&made, diff, delta) < 0 || !made) {
    file.whole = true;
    return;
  }
  const Patch patch(made);
  if (git_patch_get_delta(made)->flags & GIT_DIFF_FLAG_BINARY) {
    file.whole = true;
    return;
  }
  for (std::size_t i = 0; i < git_patch_num_hunks(made); ++i) {
    const git_diff_hunk* hunk = nullptr;
    if (git_patch_get_hunk(&hunk, nullptr, made, i) == 0 && hunk->new_lines > 0)
      file.lines.push_back({static_cast<std::uint32_t>(hunk->new_start),
                            static_cast<std::uint32_t>(hunk->new_start + hunk->new_lines - 1)});
  }
}

// Of what the diff's right side holds. `unmerged` counts files that a merge has left in conflict.
std::vector<ChangedFile> changed_files(git_diff* diff, const fs::path& work_tree, const Wanted& wanted,
                                       std::size_t& unmerged) {
  std::vector<ChangedFile> files;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff, i);
    if (delta->status == GIT_DELTA_CONFLICTED) {
      ++unmerged;
      continue;
    }
    if (delta->status == GIT_DELTA_DELETED || delta->status == GIT_DELTA_UNMODIFIED ||
        !is_file(delta->new_file.mode))
      continue; // links and submodules have no source of their own
    ChangedFile file;
    file.path = work_tree / delta->new_file.path;
    if (!wanted(file.path))
      continue;
    if (delta->status == GIT_DELTA_MODIFIED || delta->status == GIT_DELTA_RENAMED)
      add_lines(diff, i, file);
    else
      file.whole = true;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const ChangedFile& a, const ChangedFile& b) { return a.path < b.path; });
  return files;
}

void add_unmerged(std::size_t unmerged, Selection& selection) {
  if (unmerged)
    selection.remarks.push_back("left out, as a merge has left them in conflict: " +
                                std::to_string(unmerged) + (unmerged == 1 ? " file" : " files"));
}

} // namespace

Selection changed_since(const fs::path& start, const std::string& revision, const Wanted& wanted) {
  Git git(start);
  Selection selection;
  selection.work_tree = git.work_tree;
  const Tree from = git.tree_of(revision);
  const Diff diff = git.to_work_tree(from.get());
  std::size_t unmerged = 0;
  selection.files = changed_files(diff.get(), git.work_tree, wanted, unmerged);
  add_unmerged(unmerged, selection);
  return selection;
}

Selection staged(const fs::path& start, const Wanted& wanted) {
  Git git(start);
  Selection selection;
  selection.work_tree = git.work_tree;
  const Tree from = git.tree_of("HEAD");
  const Diff diff = git.to_index(from.get());
  std::size_t unmerged = 0;
  selection.files = changed_files(diff.get(), git.work_tree, wanted, unmerged);
  add_unmerged(unmerged, selection);
  // A header that was edited after it was staged must be seen as it is staged.
  const Diff differences = git.index_to_work_tree();
  for (std::size_t i = 0; i < git_diff_num_deltas(differences.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(differences.get(), i);
    if (delta->status == GIT_DELTA_UNMODIFIED || !is_file(delta->old_file.mode))
      continue;
    if (auto text = git.text_of(delta->old_file.id))
      selection.contents[(git.work_tree / delta->old_file.path).string()] = std::move(*text);
  }
  return selection;
}

} // namespace reprobe::scan
