#!/usr/bin/env bash
# Builds the run half and runs what needs a GPU. Needs this repository, LibTorch, nvcc, CMake, a C++ compiler and the
# libraries that the run half is built from (fmt, nlohmann-json, CLI11, GoogleTest; PyYAML): no LLVM, no network.
#   tests/gpu/run.sh [BUILD_DIRECTORY]
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build/gpu}
jobs=$(nproc)

say() { printf '[gpu] %s\n' "$*" >&2; }
die() { # what, why, what to do
  printf '[gpu] failed: %s\n      why: %s\n      to do: %s\n' "$1" "$2" "$3" >&2
  exit 3
}

command -v cmake >/dev/null || die "no build" "cmake is not on PATH" "install CMake 3.25 or newer"
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
mkdir -p "$build" || die "no build folder" "$build cannot be made" "name another folder"

say "configuring in $build"
cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DREPROBE_TESTS=ON -DREPROBE_SAMPLES=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON >"$build/configure.log" 2>&1 || {
  tail -n 30 "$build/configure.log" >&2
  die "CMake could not configure" "see above and $build/configure.log" "install what is missing"
}
grep -E '^--   (scan|operation observer|device code):' "$build/configure.log" >&2
say "building with $jobs jobs"
cmake --build "$build" -j "$jobs" >"$build/build.log" 2>&1 || {
  grep -E 'error|FAILED' "$build/build.log" | head -n 40 >&2
  die "the build failed" "see above and $build/build.log" "mend it and start again"
}

failed=0
say "testing"
(cd "$build" && ctest --output-on-failure -L gpu) || failed=1
(cd "$build" && ctest --output-on-failure -LE gpu -R '^(Compare|Run|Replay|Observe|OutputName|ParseBytes|FindProgram|Collect|Symbols)\.') || failed=1

say "comparison against copies on the device"
bench=$(find "$build/tests" -name compare_bench -type f)
if [ -x "$bench" ]; then "$bench" || failed=1; fi

say "what being attached costs"
cmake --build "$build" -j "$jobs" --target observe_cost >>"$build/build.log" 2>&1 &&
  python3 "$root/tests/bench/observe_bench.py" "$build" --device cuda --turns 3 || failed=1

results=$build/samples-measured
rm -rf "$results"
mkdir -p "$results"
shopt -s nullglob
for sample in "$build"/samples/*-planted "$build"/samples/*-clean; do
  [ -f "$sample" ] && [ -x "$sample" ] || continue
  name=$(basename "$sample")
  arguments=()
  case $name in image-classifier-*) arguments=(--data "$results/images") ;; esac
  say "measuring $name"
  (cd "$results" && timeout 240 "$build/bin/reprobe" run -o "$results/$name.json" --budget 60 -- "$sample" "${arguments[@]}" >"$results/$name.out" 2>"$results/$name.err")
  code=$?
  tail -n 1 "$results/$name.err" | sed 's/^/[gpu]   /' >&2
  [ $code -eq 0 ] || { say "$name ended with $code"; tail -n 20 "$results/$name.err" >&2; failed=1; }
done

python3 - "$results" <<'TABLE'
import glob, json, os, sys
rows = []
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json"))):
    data = json.load(open(path))
    sample = os.path.basename(path)[:-5]
    for entry in data["entries"]:
        if entry["verdict"] == "varies":
            source = entry.get("source", {})
            rows.append((sample, entry.get("operator", "?"), entry["direction"], entry.get("device", "?"),
                         "%s:%s" % (os.path.basename(source.get("file", "?")), source.get("line", 0)),
                         "%d/%d" % (entry["distinct"], entry["rounds"]), "%.3g" % float(entry["differing_share"]),
                         "%.3g" % float(entry["max_ulp"]), "blamed" if entry.get("blamed") else ""))
    verdicts = [entry["verdict"] for entry in data["entries"]]
    print("%-32s %4d vary, %4d stable, %4d not examined" % (sample, verdicts.count("varies"), verdicts.count("stable"), verdicts.count("not-examined")))
if rows:
    print()
    head = ("sample", "operator", "direction", "device", "line", "distinct", "share", "max ULP", "")
    widths = [max(len(row[i]) for row in rows + [head]) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
TABLE
if [ $failed -eq 0 ]; then say "all passed"; else say "something failed"; fi
exit $failed
