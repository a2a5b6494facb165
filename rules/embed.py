#!/usr/bin/env python3
"""Turns the rules (YAML, Markdown) and tables into one JSON document inside a C++ source file.

usage: embed.py --rules DIR --tests DIR (--output FILE.cpp | --json FILE.json | --check)

Fails, naming file and key, when a rule, its page, its test or a table is not as it must be.
"""
import argparse
import json
import os
import re
import sys

import yaml

STAGES = ("prototype", "tuning", "paper", "deploy")
SEVERITIES = ("off", "note", "warning", "error")
CONFIDENCES = ("high", "medium", "low")
SCOPES = ("file", "project")
FAMILIES = ("seeding", "knobs", "operators", "atomics", "calls", "kernel-races", "consumed-atomics", "clock-values", "uninitialised",
            "streams", "blobs", "splits", "barriers", "allocations", "loss-scaling", "order", "uses", "threads", "timing", "build", "suppressions")
REQUIRED = {"id": str, "family": str, "title": str, "summary": str, "confidence": str, "severity": dict,
            "tags": list, "fix": str}
OPTIONAL = {"options": dict, "scope": str}
HEADINGS = ("What", "Why", "Example", "Fix", "Options", "Known false alarms")
STRICT_MODES = ("throws", "switches", "switches-strict-only", "silent", "deterministic")
CHUNK = 8000  # characters in one string literal


class Problems:
    """Everything that is wrong, so that one run of the build shows all of it."""

    def __init__(self):
        self.lines = []

    def add(self, file, key, why):
        self.lines.append(f"{file}: {key}: {why}" if key else f"{file}: {why}")


