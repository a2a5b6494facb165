#!/usr/bin/env python3
"""Checks the sample trainers: run twice, scanned, and measured. Ends with 1 and says what is wrong."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = ("planted", "clean")


class Wrong(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Wrong(message)


def run(command, cwd=None, codes=(0,)):
    """The ended command; its exit code must be one of `codes`."""
    # Threads of LibTorch that wait actively would slow down each other on a busy machine.
    environment = {"OMP_WAIT_POLICY": "passive", **os.environ}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    require(done.returncode in codes,
            f"{' '.join(map(str, command))}\nended with {done.returncode}, not {' or '.join(map(str, codes))}\n"
            f"--- standard output\n{done.stdout[-2000:]}\n--- standard error\n{done.stderr[-6000:]}")
    return done


def trainer(options, sample, version, folder):
    """The command line of a sample; `folder` is where it may keep its data."""
    program = options.build / "samples" / f"{sample}-{version}"
    require(program.exists(), f"{program}: not built")
    command = [program, "--device", options.device]
    return command + (["--data", folder / "images"] if sample == "image-classifier" else [])


def parameter_hash(output):
    found = re.findall(r"^parameters: ([0-9a-f]{16})$", output, re.MULTILINE)
    require(len(found) == 1 and output.rstrip().endswith(found[0]),
            f"the output does not end with one line of the parameters' hash:\n{output}")
    losses = re.findall(r"^epoch \d+: loss (\S+)$", output, re.MULTILINE)
    require(losses, f"no loss was printed:\n{output}")
    require(float(losses[-1]) < float(losses[0]), f"training did not lower the loss:\n{output}")
    return found[0]


def line_of(folder, anchor):
    """(file, line) of "file: text"; line is None for a whole file. The text must stand in the file exactly once."""
    name, _, text = anchor.partition(": ")
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    if not text:
        return name, None
    found = [number for number, line in enumerate(lines, 1) if text in line]
    require(len(found) == 1, f"{folder / name}: '{text}' stands in {len(found)} lines, not in one")
    return name, found[0]


def expectations(options):
    """Each sample has its expectations, each with places that exist."""
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    samples = sorted(path.parent.parent.name for path in (options.source / "samples").glob("*/planted/main.cpp"))
    require(sorted(expected) == samples, f"expected.json is about {sorted(expected)}, samples/ holds {samples}")
    for sample, findings in expected.items():
        page = options.source / "samples" / sample / "README.md"
        require(page.exists(), f"{sample} has no README.md")
        readme = page.read_text(encoding="utf-8")
        require((options.source / "samples" / sample / "clean" / "main.cpp").exists(), f"{sample} has no clean version")
        for finding in findings:
            places = [line_of(options.source / "samples" / sample / "planted", anchor) for anchor in finding["at"]]
            if finding["rule"] not in ("missing-seed", "determinism-not-enabled"):
                require(all(line for _, line in places), f"{sample}: {finding['at']} names no line")
            rows = [row for row in readme.splitlines() if f"| `{finding['rule']}` |" in row]
            require(any(row.startswith(f"| {name}{f':{line} ' if line else ' '}") for row in rows for name, line in places),
                    f"{page}: no row of {finding['rule']} begins with one of {places}")


def repeats(options, sample):
    """Two runs of the clean version end with the same parameters."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (parameter_hash(run(trainer(options, sample, "clean", pathlib.Path(folder))).stdout) for _ in "12")
        require(first == second, f"{sample}-clean: two runs ended with {first} and {second}")
        parameter_hash(run(trainer(options, sample, "planted", pathlib.Path(folder))).stdout)


def read_json(path, schema):
    require(path.exists(), f"{path.name} was not written")
    document = json.loads(path.read_text(encoding="utf-8"))
    require(document.get("schema") == schema, f"schema is {document.get('schema')!r}, not {schema!r}")
    return document


def same_file(reported, expected):
    return ("/" + expected).endswith("/" + reported) or reported.endswith("/" + expected)


def describe(findings):
    return "\n".join(f"  {f['source']['file']}:{f['source']['line']}: {f['rule']}: {f.get('message', '')}"
                     for f in findings) or "  none"


def scan(options, sample, version):
    """The planted version shows at least what was planted, the clean one nothing."""
    root = options.source / "samples" / sample / version
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "findings.json"
        code = run([options.reprobe, "scan", "-p", options.build, "-o", output, root.relative_to(options.source)],
                   cwd=options.source, codes=(0, 1)).returncode
        document = read_json(output, "reprobe-findings/1")
    require(document["complete"], f"the scan was not complete:\n{json.dumps(document.get('examined'), indent=1)}")
    findings = document["findings"]
    require(code == bool(findings), f"scan ended with {code}, having found:\n{describe(findings)}")
    if version == "clean":
        require(not findings, f"{sample}-clean has findings:\n{describe(findings)}")
        return
    missing = []
    built = (options.build / "compile_commands.json").read_text(encoding="utf-8")
    for expected in json.loads((HERE / "expected.json").read_text(encoding="utf-8"))[sample]:
        if expected.get("needs") == "cuda" and f"{sample}/planted/voxel_pool_kernel.cu" not in built:
            continue
        places = [line_of(root, anchor) for anchor in expected["at"]]
        if not any(finding["rule"] == expected["rule"]
                   and same_file(finding["source"]["file"], f"samples/{sample}/{version}/{name}")
                   and line in (None, finding["source"]["line"])
                   for finding in findings for name, line in places):
            missing.append(f"  {expected['rule']} at {' or '.join(expected['at'])}")
    require(not missing, "missing:\n" + "\n".join(missing) + "\nfound:\n" + describe(findings))


