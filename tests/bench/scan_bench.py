#!/usr/bin/env python3
"""How fast `reprobe scan` is, as ratios to clang and clang-tidy on the same files, taken turn by turn in one run.

    tests/bench/scan_bench.py build/release/bin/reprobe [--only NAME] [--rounds N] [--output FILE.md]

Needs LibTorch (as `reprobe scan` finds it), clang++-22 and run-clang-tidy-22. Times are of the processor (user and
system, of all child processes) as well as of the clock: on a busy machine the former is the fairer.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import libtorch_programs


class Usage:
    def __init__(self, wall, processor, memory, code, errors):
        self.wall, self.processor, self.memory, self.code, self.errors = wall, processor, memory, code, errors


def run(command, cwd=None, environment=None):
    """Runs it to its end; memory is the largest process's, in MiB."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode,
                     errors.read().decode(errors="replace"))


class Bench:
    def __init__(self, arguments, folder):
        self.reprobe, self.rounds, self.folder = os.path.abspath(arguments.reprobe), arguments.rounds, folder
        self.files, self.jobs = arguments.files, arguments.jobs
        self.torch = pathlib.Path(arguments.torch_root or self.find_torch())
        self.rows = []

    def find_torch(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        found = subprocess.run(["cmake", "-P", root / "runtime/cmake/FindTorchRoot.cmake"], capture_output=True, text=True)
        lines = (found.stdout + found.stderr).split()
        if not lines:
            sys.exit("no LibTorch found: give --torch-root")
        return lines[-1]

    def flags(self, standard="17"):
        return [f"-std=c++{standard}", "-isystem", f"{self.torch}/include", "-isystem",
                f"{self.torch}/include/torch/csrc/api/include"]

    def project(self, name, count, more_flags=lambda i: [], header=lambda i: "torch/torch.h"):
        """A folder of programs with their compilation database."""
        folder = self.folder / name
        folder.mkdir()
        entries = []
        for i in range(count):
            file = folder / f"trainer{i}.cpp"
            file.write_text(libtorch_programs.program(i, header(i)))
            entries.append({"directory": str(folder), "file": str(file),
                            "arguments": ["clang++", *self.flags(), *more_flags(i), "-c", str(file)]})
        (folder / "compile_commands.json").write_text(json.dumps(entries))
        return folder

    def scan(self, what, cache, *more, cwd=None):
        usage = run([self.reprobe, "scan", str(what), "--cache-dir", str(cache), *more], cwd=cwd)
        if usage.code not in (0, 1):
            sys.exit(f"reprobe scan {what} ended with {usage.code}: {usage.errors}")
        return usage

    def clang(self, file, *more):
        usage = run(["clang++-22", "-fsyntax-only", *self.flags(), *more, str(file)])
        if usage.code != 0:
            sys.exit(f"clang++-22 {file}: {usage.errors}")
        return usage

    def row(self, what, ours, peers, peer_name, goal, inverse=False):
        def ratio(part):
            a, b = statistics.median(map(part, ours)), statistics.median(map(part, peers))
            return b / a if inverse else a / b
        wall, processor = ratio(lambda u: u.wall), ratio(lambda u: u.processor)
        sign = "×" if inverse else ""
        self.rows.append((what, f"{statistics.median(u.wall for u in ours):.3f} s",
                          f"{peer_name}: {statistics.median(u.wall for u in peers):.2f} s",
                          f"{wall:.3f}{sign}", f"{processor:.3f}{sign}", goal))
        print(*self.rows[-1], sep=" | ", flush=True)

    def note(self, what, value, goal):
        self.rows.append((what, value, "", "", "", goal))
        print(*self.rows[-1], sep=" | ", flush=True)

    def wait_for_header(self, cache, seconds=600):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if list((cache / "headers").glob("*.about")):
                return
            time.sleep(0.2)
        sys.exit("no precompiled header was made in the background")

    def cold(self):
        """One file, nothing in the cache: the header is made after the answer."""
        folder, ours, peers = self.project("cold", 1), [], []
        for i in range(self.rounds):
            cache = self.folder / f"cold-cache-{i}"
            ours.append(self.scan(folder / "trainer0.cpp", cache))
            self.wait_for_header(cache)
            peers.append(self.clang(folder / "trainer0.cpp"))
        self.row("one file, cold cache", ours, peers, "clang++ -fsyntax-only", "≤ 1.1")

    def edited(self, name="edited file, warm cache", header="torch/torch.h", includes=()):
        folder = self.project(re.sub(r"\W", "-", name), 1, more_flags=lambda i: list(includes), header=lambda i: header)
        cache, file, ours, peers = self.folder / f"cache-{re.sub(r'[^a-z]', '-', name)}", folder / "trainer0.cpp", [], []
        self.scan(file, cache)
        self.wait_for_header(cache)
        for i in range(self.rounds):
            file.write_text(libtorch_programs.program(100 + i, header))
            ours.append(self.scan(file, cache))
            peers.append(self.clang(file, *includes))
        self.row(name, ours, peers, "clang++ -fsyntax-only", "< 0.05")
        self.note(f"{name}: memory of a worker", f"{max(u.memory for u in ours):.0f} MiB", "< 1024 MiB")

    def extension(self):
        python = subprocess.run([sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
                                capture_output=True, text=True).stdout.strip()
        if not os.path.exists(f"{python}/Python.h"):
            print("torch/extension.h left out: no Python.h")
            return
        self.edited("edited file of an extension (torch/extension.h)", "torch/extension.h",
                    [f"-I{python}", "-DTORCH_EXTENSION_NAME=mine"])

    def many(self):
        """A project, cold, on two cores, against run-clang-tidy with one check."""
        folder, cache = self.project("many", self.files), self.folder / "many-cache"
        ours = [self.scan(folder, cache, f"-j{self.jobs}")]
        self.note(f"{self.files} files, cold: memory of the largest process", f"{ours[0].memory:.0f} MiB",
                  "< 1024 MiB, the header aside")
        peers = [run(["run-clang-tidy-22", "-p", str(folder), f"-j{self.jobs}", "-quiet",
                      "-checks=-*,bugprone-random-generator-seed"], cwd=folder)]
        self.row(f"{self.files} files, cold, {self.jobs} cores", ours, peers, "run-clang-tidy, one check", "> 10×", inverse=True)
        self.unchanged(folder, cache)
        self.jobs_scale(folder)

    def unchanged(self, folder, cache):
        rounds = [self.scan(folder, cache) for _ in range(max(self.rounds, 5))]
        nothing = self.folder / "nothing"
        nothing.mkdir()
        (nothing / "empty.cpp").write_text("int x;\n")
        self.scan(nothing, cache)
        start = [self.scan(nothing, cache) for _ in range(max(self.rounds, 5))]
        each = [statistics.median(u.processor for u in runs) for runs in (rounds, start)]
        wall = statistics.median(u.wall for u in rounds)
        self.note("unchanged project, a file (start of the program included)", f"{wall / self.files * 1000:.2f} ms",
                  "< 5 ms")
        self.note("unchanged project, a file, processor time without the program's start",
                  f"{(each[0] - each[1]) / self.files * 1000:.2f} ms", "< 5 ms")

    def jobs_scale(self, folder):
        """The header is there, the facts are not."""
        walls = {}
        for jobs in (1, 2):
            cache = self.folder / "many-cache"
            shutil.rmtree(cache / "facts")
            walls[jobs] = self.scan(folder, cache, f"-j{jobs}")
        self.note(f"{self.files} files, header there, -j1 and -j2",
                  f"{walls[1].wall:.2f} s and {walls[2].wall:.2f} s ({walls[1].wall / walls[2].wall:.2f}×)", "scales")
        self.note(f"{self.files} files, header there: memory of the largest process", f"{walls[2].memory:.0f} MiB",
                  "< 1024 MiB")

    def mixed(self):
        """Targets with other flags share a header where facts allow; each standard needs its own."""
        variants = [["-O0"], ["-O3", "-fPIC"], ["-O2", "-march=native"], ["-O2", "-std=c++20"], ["-fPIC", "-std=c++20", "-g"],
                    ["-Dtrainer_EXPORTS", "-fPIC"]]
        folder = self.project("mixed", 12, more_flags=lambda i: variants[i % len(variants)])
        cache = self.folder / "mixed-cache"
        ours = [self.scan(folder, cache, f"-j{self.jobs}")]
        headers = list((cache / "headers").glob("*.pch"))
        peers = [run(["run-clang-tidy-22", "-p", str(folder), f"-j{self.jobs}", "-quiet",
                      "-checks=-*,bugprone-random-generator-seed"], cwd=folder)]
        self.row(f"12 files of {len(variants)} targets (-O, -fPIC, -march, -D, -std), cold, {self.jobs} cores", ours, peers,
                 "run-clang-tidy, one check", "")
        self.note("precompiled headers for them", str(len(headers)), "one a standard")

    def table(self):
        versions = [subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
                    for command in ([self.reprobe, "--version"], ["clang++-22", "--version"])]
        torch = (self.torch / "build-version").read_text().strip() if (self.torch / "build-version").exists() else ""
        version = re.search(r'PACKAGE_VERSION "([\d.]+)', (self.torch / "share/cmake/Torch/TorchConfigVersion.cmake").read_text())
        model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
        lines = [f"{time.strftime('%Y-%m-%d')}, {versions[0]}, {versions[1]}, LibTorch {version.group(1) if version else torch}, "
                 f"{os.cpu_count()} × {model.group(1) if model else platform.processor()}, load {os.getloadavg()[0]:.1f}", "",
                 "| what | reprobe scan | peer | clock ratio | processor ratio | goal |", "|---|---|---|---|---|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reprobe")
    parser.add_argument("--only", action="append", choices=["cold", "edited", "extension", "many", "mixed"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--torch-root")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reprobe-bench-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for name in arguments.only or ["edited", "extension", "cold", "many", "mixed"]:
            getattr(bench, name)()
        table = bench.table()
    print("\n" + table)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(f"    {' '.join(sys.argv)}\n\n{table}")


if __name__ == "__main__":
    main()
