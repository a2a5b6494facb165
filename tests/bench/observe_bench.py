#!/usr/bin/env python3
"""What being attached costs a program in which no operation is selected: ratios of a program under `reprobe run` to
the same program alone, taken in turns on the same machine.

  tests/bench/observe_bench.py BUILD_DIRECTORY [--device cpu|cuda] [--turns 5]

BUILD_DIRECTORY holds the targets reprobe, reprobe-op, reprobe-preload and observe_cost. "attached" selects an operator
that the dispatcher does not know; "selected elsewhere" one that it knows and the program never calls, so that every
call is looked at and let go. To reach: attached under 1 us an operator and under 1 % of a step."""
import argparse
import glob
import os
import statistics
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--device", default="cpu")
parser.add_argument("--turns", type=int, default=5)
parser.add_argument("--samples", action="store_true", help="also the trainers of samples/, clean, where they are built")
arguments = parser.parse_args()

program = os.path.join(arguments.build, "tests", "bench", "observe_cost")
reprobe = os.path.join(arguments.build, "bin", "reprobe")
WAYS = {"alone": [], "attached": ["no::such"], "selected elsewhere": ["aten::lgamma"], "all, budget used up": ["*"]}


def measure(globs, folder):
    command = [program, arguments.device]
    if globs:
        command = [reprobe, "run", "-o", os.path.join(folder, "m.json"), "--ops", globs[0], "--budget", "0.001", "--"] + command
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 3):  # 3: nothing matched, as it is meant
        raise SystemExit("%s failed (%d): %s" % (command, run.returncode, run.stderr))
    return [float(value) for value in run.stdout.split()]


results = {way: [] for way in WAYS}
with tempfile.TemporaryDirectory() as folder:
    for _ in range(arguments.turns):
        for way, globs in WAYS.items():
            results[way].append(measure(globs, folder))

best = {way: [min(column) for column in zip(*rows)] for way, rows in results.items()}
spread = statistics.median(row[1] for row in results["alone"]) / best["alone"][1]
print("| %s | operator, us | more than alone, us | training step, us | ratio to alone |" % arguments.device)
print("|---|---|---|---|---|")
for way, (operator, step) in best.items():
    print("| %s | %.3f | %+.3f | %.1f | %.4f |" % (way, operator / 1e3, (operator - best["alone"][0]) / 1e3, step, step / best["alone"][1]))
print("\nbest of %d turns; the median step alone takes %.3f of the best" % (arguments.turns, spread))


def seconds(command):
    start = time.monotonic()
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode not in (0, 3):
        raise SystemExit("%s failed" % command)
    return time.monotonic() - start


def sample_ratio(trainer, folder):
    """Of what more epochs take: start and end of a program, and of reprobe, are in both terms."""
    command = [trainer, "--device", arguments.device]
    if "image-classifier" in trainer:
        command += ["--data", os.path.join(folder, "images")]
    attach = [reprobe, "run", "-o", os.path.join(folder, "m.json"), "--ops", "no::such", "--"]
    best = {}
    for _ in range(arguments.turns):
        for way, before in (("alone", []), ("attached", attach)):
            for epochs in (1, 5):
                took = seconds(before + command + ["--epochs", str(epochs)])
                best[way, epochs] = min(took, best.get((way, epochs), took))
    return (best["attached", 5] - best["attached", 1]) / (best["alone", 5] - best["alone", 1])


if arguments.samples:
    with tempfile.TemporaryDirectory() as folder:
        for trainer in sorted(glob.glob(os.path.join(arguments.build, "samples", "*-clean"))):
            if os.path.isfile(trainer) and os.access(trainer, os.X_OK):
                print("%s: attached takes %.4f of alone" % (os.path.basename(trainer), sample_ratio(os.path.abspath(trainer), folder)))
