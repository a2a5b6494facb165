"""The `reprobe` command as a user calls it: arguments, messages, exit codes, files."""
import json
import os
import pathlib
import subprocess
import unittest

from command import HAVE_SCAN, REPROBE, TemporaryFolder

SCHEMAS = pathlib.Path(os.environ["REPROBE_SCHEMAS"])

try:
    import jsonschema
except ImportError:  # a machine with the run half only may lack it
    jsonschema = None


def reprobe(*arguments, cwd=None, stdin=None):
    return subprocess.run([REPROBE, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=300)


class Usage(TemporaryFolder):
    def test_no_command_and_unknown_command_are_usage_errors(self):
        self.expect(reprobe(), 2)
        self.expect(reprobe("scann"), 2)
        self.expect(reprobe("report"), 2)
        self.expect(reprobe("report", "--no-such-option"), 2)

    def test_help_and_version_succeed(self):
        for arguments in (["--help"], ["report", "--help"], ["run", "--help"], ["--version"]):
            self.expect(reprobe(*arguments), 0, "reprobe" if arguments != ["--version"] else "0.")


class StandardOutput(TemporaryFolder):
    def test_output_that_nobody_gets_is_no_success(self):
        commands = [["explain", "missing-seed"], ["env"], ["--help"]] + ([["scan", "--list-rules"]] if HAVE_SCAN else [])
        for arguments in commands:
            with open("/dev/full", "w") as full:
                code = subprocess.run([REPROBE, *arguments], stdout=full, stderr=subprocess.DEVNULL, timeout=60).returncode
            self.assertEqual(code, 3, arguments)


class Env(TemporaryFolder):
    def test_text_and_json_agree(self):
        self.expect(reprobe("env"), 0, "kernel", "cpu")
        document = json.loads(reprobe("env", "--format", "json").stdout)
        self.assertGreaterEqual(document["cores"], 1)
        self.assertIn("Linux", document["kernel"])


class Explain(TemporaryFolder):
    def test_a_rule_shows_its_page(self):
        self.expect(reprobe("explain", "missing-seed"), 0, "manual_seed")

    def test_a_pasted_framework_error_names_operator_and_way_out(self):
        error = ("RuntimeError: upsample_bilinear2d_backward_out_cuda does not have a deterministic implementation, but you set "
                 "'torch.use_deterministic_algorithms(True)'.")
        self.expect(reprobe("explain", error), 0, "upsample_bilinear2d_backward_out_cuda has no deterministic", "aten::upsample_bilinear2d")

    def test_a_catalogue_id_and_an_operator(self):
        self.expect(reprobe("explain", "LT-D08"), 0, "index_add")
        self.expect(reprobe("explain", "aten::index_add"), 0, "LT-D08")

    def test_an_unknown_word_says_what_is_near(self):
        self.expect(reprobe("explain", "missing-sed"), 2, "missing-seed")


MEASUREMENTS = {"schema": "reprobe-measurements/1", "complete": True, "environment": {"device": "cpu"}, "entries": [
    {"operator": "aten::index_add", "signature": "s", "source": {"file": "train.cpp", "line": 41}, "verdict": "varies",
     "rounds": 20, "distinct": 7, "differing_share": 0.02, "max_ulp": 3, "blamed": True}]}
FINDINGS = {"schema": "reprobe-findings/1", "complete": True, "stage": "paper", "examined": [], "findings": [
    {"rule": "nondeterministic-op", "severity": "warning", "confidence": "high", "message": "index_add_ varies",
     "source": {"file": "train.cpp", "line": 41}, "operators": ["aten::index_add"]}]}


class Report(TemporaryFolder):
    def files(self):
        return (self.write("f.json", json.dumps(FINDINGS)), self.write("m.json", json.dumps(MEASUREMENTS)))

    def test_joined_in_any_order_and_the_gate_fails(self):
        findings, measurements = self.files()
        for inputs in ((findings, measurements), (measurements, findings)):
            self.expect(reprobe("report", *inputs), 1, "flagged, and measured varying (1)", "7 distinct results in 20 rounds")

    def test_gates(self):
        findings, measurements = self.files()
        self.expect(reprobe("report", findings, "--gate", "varies"), 0)
        self.expect(reprobe("report", findings, "--gate", "findings"), 1)
        self.expect(reprobe("report", findings, measurements, "--gate", "none"), 0)

    def test_output_goes_to_the_named_file_whole(self):
        findings, measurements = self.files()
        out = self.folder / "report.html"
        result = reprobe("report", findings, measurements, "--format", "html", "-o", out)
        self.expect(result, 1)
        self.assertEqual(result.stdout, "")
        self.assertTrue(out.read_text().rstrip().endswith("</html>"))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["f.json", "m.json", "report.html"])

    def test_bad_inputs_name_the_file(self):
        self.expect(reprobe("report", self.folder / "none.json"), 2, "none.json")
        self.expect(reprobe("report", self.folder), 2, "is a folder")
        self.expect(reprobe("report", "/dev/zero"), 2, "is a device")
        self.expect(reprobe("report", self.write("cut.json", '{"schema": "repr')), 2, "cut.json")
        self.expect(reprobe("report", self.write("other.json", "{}")), 2, "other.json", "schema")
        self.expect(reprobe("report", self.write("old.json", '{"schema": "reprobe-measurements/9"}')), 2, "reprobe-measurements/9")

    def test_an_output_that_cannot_be_written_is_not_a_clean_report(self):
        findings, _ = self.files()
        self.expect(reprobe("report", findings, "-o", self.folder / "none" / "r.html"), 3, "none/r.html")


