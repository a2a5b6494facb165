"""Selecting what changed: `--changed`, `--staged`, parts of projects, unsaved text; also in hostile repositories."""
import os
import subprocess
import unittest

from command import CLOCK_SEED, FIXED_SEED, Folder, GitRepository, HAVE_GIT, HAVE_SCAN

TWO_SEEDS = "#include <cstdlib>\n#include <ctime>\nvoid first() {\n  srand(time(nullptr));\n}\nvoid second() {\n  srand(1);\n}\n"


@unittest.skipUnless(HAVE_SCAN and HAVE_GIT, "needs the scan half, libgit2 and git")
class Changed(GitRepository):
    def test_only_changed_lines_of_changed_files(self):
        self.write("untouched.cpp", CLOCK_SEED)
        self.write("two.cpp", TWO_SEEDS)
        self.commit()
        self.write("two.cpp", TWO_SEEDS.replace("srand(1)", "srand(time(nullptr))"))
        result = self.scan("--changed", "HEAD")
        self.expect(result, 1, "1 finding in 1 file examined")
        self.expect_places(result, "two.cpp:7")
        self.expect_places(self.scan("--changed", "HEAD", "--whole-files"), "two.cpp:4", "two.cpp:7")

    def test_committed_uncommitted_and_untracked_changes_all_count(self):
        self.write("base.cpp", FIXED_SEED)
        self.commit()
        self.write("committed.cpp", CLOCK_SEED)
        self.commit()
        self.write("staged.cpp", CLOCK_SEED)
        self.git("add", "staged.cpp")
        self.write("untracked/new.cpp", CLOCK_SEED)
        self.write("base.cpp", CLOCK_SEED)
        self.expect_places(self.scan("--changed", "HEAD~1"), "base.cpp:4", "committed.cpp:4", "staged.cpp:4", "untracked/new.cpp:4")
        self.expect_places(self.scan("--changed", "HEAD~1", "untracked"), "untracked/new.cpp:4")

    def test_ignored_vendored_and_built_files_do_not_count(self):
        self.write(".gitignore", "generated/\n")
        self.commit()
        for name in ("generated/a.cpp", "third_party/b.cpp", "build/c.cpp"):
            self.write(name, CLOCK_SEED)
        result = self.scan("--changed", "HEAD", "-v")
        self.expect(result, 0, "0 findings in 0 files examined", "skipped 2 changed files in build folders and other people's code")

    def test_a_branch_counts_from_where_it_left(self):
        self.write("a.cpp", FIXED_SEED)
        self.commit()
        self.git("checkout", "-q", "-b", "feature")
        self.write("feature.cpp", CLOCK_SEED)
        self.commit()
        self.git("checkout", "-q", "main")
        self.write("elsewhere.cpp", CLOCK_SEED)
        self.commit()
        self.git("checkout", "-q", "feature")
        self.expect_places(self.scan("--changed", "main..."), "feature.cpp:4")

    def test_nothing_changed_is_clean(self):
        self.write("a.cpp", CLOCK_SEED)
        self.commit()
        self.expect(self.scan("--changed", "HEAD"), 0, "0 files examined")

    def test_deleted_renamed_linked_and_binary_files(self):
        self.write("deleted.cpp", CLOCK_SEED)
        self.write("old.cpp", TWO_SEEDS)
        self.write("target.txt", CLOCK_SEED)
        self.write("moved.cpp", CLOCK_SEED + "// kept\n" * 20)
        self.commit()
        (self.root / "deleted.cpp").unlink()
        (self.root / "old.cpp").rename(self.root / "new.cpp")
        (self.root / "link.cpp").symlink_to("target.txt")
        (self.root / "moved.cpp").unlink()
        self.write("moved_and_edited.cpp", CLOCK_SEED.replace("rand();", "rand() + 1;") + "// kept\n" * 20)
        (self.root / "binary.cpp").write_bytes(b"\0\1\2int x;\0" * 10)
        self.git("add", "-A")
        for how in (["--staged"], ["--changed", "HEAD"]):
            result = self.scan(*how)
            self.expect_places(result)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("in 3 files examined", result.stderr)  # new.cpp, moved_and_edited.cpp, binary.cpp

    def test_submodules_are_other_people_s(self):
        other = self.folder / "other"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        (other / "sub.cpp").write_text(CLOCK_SEED)
        self.git("add", "-A", cwd=other)
        self.git("commit", "-q", "-m", "m", cwd=other)
        self.write("a.cpp", FIXED_SEED)
        self.commit()
        self.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", other, "sub")
        (self.root / "sub" / "sub.cpp").write_text(CLOCK_SEED + "// edited\n")
        for how in (["--staged"], ["--changed", "HEAD"]):
            self.expect(self.scan(*how), 0, "0 files examined")

    def test_odd_names(self):
        for name in ("with space.cpp", "new\nline.cpp", "-dash.cpp", "ünï.cpp", "quote\".cpp"):
            self.write(name, CLOCK_SEED)
        result = self.scan("--changed", "HEAD")
        self.expect(result, 1, "5 findings in 5 files examined")
        self.assertIn("new\\x0aline.cpp:4:", result.stdout)
        self.git("add", "-A")
        self.expect(self.scan("--staged"), 1, "5 findings in 5 files examined")

    def test_unknown_revision_and_no_repository(self):
        self.commit()
        self.expect(self.scan("--changed", "nowhere"), 2, "nowhere: no such revision")
        outside = self.folder / "outside"
        outside.mkdir()
        self.expect(self.scan("--changed", "HEAD", cwd=outside), 2, "not in a git repository")

    def test_contradicting_options_are_refused(self):
        for more in (["--staged"], ["--part-of-project"], ["--stdin-filename", "a.cpp"]):
            self.expect(self.scan("--changed", "HEAD", *more), 2)


