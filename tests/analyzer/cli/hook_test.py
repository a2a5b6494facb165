"""The hook with the real pre-commit: a commit with a planted fault is refused, a clean one passes."""
import os
import pathlib
import shutil
import subprocess
import unittest

from command import CLOCK_SEED, FIXED_SEED, GitRepository, HAVE_GIT, HAVE_SCAN, REPROBE

HOOKS = pathlib.Path(os.environ["REPROBE_SOURCE"]) / ".pre-commit-hooks.yaml"


@unittest.skipUnless(HAVE_SCAN and HAVE_GIT, "needs the scan half, libgit2 and git")
@unittest.skipUnless(shutil.which("pre-commit"), "pre-commit is not installed")
class Hook(GitRepository):
    def setUp(self):
        super().setUp()
        self.environment["PATH"] = f"{pathlib.Path(REPROBE).parent}:{self.environment['PATH']}"
        hooks = self.folder / "hooks"
        hooks.mkdir()
        shutil.copy(HOOKS, hooks)
        self.git("init", "-q", cwd=hooks)
        self.git("add", "-A", cwd=hooks)
        self.git("commit", "-q", "-m", "m", cwd=hooks)
        revision = self.git("rev-parse", "HEAD", cwd=hooks)
        self.write(".pre-commit-config.yaml", f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: reprobe\n")
        self.write("CMakeLists.txt", "")
        self.write("helper.cpp", "int helper() { return 1; }\n")
        self.commit()
        installed = subprocess.run(["pre-commit", "install", "--install-hooks"], cwd=self.root, env=self.environment,
                                   capture_output=True, text=True, timeout=120)
        self.assertEqual(installed.returncode, 0, installed.stdout + installed.stderr)

    def try_commit(self, *arguments):
        self.git("add", "-A")
        result = subprocess.run(["git", "commit", "-m", "m", *arguments], cwd=self.root, env=self.environment, capture_output=True,
                                text=True, timeout=300)
        return result.returncode, result.stdout + result.stderr

    def test_a_planted_fault_is_refused_and_its_mended_form_passes(self):
        self.write("train.cpp", CLOCK_SEED)
        code, said = self.try_commit()
        self.assertEqual(code, 1, said)
        self.assertIn("train.cpp:4:", said)
        self.assertIn("entropy-seed", said)
        self.assertIn("not judged", said)  # helper.cpp has never been scanned
        self.write("train.cpp", FIXED_SEED)
        code, said = self.try_commit()
        self.assertEqual(code, 0, said)

    def test_cuda_c_and_odd_names_reach_the_hook(self):
        self.write("a kernel.cu", "__global__ void add(float* out, float x) { atomicAdd(out, x); }\n")
        self.write("old.c", "#include <stdlib.h>\n#include <time.h>\nint main(void) {\n  srand(time(NULL));\n  return rand();\n}\n")
        self.write("notes.md", "srand(time(NULL))\n")
        code, said = self.try_commit()
        self.assertEqual(code, 1, said)
        self.assertIn("a kernel.cu:1:", said)
        self.assertIn("old.c:4:", said)
        self.assertIn("in 2 files examined", said)

    def test_only_what_is_staged_counts(self):
        self.write("train.cpp", FIXED_SEED)
        self.git("add", "-A")
        self.write("train.cpp", CLOCK_SEED)
        result = subprocess.run(["git", "commit", "-m", "m"], cwd=self.root, env=self.environment, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_files_of_other_kinds_start_nothing(self):
        self.write("notes.md", "text\n")
        code, said = self.try_commit()
        self.assertEqual(code, 0, said)
        self.assertIn("Skipped", said)


if __name__ == "__main__":
    unittest.main()