@unittest.skipUnless(jsonschema, "python3-jsonschema is not installed")
class Schemas(TemporaryFolder):
    def check(self, document, name):
        jsonschema.Draft202012Validator(json.loads((SCHEMAS / name).read_text())).validate(document)

    def test_the_examples_of_this_file_are_valid(self):
        self.check(MEASUREMENTS, "measurements.schema.json")
        self.check(FINDINGS, "findings.schema.json")

    def test_the_schema_refuses_what_it_should(self):
        bad = json.loads(json.dumps(MEASUREMENTS))
        bad["entries"][0]["verdict"] = "maybe"
        with self.assertRaises(jsonschema.ValidationError):
            self.check(bad, "measurements.schema.json")
        bad = {"schema": "reprobe-measurements/1", "complete": True, "environment": {}, "entries": [{"operator": "a::b", "verdict": "not-examined"}]}
        with self.assertRaises(jsonschema.ValidationError):  # no reason
            self.check(bad, "measurements.schema.json")

    @unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
    def test_what_scan_writes_is_valid(self):
        source = self.write("a.cpp", "#include <random>\n#include <no_such_header.h>\nint main() { return int(std::random_device{}()); }\n")
        reprobe("scan", "-o", self.folder / "f.json", source)
        self.check(json.loads((self.folder / "f.json").read_text()), "findings.schema.json")


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Scan(TemporaryFolder):
    def test_unknown_file_and_empty_folder(self):
        self.expect(reprobe("scan", self.folder / "none.cpp"), 2, "none.cpp")
        self.expect(reprobe("scan", self.folder), 2, str(self.folder.name))

    def test_broken_database(self):
        self.write("a.cpp", "int main() {}\n")
        database = self.write("build/compile_commands.json", "[{")
        self.expect(reprobe("scan", "-p", database, self.folder), 2, "compile_commands.json")
        self.expect(reprobe("scan", "-p", self.folder / "nowhere", self.folder), 2, "nowhere")

    def test_broken_config_is_named_with_line(self):
        self.write("a.cpp", "int main() {}\n")
        self.write(".reprobe.yaml", "rules:\n  float-atomics: off\n")
        self.expect(reprobe("scan", self.folder), 2, ".reprobe.yaml:2:3", "float-atomic")

    def test_unknown_rule_says_what_is_near(self):
        self.expect(reprobe("scan", "--rules", "missing-sed", self.folder), 2, "missing-seed")

    def test_a_clean_file_exits_0_and_prints_nothing_on_standard_output(self):
        result = reprobe("scan", self.write("a.cpp", "int main() { return 0; }\n"))
        self.expect(result, 0, "0 findings in 1 file examined")
        self.assertEqual(result.stdout, "")

    def test_findings_exit_1_and_stay_when_switched_to_note_by_config(self):
        source = self.write("a.cpp", "#include <filesystem>\n#include <string>\n#include <vector>\nint main() {\n"
                            "  std::vector<std::string> names;\n"
                            "  for (const auto& entry : std::filesystem::directory_iterator(\"data\"))\n"
                            "    names.push_back(entry.path().string());\n  return int(names.size());\n}\n")
        self.expect(reprobe("scan", source), 1, "a.cpp:6:", "[directory-order")
        self.write(".reprobe.yaml", "rules: {directory-order: note}\n")
        self.expect(reprobe("scan", source), 0, "note:", "[directory-order")
        self.write(".reprobe.yaml", "rules: {directory-order: off}\n")
        self.expect(reprobe("scan", source), 0, "0 findings")

    def test_a_file_that_does_not_parse_at_all_is_never_silent(self):
        source = self.write("a.cpp", "#include \"missing_one.h\"\nint f(Unknown x) { return x; }\n")
        self.expect(reprobe("scan", source), 0, "only in part")
        self.expect(reprobe("scan", "--require-complete", source), 3)


if __name__ == "__main__":
    unittest.main()