@unittest.skipUnless(HAVE_SCAN and HAVE_GIT, "needs the scan half, libgit2 and git")
class Staged(GitRepository):
    def test_the_staged_text_counts_not_the_disk_s(self):
        self.write("a.cpp", CLOCK_SEED)
        self.write("b.cpp", FIXED_SEED)
        self.git("add", "-A")
        self.write("a.cpp", FIXED_SEED)  # mended, but not staged
        self.write("b.cpp", CLOCK_SEED)  # broken, but not staged
        self.expect_places(self.scan("--staged"), "a.cpp:4")

    def test_headers_are_seen_as_they_are_staged(self):
        self.write("seed.h", "#define SEED time(nullptr)\n")
        self.write("a.cpp", CLOCK_SEED.replace("#include <cstdlib>", "#include \"seed.h\"\n#include <cstdlib>").replace("time(nullptr)", "SEED"))
        self.git("add", "-A")
        self.write("seed.h", "#define SEED 42\n")
        self.expect_places(self.scan("--staged"), "a.cpp:5")
        self.git("add", "-A")
        self.expect(self.scan("--staged"), 0)

    def test_a_file_that_is_staged_and_gone_from_the_disk(self):
        self.write("gone/a.cpp", CLOCK_SEED)
        self.git("add", "-A")
        (self.root / "gone/a.cpp").unlink()
        (self.root / "gone").rmdir()
        self.expect_places(self.scan("--staged"), "gone/a.cpp:4")

    def test_before_the_first_commit_everything_staged_is_new(self):
        self.write("a.cpp", CLOCK_SEED)
        self.write("b.cpp", CLOCK_SEED)
        self.git("add", "a.cpp")
        self.expect_places(self.scan("--staged"), "a.cpp:4")
        self.expect_places(self.scan("--changed", "HEAD"), "a.cpp:4", "b.cpp:4")

    def test_the_index_that_a_hook_is_given(self):
        """`git commit FILE` commits an index of its own."""
        self.write("a.cpp", FIXED_SEED)
        self.commit()
        self.write("a.cpp", CLOCK_SEED)
        self.write("b.cpp", CLOCK_SEED)
        self.git("add", "b.cpp")
        other = self.folder / "index"
        self.git("read-tree", "HEAD", GIT_INDEX_FILE=str(other))
        self.git("add", "a.cpp", GIT_INDEX_FILE=str(other))
        self.expect_places(self.scan("--staged", GIT_INDEX_FILE=str(other)), "a.cpp:4")
        self.expect_places(self.scan("--staged"), "b.cpp:4")
        hook = self.root / ".git/hooks/pre-commit"
        hook.write_text(f"#!/bin/sh\nexec '{os.environ['REPROBE']}' scan --staged\n")
        hook.chmod(0o755)
        refused = subprocess.run(["git", "commit", "-m", "m", "a.cpp"], cwd=self.root, env=self.environment, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("a.cpp:4", refused.stdout + refused.stderr)
        self.assertNotIn("b.cpp", refused.stdout)

    def test_another_work_tree(self):
        self.write("a.cpp", FIXED_SEED)
        self.commit()
        other = self.folder / "other tree"
        self.git("worktree", "add", "-q", "-b", "other", other)
        (other / "a.cpp").write_text(CLOCK_SEED)
        self.git("add", "-A", cwd=other)
        self.expect_places(self.scan("--staged", cwd=other), "a.cpp:4")
        self.expect(self.scan("--staged"), 0, "0 files examined")

    def test_files_in_conflict_are_left_out_and_said(self):
        self.write("a.cpp", FIXED_SEED)
        self.commit()
        self.git("checkout", "-q", "-b", "other")
        self.write("a.cpp", FIXED_SEED.replace("42", "43"))
        self.commit()
        self.git("checkout", "-q", "main")
        self.write("a.cpp", FIXED_SEED.replace("42", "44"))
        self.commit()
        subprocess.run(["git", "merge", "-q", "other"], cwd=self.root, env=self.environment, capture_output=True)
        self.expect(self.scan("--staged", "-v"), 0, "a merge has left them in conflict: 1 file")


@unittest.skipUnless(HAVE_SCAN and HAVE_GIT, "needs the scan half, libgit2 and git")
class Hostile(GitRepository):
    def test_nothing_that_the_configuration_names_is_run(self):
        self.write("a.cpp", FIXED_SEED)
        self.write(".gitattributes", "*.cpp diff=evil filter=evil\n*.cpp text\n")
        self.commit()
        trap = self.folder / "trap.sh"
        trap.write_text(f"#!/bin/sh\ntouch '{self.folder}/ran'\ncat\n")
        trap.chmod(0o755)
        with open(self.root / ".git/config", "a") as config:
            config.write(f"[core]\n\tfsmonitor = {trap}\n\thooksPath = {self.folder}\n\tsshCommand = {trap}\n\tpager = {trap}\n\teditor = {trap}\n"
                         f"[diff]\n\texternal = {trap}\n[diff \"evil\"]\n\ttextconv = {trap}\n\tcommand = {trap}\n"
                         f"[filter \"evil\"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n\trequired = true\n"
                         f"[remote \"origin\"]\n\turl = ext::{trap}\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n"
                         f"[gpg]\n\tprogram = {trap}\n[credential]\n\thelper = {trap}\n")
        self.write("a.cpp", CLOCK_SEED)
        for how in (["--changed", "HEAD"], ["--staged"], ["."], ["--part-of-project", "a.cpp"]):
            self.scan(*how)
            self.assertFalse((self.folder / "ran").exists(), how)
        self.expect_places(self.scan("--changed", "HEAD"), "a.cpp:4")

    def test_a_working_tree_elsewhere_is_refused(self):
        secret = self.folder / "secret"
        secret.mkdir()
        (secret / "secret.cpp").write_text(CLOCK_SEED)
        self.commit()
        self.git("config", "core.worktree", self.folder)
        result = self.scan("--changed", "HEAD")
        self.expect(result, 2, "names another folder as its working tree")
        self.assertNotIn("secret.cpp", result.stdout)


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Part(Folder):
    def setUp(self):
        super().setUp()
        self.root.mkdir()

    def test_rules_that_need_the_whole_project_are_listed_as_not_judged(self):
        self.write("CMakeLists.txt", "")
        self.write("a.cpp", CLOCK_SEED)
        self.write("other.cpp", FIXED_SEED.replace("main", "other"))
        result = self.scan("--part-of-project", "a.cpp")
        self.expect(result, 1, "not judged, needs the whole project", "missing-seed")
        self.expect_places(result, "a.cpp:4")
        self.expect(self.scan("--part-of-project", "--no-cache", "--require-complete", "other.cpp"), 3, "not judged")

    def test_the_rest_is_known_after_a_scan_of_all_of_it(self):
        self.write("CMakeLists.txt", "")
        self.write("a.cpp", CLOCK_SEED)
        other = self.write("other.cpp", CLOCK_SEED.replace("main", "other"))
        self.expect_places(self.scan(), "a.cpp:4", "other.cpp:4")
        result = self.scan("--part-of-project", "a.cpp")
        self.assertNotIn("not judged", result.stderr)
        self.expect_places(result, "a.cpp:4")  # what is known is not reported again
        self.expect(result, 1, "1 finding in 1 file examined")
        self.assertIn("not judged", self.scan("--part-of-project", "--no-cache", "a.cpp").stderr)
        other.write_text(FIXED_SEED.replace("main", "other"))
        self.assertIn("not judged", self.scan("--part-of-project", "a.cpp").stderr)  # the rest has changed

    def test_a_part_that_is_the_whole_is_judged(self):
        self.write("CMakeLists.txt", "")
        self.write("a.cpp", CLOCK_SEED)
        self.assertNotIn("not judged", self.scan("--part-of-project", "a.cpp").stderr)

    def test_unsaved_text(self):
        self.write("a.cpp", FIXED_SEED)
        self.expect_places(self.scan("--stdin-filename", "a.cpp", stdin=CLOCK_SEED), "a.cpp:4")
        self.expect_places(self.scan("--stdin-filename", "new.cpp", stdin=CLOCK_SEED), "new.cpp:4")
        self.write("a.cpp", CLOCK_SEED)
        self.expect(self.scan("--stdin-filename", "a.cpp", stdin=FIXED_SEED), 0)
        self.expect(self.scan("--stdin-filename", "notes.txt", stdin="x"), 2, "notes.txt", "not a C, C++ or CUDA source")


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class FactsElsewhere(Folder):
    def setUp(self):
        super().setUp()
        self.root.mkdir()

    def test_facts_made_file_by_file_are_judged_as_the_sources_would_be(self):
        self.write("a.cpp", CLOCK_SEED)
        self.write("b.cpp", "int chosen(); \n#include <cstdlib>\nvoid b() { srand(7); }\n")
        for name in ("a", "b"):
            self.expect(self.scan("--facts-only", "-o", self.root / f"{name}.facts", f"{name}.cpp"), 0)
        sources = self.scan("a.cpp", "b.cpp")
        judged = self.scan("--from-facts", "a.facts", "--from-facts", "b.facts")
        self.assertEqual(judged.stdout, sources.stdout)
        self.expect(judged, 1, "1 finding in 2 files examined")
        both = self.scan("--from-facts", "a.facts", "b.facts")
        self.assertEqual(both.stdout, sources.stdout)

    def test_facts_from_another_place_keep_relative_names(self):
        self.write("a.cpp", CLOCK_SEED)
        self.scan("--facts-only", "-o", self.root / "a.facts", "a.cpp")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (self.root / "a.facts").rename(elsewhere / "a.facts")
        self.expect_places(self.scan("--from-facts", "a.facts", cwd=elsewhere), "a.cpp:4")

    def test_broken_facts_are_named_with_their_line(self):
        self.write("a.cpp", FIXED_SEED)
        self.scan("--facts-only", "-o", self.root / "a.facts", "a.cpp")
        with open(self.root / "a.facts", "a") as facts:
            facts.write("{\n")
        self.expect(self.scan("--from-facts", "a.facts"), 3, "a.facts:2")
        self.expect(self.scan("--from-facts", "none.facts"), 2, "none.facts")


if __name__ == "__main__":
    unittest.main()
