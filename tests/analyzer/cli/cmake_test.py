"""reprobe_lint(): facts as one edge a source, judging as one edge a target, and only what changed is made again."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from command import CLOCK_SEED, FIXED_SEED, Folder, HAVE_SCAN, REPROBE

MODULE = pathlib.Path(os.environ["REPROBE_SOURCE"]) / "analyzer" / "cmake"
LISTS = """cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(Reprobe REQUIRED)
add_library(layers STATIC "layers/a layer.cpp" layers/seed.cpp kernel.cu layers/seed.h)
set_source_files_properties(kernel.cu PROPERTIES HEADER_FILE_ONLY ON)
target_compile_definitions(layers PRIVATE "SEED=42" "TEXT=\\"a b\\"")
reprobe_lint(layers STAGE paper)
"""


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "cmake or ninja is not installed")
class Lint(Folder):
    generator = "Ninja"

    def setUp(self):
        super().setUp()
        self.root.mkdir()
        self.write("CMakeLists.txt", LISTS)
        self.write("layers/a layer.cpp", "const char* text() { return TEXT; }\n")
        self.write("layers/seed.h", "#pragma once\n#include <cstdlib>\n#include <ctime>\n#define CHOSEN SEED\n")
        self.write("layers/seed.cpp", "#include \"seed.h\"\nvoid seed() {\n  srand(CHOSEN);\n}\n")
        self.write("kernel.cu", "__global__ void add(int* out) { atomicAdd(out, 1); }\n")
        self.configure()

    def configure(self):
        result = subprocess.run(["cmake", "-S", ".", "-B", "build", "-G", self.generator, f"-DReprobe_DIR={MODULE}", f"-DREPROBE_EXECUTABLE={REPROBE}"],
                                cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def build(self):
        result = subprocess.run(["cmake", "--build", "build", "--target", "reprobe-layers"], cwd=self.root, env=self.environment,
                                capture_output=True, text=True, timeout=300)
        return result.returncode, result.stdout + result.stderr

    def facts_made(self, said):
        return sorted(line.split("facts of ")[1].strip() for line in said.splitlines() if "facts of " in line)

    def test_all_sources_are_judged_with_their_own_flags_and_only_changes_are_made_again(self):
        code, said = self.build()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.facts_made(said), ["kernel.cu", "layers/a layer.cpp", "layers/seed.cpp"])
        findings = json.loads((self.root / "build/reprobe/reprobe-layers.json").read_text())
        self.assertEqual(sorted((f["file"], f["status"]) for f in findings["examined"] if f["file"].endswith(".cpp")),
                         [("layers/a layer.cpp", "full"), ("layers/seed.cpp", "full")])

        code, said = self.build()
        self.assertEqual((code, self.facts_made(said)), (0, []), said)
        self.assertNotIn("judging", said)

        self.write("layers/seed.h", "#pragma once\n#include <cstdlib>\n#include <ctime>\n#define CHOSEN time(nullptr)\n")
        code, said = self.build()
        self.assertNotEqual(code, 0, said)
        self.assertEqual(self.facts_made(said), ["layers/seed.cpp"])
        self.assertIn("layers/seed.cpp:3:", said)
        self.assertIn("entropy-seed", said)

        code, said = self.build()  # it stays refused, without being parsed again
        self.assertNotEqual(code, 0, said)
        self.assertEqual(self.facts_made(said), [])
        self.assertIn("layers/seed.cpp:3:", said)

        self.write("layers/seed.cpp", "void seed() {}\n")
        code, said = self.build()
        self.assertEqual((code, self.facts_made(said)), (0, ["layers/seed.cpp"]), said)


@unittest.skipUnless(shutil.which("make"), "make is not installed")
class LintWithMake(Lint):
    generator = "Unix Makefiles"


if __name__ == "__main__":
    unittest.main()
