"""The plug-in in the real clang-tidy."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PLUGIN = os.environ["REPROBE_TIDY"]
TIDY = shutil.which("clang-tidy-22")

SEED = "#include <cstdlib>\n#include <ctime>\nint main() {\n  srand(time(nullptr));\n  return rand();\n}\n"
TORCH = "namespace at { struct Context { void setDeterministicAlgorithms(bool, bool); }; Context& globalContext(); }\n"
FLAGS = ("#include \"third_party/torch.h\"\n"
         "void flags() {\n  at::globalContext().setDeterministicAlgorithms(true, true);\n}\n")


@unittest.skipUnless(TIDY, "clang-tidy-22 is not installed")
class Tidy(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name).resolve()
        (self.folder / "third_party").mkdir()
        (self.folder / "third_party" / "torch.h").write_text(TORCH)

    def tearDown(self):
        self._folder.cleanup()

    def tidy(self, *arguments, checks="-*,reprobe-*"):
        return subprocess.run([TIDY, f"--load={PLUGIN}", f"--checks={checks}", *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=300)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def test_rules_of_one_file_are_checks(self):
        listed = self.tidy("--list-checks").stdout.split()
        self.assertIn("reprobe-entropy-seed", listed)
        self.assertIn("reprobe-float-atomic", listed)
        self.assertNotIn("reprobe-missing-seed", listed)  # needs the whole project

    def test_findings_of_several_files_stand_where_they_are(self):
        result = self.tidy(self.write("a.cpp", SEED), self.write("b.cpp", FLAGS), "--", "-std=c++17")
        self.assertIn("a.cpp:4:3: warning: ", result.stdout, result.stderr)
        self.assertIn("[reprobe-entropy-seed]", result.stdout)
        self.assertIn("b.cpp:3:23: warning: ", result.stdout)
        self.assertEqual(result.stdout.count("warning: "), 2, result.stdout)

    def test_only_the_checks_asked_for(self):
        result = self.tidy(self.write("a.cpp", SEED), "--", checks="-*,reprobe-warn-only")
        self.assertNotIn("warning: ", result.stdout)

    def test_nolint_and_the_stage_are_heeded(self):
        suppressed = SEED.replace("(nullptr));", "(nullptr)); // NOLINT(reprobe-entropy-seed)")
        self.assertNotIn("warning: ", self.tidy(self.write("a.cpp", suppressed), "--").stdout)
        prototype = "{CheckOptions: [{key: reprobe-warn-only.Stage, value: prototype}]}"
        self.assertNotIn("warning: ", self.tidy(f"--config={prototype}", self.write("b.cpp", FLAGS), "--").stdout)

    def test_a_fix_is_applied_and_leaves_nothing_to_find(self):
        name = self.write("b.cpp", FLAGS)
        self.tidy("--fix", name, "--")
        self.assertEqual((self.folder / name).read_text(), FLAGS.replace("(true, true)", "(true, false)"))
        self.assertNotIn("warning: ", self.tidy(name, "--").stdout)

    def test_templates_and_headers_of_the_user(self):
        self.write("seed.h", "#include <cstdlib>\n#include <ctime>\ntemplate <class T> void seed(T more) {\n  srand(time(nullptr) + more);\n}\n")
        result = self.tidy("--header-filter=.*", self.write("a.cpp", "#include \"seed.h\"\nint main() { seed(1); }\n"), "--")
        self.assertIn("seed.h:4:3: warning: ", result.stdout, result.stderr)


if __name__ == "__main__":
    unittest.main()
