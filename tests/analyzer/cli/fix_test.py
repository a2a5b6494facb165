"""Fixes: in place, as a diff, and for clang-apply-replacements. What they leave must be clean and must compile."""
import os
import shutil
import stat
import subprocess
import unittest

from command import Folder, HAVE_SCAN, TORCH

CUDNN = """#pragma once
enum cudnnPoolingMode_t { CUDNN_POOLING_MAX = 0, CUDNN_POOLING_MAX_DETERMINISTIC = 3 };
enum cudnnCTCLossAlgo_t { CUDNN_CTC_LOSS_ALGO_DETERMINISTIC = 0, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC = 1 };
void cudnnSetPooling2dDescriptor(int, cudnnPoolingMode_t, int, int, int, int, int, int, int);
void cudnnPoolingBackward(int);
void cudnnCTCLoss(int, cudnnCTCLossAlgo_t);
#define CHECK(call) do { call; } while (0)
"""
SOURCE = """#include "cudnn.h"
void pool(int p) {
  CHECK(cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, 0, 3, 3, 0, 0, 1, 1));
  cudnnPoolingBackward(p);
}
void loss(int p) { cudnnCTCLoss(p, ::CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC); }
"""
MENDED = SOURCE.replace("CUDNN_POOLING_MAX,", "CUDNN_POOLING_MAX_DETERMINISTIC,").replace("ALGO_NON_DETERMINISTIC", "ALGO_DETERMINISTIC")


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Fix(Folder):
    def setUp(self):
        super().setUp()
        self.root.mkdir()
        self.write("CMakeLists.txt", "")
        self.write("cudnn.h", CUDNN)
        self.source = self.write("net.cpp", SOURCE)

    def test_in_place_then_clean_and_still_compiling(self):
        self.source.chmod(0o754)
        result = self.scan("--fix", "net.cpp")
        self.expect(result, 0, "mended 2 findings in 1 file", "0 findings")
        self.assertEqual(self.source.read_text(), MENDED)
        self.assertEqual(stat.S_IMODE(self.source.stat().st_mode), 0o754)
        self.expect(self.scan("net.cpp"), 0, "0 findings")
        compiler = shutil.which("clang++-22") or shutil.which("c++")
        self.assertEqual(subprocess.run([compiler, "-fsyntax-only", self.source]).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.root)), ["CMakeLists.txt", "cudnn.h", "net.cpp"])

    def test_a_diff_changes_nothing_and_applies(self):
        result = self.scan("--fix=diff", "net.cpp")
        self.expect(result, 1, "2 findings")
        self.assertEqual(self.source.read_text(), SOURCE)
        patched = subprocess.run(["git", "apply", "-"], cwd=self.root, input=result.stdout, text=True, capture_output=True)
        self.assertEqual(patched.returncode, 0, patched.stderr + result.stdout)
        self.assertEqual(self.source.read_text(), MENDED)

    def test_a_last_line_without_newline(self):
        self.source.write_text(SOURCE.rstrip("\n"))
        result = self.scan("--fix=diff", "net.cpp")
        patched = subprocess.run(["git", "apply", "-"], cwd=self.root, input=result.stdout, text=True, capture_output=True)
        self.assertEqual(patched.returncode, 0, patched.stderr + result.stdout)
        self.assertEqual(self.source.read_text(), MENDED.rstrip("\n"))

    @unittest.skipUnless(shutil.which("clang-apply-replacements-22"), "clang-apply-replacements-22 is not installed")
    def test_exported_fixes_are_what_clang_applies(self):
        self.expect(self.scan("--export-fixes", "fixes.yaml", "net.cpp"), 1)
        applied = subprocess.run(["clang-apply-replacements-22", "."], cwd=self.root, capture_output=True, text=True)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        self.assertEqual(self.source.read_text(), MENDED)

    def test_what_is_in_a_macro_s_body_or_a_variable_is_no_literal_to_replace(self):
        text = SOURCE.replace("#include \"cudnn.h\"\n", "#include \"cudnn.h\"\n#define MODE CUDNN_POOLING_MAX\n").replace("p, CUDNN_POOLING_MAX", "p, MODE")
        self.source.write_text(text)
        self.expect(self.scan("--fix", "net.cpp"), 1, "mended 1 finding in 1 file")
        self.assertIn("#define MODE CUDNN_POOLING_MAX\n", self.source.read_text())

    def test_another_s_file_is_never_written(self):
        outside = self.folder / "outside.h"
        outside.write_text(SOURCE)
        (self.root / "linked.cpp").symlink_to(outside)
        self.expect(self.scan("--fix", "linked.cpp"), 1, "left as it is")
        self.assertEqual(outside.read_text(), SOURCE)

    def test_unsaved_text_is_not_what_is_on_the_disk(self):
        self.source.write_text("// another text\n")
        self.expect(self.scan("--fix", "--stdin-filename", "net.cpp", stdin=SOURCE), 1, "has changed since it was parsed")
        self.assertEqual(self.source.read_text(), "// another text\n")

    def test_flags(self):
        self.write("third_party/torch.h", TORCH)
        source = self.write("flags.cpp", "#include \"third_party/torch.h\"\nvoid prepare() {\n  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);\n"
                            "  at::globalContext().setBenchmarkCuDNN(true);\n}\n")
        self.expect(self.scan("--fix", "flags.cpp"), 0, "mended 2 findings")
        self.assertIn("(true, /*warn_only=*/false);", source.read_text())
        self.assertIn("setBenchmarkCuDNN(false);", source.read_text())


if __name__ == "__main__":
    unittest.main()
