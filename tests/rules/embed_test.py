#!/usr/bin/env python3
"""embed.py refuses broken rules, and says which file and key is wrong. Works on copies."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Embed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rules = os.path.join(self.folder.name, "rules")
        self.tests = os.path.join(self.folder.name, "tests")
        shutil.copytree(os.path.join(ROOT, "rules"), self.rules)
        shutil.copytree(os.path.join(ROOT, "tests", "analyzer", "scan", "rules"), self.tests)

    def tearDown(self):
        self.folder.cleanup()

    def embed(self, *more):
        return subprocess.run([sys.executable, os.path.join(self.rules, "embed.py"), "--rules", self.rules, "--tests",
                               self.tests, *more], capture_output=True, text=True)

    def check(self, name):
        return os.path.join(self.rules, "checks", name)

    def edit(self, path, old, new):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))

    def refuses(self, *words):
        result = self.embed("--check")
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_accepts_the_rules_as_they_are(self):
        output = os.path.join(self.folder.name, "rules.json")
        result = self.embed("--json", output)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(output, encoding="utf-8") as file:
            document = json.load(file)
        self.assertIn("warn-only", [rule["id"] for rule in document["rules"]])
        self.assertEqual(document["rules"][0]["severity"].keys(), {"prototype", "tuning", "paper", "deploy"})

    def test_the_embedded_text_is_the_json(self):
        cpp = os.path.join(self.folder.name, "rules.cpp")
        text = os.path.join(self.folder.name, "rules.json")
        self.assertEqual(self.embed("--output", cpp, "--json", text).returncode, 0)
        with open(cpp, encoding="utf-8") as file:
            parts = file.read().split('R"json_text(')[1:]
        with open(text, encoding="utf-8") as file:
            self.assertEqual("".join(part.split(')json_text"')[0] for part in parts), file.read())

    def test_unknown_scope(self):
        self.edit(self.check("warn-only.yaml"), "scope: file", "scope: folder")
        self.refuses("warn-only.yaml", "scope", "folder")

    def test_missing_page(self):
        os.remove(self.check("warn-only.md"))
        self.refuses("warn-only.md", "no page")

    def test_missing_heading(self):
        self.edit(self.check("warn-only.md"), "## Known false alarms", "## Something else")
        self.refuses("warn-only.md", "Known false alarms")

    def test_heading_inside_code_does_not_count(self):
        self.edit(self.check("warn-only.md"), "## Known false alarms", "```\n## Known false alarms\n```")
        self.refuses("warn-only.md", "Known false alarms")

    def test_missing_test(self):
        os.remove(os.path.join(self.tests, "warn-only.cpp"))
        self.refuses("warn-only.yaml", "no test")

    def test_test_without_rule(self):
        open(os.path.join(self.tests, "no-such-rule.cpp"), "w").close()
        self.refuses("no-such-rule.cpp", "without a rule")

    def test_page_without_rule(self):
        open(self.check("no-such-rule.md"), "w").close()
        self.refuses("no-such-rule.md", "without a rule")

    def test_missing_keys(self):
        for key in ("id", "family", "title", "summary", "confidence", "severity", "tags", "fix"):
            with self.subTest(key=key):
                path = self.check("warn-only.yaml")
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                with open(path, "w", encoding="utf-8") as file:
                    file.writelines(line + "\n" for line in text.splitlines() if not line.startswith(key + ":"))
                self.refuses("warn-only.yaml", key, "missing")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)

    def test_missing_stage(self):
        self.edit(self.check("warn-only.yaml"), ", paper: warning", "")
        self.refuses("warn-only.yaml", "severity.paper")

    def test_unknown_severity(self):
        self.edit(self.check("warn-only.yaml"), "paper: warning", "paper: fatal")
        self.refuses("warn-only.yaml", "severity.paper", "fatal")

    def test_unknown_family(self):
        self.edit(self.check("warn-only.yaml"), "family: knobs", "family: knob")
        self.refuses("warn-only.yaml", "family", "knob")

    def test_unknown_key(self):
        self.edit(self.check("warn-only.yaml"), "summary:", "sumary: x\nsummary:")
        self.refuses("warn-only.yaml", "sumary")

    def test_key_twice(self):
        self.edit(self.check("warn-only.yaml"), "family: knobs", "family: knobs\nfamily: knobs")
        self.refuses("warn-only.yaml", "family", "twice")

    def test_other_name(self):
        self.edit(self.check("warn-only.yaml"), "id: warn-only", "id: warn_only")
        self.refuses("warn-only.yaml", "id")

    def test_not_yaml(self):
        with open(self.check("warn-only.yaml"), "w", encoding="utf-8") as file:
            file.write("id: [\n")
        self.refuses("warn-only.yaml", "YAML")

    def test_empty_rule(self):
        open(self.check("warn-only.yaml"), "w").close()
        self.refuses("warn-only.yaml", "mapping")

    def test_table_rows(self):
        table = os.path.join(self.rules, "tables", "operators.yaml")
        self.edit(table, "strict: throws", "strict: perhaps")
        self.refuses("operators.yaml", "strict", "perhaps")

    def test_replay_row_without_reason(self):
        table = os.path.join(self.rules, "tables", "replay.yaml")
        self.edit(table, 'reason: "allocates uninitialised memory"', 'note: "x"')
        self.refuses("replay.yaml", "reason")

    def test_every_problem_is_named_at_once(self):
        os.remove(self.check("warn-only.md"))
        os.remove(os.path.join(self.tests, "entropy-seed.cpp"))
        self.refuses("warn-only.md", "entropy-seed.yaml")


if __name__ == "__main__":
    unittest.main()