def severity_names(value):
    """YAML 1.1 reads a bare `off` as false: take it as the word that was written."""
    return {stage: "off" if name is False else name for stage, name in value.items()}


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses a key written twice: YAML itself silently keeps the last."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key}` is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_yaml(path, problems):
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.load(file, Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problems.add(path, "", f"not readable as YAML: {' '.join(str(error).split())}")
        return None


def names_in(folder, endings):
    """name -> file for the files of `folder` with one of the endings."""
    if not os.path.isdir(folder):
        return {}
    files = sorted(os.listdir(folder))
    return {os.path.splitext(f)[0]: f for f in files if os.path.splitext(f)[1] in endings}


def check_rule(path, name, rule, problems):
    if not isinstance(rule, dict):
        problems.add(path, "", "must be a mapping")
        return
    for key, kind in REQUIRED.items():
        if key not in rule:
            problems.add(path, key, "missing")
        elif not isinstance(rule[key], kind) or rule[key] in ("", {}):
            problems.add(path, key, f"must be a non-empty {kind.__name__}")
    for key in rule:
        if key in OPTIONAL and not isinstance(rule[key], OPTIONAL[key]):
            problems.add(path, key, f"must be a {OPTIONAL[key].__name__}")
        if key not in REQUIRED and key not in OPTIONAL:
            problems.add(path, key, "unknown key")
    if rule.get("id") != name:
        problems.add(path, "id", f"must be `{name}`, the name of the file")
    if "family" in rule and rule["family"] not in FAMILIES:
        problems.add(path, "family", f"`{rule['family']}` is none of {', '.join(FAMILIES)}")
    if "confidence" in rule and rule["confidence"] not in CONFIDENCES:
        problems.add(path, "confidence", f"`{rule['confidence']}` is none of {', '.join(CONFIDENCES)}")
    if "scope" in rule and rule["scope"] not in SCOPES:
        problems.add(path, "scope", f"`{rule['scope']}` is none of {', '.join(SCOPES)}")
    check_severity(path, rule.get("severity"), problems)


def check_severity(path, severity, problems):
    if not isinstance(severity, dict):
        return
    for stage in STAGES:
        if stage not in severity:
            problems.add(path, f"severity.{stage}", "missing")
        elif severity_names(severity)[stage] not in SEVERITIES:
            problems.add(path, f"severity.{stage}", f"`{severity[stage]}` is none of {', '.join(SEVERITIES)}")
    for stage in severity:
        if stage not in STAGES:
            problems.add(path, f"severity.{stage}", "unknown stage")


def read_page(path, problems):
    if not os.path.exists(path):
        problems.add(path, "", "the rule has no page")
        return ""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    headings = re.findall(r"^#+\s+(.*?)\s*$", re.sub(r"^```.*?^```", "", page, flags=re.S | re.M), re.M)
    for heading in HEADINGS:
        if heading not in headings:
            problems.add(path, f"## {heading}", "heading missing")
    return page


def load_rules(rules_folder, tests_folder, problems):
    checks = os.path.join(rules_folder, "checks")
    definitions, pages = names_in(checks, {".yaml"}), names_in(checks, {".md"})
    tests = names_in(tests_folder, {".cpp", ".cu"})
    rules = []
    for name, file in definitions.items():
        path = os.path.join(checks, file)
        rule = load_yaml(path, problems)
        if rule is None:
            if os.path.getsize(path) == 0:
                problems.add(path, "", "must be a mapping")
            continue
        check_rule(path, name, rule, problems)
        page = read_page(os.path.join(checks, name + ".md"), problems)
        if name not in tests:
            problems.add(path, "", f"the rule has no test: {os.path.join(tests_folder, name)}.cpp or .cu")
        if isinstance(rule, dict) and isinstance(rule.get("severity"), dict):
            rules.append(dict(rule, severity=severity_names(rule["severity"]), page=page))
    for name, file in pages.items():
        if name not in definitions:
            problems.add(os.path.join(checks, file), "", "a page without a rule")
    for name, file in tests.items():
        if name not in definitions:
            problems.add(os.path.join(tests_folder, file), "", "a test without a rule")
    return rules


def check_operators(path, rows, problems):
    for index, row in enumerate(rows):
        for key in ("operator", "symbols", "direction", "strict", "mechanism", "fix", "catalog"):
            if key not in row:
                problems.add(path, f"[{index}].{key}", "missing")
        if row.get("direction") not in ("forward", "backward", "both"):
            problems.add(path, f"[{index}].direction", f"`{row.get('direction')}` is none of forward, backward, both")
        if row.get("strict") not in STRICT_MODES:
            problems.add(path, f"[{index}].strict", f"`{row.get('strict')}` is none of {', '.join(STRICT_MODES)}")


def check_replay(path, rows, problems):
    for index, row in enumerate(rows):
        for key in ("operator", "reason"):
            if not isinstance(row.get(key), str) or not row[key]:
                problems.add(path, f"[{index}].{key}", "missing")


TABLE_CHECKS = {"operators": check_operators, "replay": check_replay}


def load_tables(rules_folder, problems):
    folder = os.path.join(rules_folder, "tables")
    tables = {}
    for name, file in names_in(folder, {".yaml"}).items():
        path = os.path.join(folder, file)
        rows = load_yaml(path, problems)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            problems.add(path, "", "must be a list of mappings")
            continue
        if name in TABLE_CHECKS:
            TABLE_CHECKS[name](path, rows, problems)
        tables[name] = rows
    return tables


def check_schemas(rules_folder, document, problems):
    """The JSON schemas say the same in more detail; they are checked where Python has `jsonschema`."""
    try:
        import jsonschema
    except ImportError:
        return
    for part, name in (("rules", "rule"), ("tables", "tables")):
        path = os.path.join(rules_folder, "schemas", name + ".schema.json")
        if not os.path.exists(path):
            problems.add(path, "", "missing")
            continue
        with open(path, encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
        values = document["rules"] if part == "rules" else [document["tables"]]
        for value in values:
            where = os.path.join(rules_folder, "checks", value.get("id", "?") + ".yaml") if part == "rules" \
                else os.path.join(rules_folder, "tables")
            for error in validator.iter_errors(value):
                problems.add(where, ".".join(str(step) for step in error.absolute_path), error.message[:300])


def cpp_source(text):
    chunks = [text[start:start + CHUNK] for start in range(0, len(text), CHUNK)]
    literals = ",\n".join(f'R"json_text({chunk})json_text"' for chunk in chunks)
    return ("// Made from rules/ by embed.py: change the rules, not this file.\n"
            "#include <string_view>\n#include <vector>\n"
            "namespace reprobe::rules {\n"
            "std::vector<std::string_view> embedded_json();\n"
            f"std::vector<std::string_view> embedded_json() {{\n  return {{\n{literals}}};\n}}\n"
            "} // namespace reprobe::rules\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", required=True)
    parser.add_argument("--tests", required=True)
    parser.add_argument("--output")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    problems = Problems()
    document = {"schema": "reprobe-rules/1", "rules": load_rules(arguments.rules, arguments.tests, problems),
                "tables": load_tables(arguments.rules, problems)}
    check_schemas(arguments.rules, document, problems)
    if problems.lines:
        print("\n".join("error: " + line for line in problems.lines), file=sys.stderr)
        return 1
    text = json.dumps(document, indent=1, sort_keys=True)  # ASCII: no chunk splits a character
    for path, content in ((arguments.json, text), (arguments.output, cpp_source(text))):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
