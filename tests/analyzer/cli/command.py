"""What tests of the `reprobe` command share: running it, and folders and repositories to run it in."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPROBE = os.environ["REPROBE"]
HAVE_SCAN = os.environ.get("REPROBE_HAVE_SCAN") == "ON"
HAVE_GIT = os.environ.get("REPROBE_HAVE_GIT") == "ON" and shutil.which("git") is not None

# One finding of a rule that one file is enough for, on the line of `srand`.
CLOCK_SEED = "#include <cstdlib>\n#include <ctime>\nint main() {\n  srand(time(nullptr));\n  return rand();\n}\n"
# What LibTorch declares, as someone else's header.
TORCH = ("namespace at { struct Context { void setBenchmarkCuDNN(bool); void setDeterministicAlgorithms(bool, bool); };\n"
         "Context& globalContext(); }\n")
FIXED_SEED = CLOCK_SEED.replace("time(nullptr)", "42")


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name).resolve()

    def tearDown(self):
        self._folder.cleanup()

    @property
    def root(self):
        return self.folder

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def expect(self, result, code, *words):
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for word in words:
            self.assertIn(word, said)


class Folder(TemporaryFolder):
    def setUp(self):
        super().setUp()
        # Nothing of the machine's own: neither its git configuration nor its cache.
        self.home = self.folder / "home"
        self.home.mkdir()
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self.environment.pop("REPROBE_CACHE_DIR", None)
        self.environment.update(HOME=str(self.home), XDG_CACHE_HOME=str(self.home / "cache"), GIT_CONFIG_NOSYSTEM="1",
                                GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org", GIT_COMMITTER_NAME="a",
                                GIT_COMMITTER_EMAIL="a@example.org")

    @property
    def root(self):
        return self.folder / "project"

    def reprobe(self, *arguments, cwd=None, stdin=None, **environment):
        return subprocess.run([REPROBE, *map(str, arguments)], cwd=cwd or self.root, input=stdin, capture_output=True, text=True,
                              timeout=300, env={**self.environment, **environment})

    def scan(self, *arguments, **more):
        return self.reprobe("scan", *arguments, **more)

    def expect_places(self, result, *places):
        """The findings stand at these "file:line"s."""
        lines = [line.split(": ")[0] for line in result.stdout.splitlines() if ": warning: " in line or ": error: " in line]
        self.assertEqual(sorted(":".join(line.split(":")[:2]) for line in lines), sorted(places), result.stdout + result.stderr)


class GitRepository(Folder):
    def setUp(self):
        super().setUp()
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, cwd=None, **environment):
        result = subprocess.run(["git", *map(str, arguments)], cwd=cwd or self.root, capture_output=True, text=True, timeout=60,
                                env={**self.environment, **environment})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout.strip()

    def commit(self, **files):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "m")