def measure(options, command, folder):
    """(standard output, measurements) of the program under observation."""
    output = folder / "measurements.json"
    text = run([options.reprobe, "run", "-o", output, "--", *command]).stdout
    document = read_json(output, "reprobe-measurements/1")
    require(document["complete"], f"the measurements are not complete: {document.get('reason')}")
    return text, document["entries"]


def entries_text(entries):
    return "\n".join(f"  {e.get('operator', e.get('kernel'))} {e.get('signature', '')}: {e['verdict']} {e.get('reason', '')}"
                     f" ({e.get('distinct')} of {e.get('rounds')})" for e in entries) or "  none"


def measured(options, sample):
    """The clean version measures no variance and trains to the same bits as unobserved; the planted operator varies."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = trainer(options, sample, "clean", folder)
        plain = parameter_hash(run(command).stdout)
        text, entries = measure(options, command, folder)
        require(parameter_hash(text) == plain,
                f"{sample}-clean: {parameter_hash(text)} under observation, {plain} without")
        varying = [entry for entry in entries if entry["verdict"] == "varies"]
        stable = [entry for entry in entries if entry["verdict"] == "stable"]
        require(not varying, f"{sample}-clean varies:\n{entries_text(varying)}")
        require(len(stable) >= 10, f"{sample}-clean: only {len(stable)} operations were examined:\n{entries_text(entries)}")
        if sample != "custom-kernel":
            return
        own = [entry for entry in entries if entry.get("operator") == "voxel::pool"]
        require(own and all(entry["verdict"] == "stable" for entry in own),
                f"{sample}-clean: voxel::pool was not found stable:\n{entries_text(own)}")

        _, entries = measure(options, trainer(options, sample, "planted", folder), folder)
        own = [entry for entry in entries if entry.get("operator") == "voxel::pool" and entry["verdict"] == "varies"]
        require(own, f"{sample}-planted: voxel::pool was not found varying:\n{entries_text(entries)}")
        require(any(2 <= entry["distinct"] <= entry["rounds"] and entry["differing_share"] > 0 and entry["max_ulp"] >= 1
                    and pathlib.PurePath(entry["source"]["file"]).name in ("voxel_pool.cpp", "network.h")
                    for entry in own),
                f"{sample}-planted: what is said of voxel::pool cannot be:\n{json.dumps(own, indent=1)}")


def joined(options, sample):
    """The joined report of the demo: the planted operator varies where it was flagged, the clean version passes."""
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            findings, report = folder / "findings.json", folder / "report.json"
            run([options.reprobe, "scan", "-p", options.build, "-o", findings, f"samples/{sample}/{version}"],
                cwd=options.source, codes=(0, 1))
            measure(options, trainer(options, sample, version, folder), folder)
            inputs = [findings, folder / "measurements.json"]
            code = run([options.reprobe, "report", *inputs, "--format", "json", "-o", report], codes=(0, 1)).returncode
            document = read_json(report, "reprobe-report/1")
            text = run([options.reprobe, "report", *inputs], codes=(code,)).stdout
            page = run([options.reprobe, "report", *inputs, "--format", "html"], codes=(code,)).stdout
        require(document["complete"] and document["counts"]["operations"] >= 10, f"too little was measured: {document['counts']}")
        require(document["verdict"] in text and page.startswith("<!doctype html>"), f"the formats disagree:\n{text}")
        if version == "clean":
            require(code == 0 and not document["items"], f"the clean version does not pass ({code}):\n{text}")
            continue
        varying = [item for item in document["items"] if item["state"] == "varies" and item["rule"] == "float-atomic"
                   and any(m["operator"] == "voxel::pool" and m["distinct"] > 1 for m in item["measurements"])]
        require(code == 1 and varying, f"voxel::pool is not reported as flagged and varying ({code}):\n{text}")
        require("voxel::pool" in page and "distinct results in 20 rounds" in text, f"the figures are missing:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parent.parent, help="the repository")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder")
    parser.add_argument("--reprobe", type=pathlib.Path, help="the reprobe command")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("expectations", help=expectations.__doc__)
    commands.add_parser("repeats", help=repeats.__doc__).add_argument("sample")
    commands.add_parser("measured", help=measured.__doc__).add_argument("sample")
    commands.add_parser("joined", help=joined.__doc__).add_argument("sample")
    scanning = commands.add_parser("scan", help=scan.__doc__)
    scanning.add_argument("sample")
    scanning.add_argument("version", choices=VERSIONS)
    options = parser.parse_args()
    options.source, options.build = options.source.resolve(), options.build.resolve()
    if options.command in ("scan", "measured", "joined") and not options.reprobe:
        parser.error("--reprobe is needed")
    options.reprobe = options.reprobe and options.reprobe.resolve()
    try:
        require(not options.reprobe or options.reprobe.is_file(), f"{options.reprobe}: not there")
        if options.command == "expectations":
            expectations(options)
        elif options.command == "repeats":
            repeats(options, options.sample)
        elif options.command == "measured":
            measured(options, options.sample)
        elif options.command == "joined":
            joined(options, options.sample)
        else:
            scan(options, options.sample, options.version)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
