#!/usr/bin/env bash
# Scans a sample trainer, runs it under Reprobe, and prints the joined report.
#   samples/demo.sh [SAMPLE]      SAMPLE: custom-kernel (default), image-classifier or graph-network
# Sets up and builds first; on a machine without a GPU everything happens on the CPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sample=${1:-custom-kernel}
say() { printf '\n== %s\n' "$*" >&2; }

[ -d "$root/samples/$sample/planted" ] || {
  printf 'demo.sh: no sample named %s; there are: %s\n' "$sample" "$(cd "$root/samples" && ls -d */planted | cut -d/ -f1 | xargs)" >&2
  exit 2
}
"$root/tests/setup.sh" release

build=$root/build/release
reprobe=$build/bin/reprobe
out=$build/demo/$sample
mkdir -p "$out"
cd "$root"

# The exit codes 1 (findings) and 3 (no scan half in this build) do not end the demo; any other does.
tolerate() {
  local code=0
  "$@" || code=$?
  [ "$code" -le 1 ] || { [ "$code" -eq 3 ] && [ "${allow_missing:-}" = yes ]; } || exit "$code"
}

say "reprobe scan: what the source says ($sample, planted version)"
rm -f "$out/findings.json"
allow_missing=yes tolerate "$reprobe" scan -p "$build" -o "$out/findings.json" "samples/$sample/planted"

say "reprobe run: its operations re-executed while it trains"
arguments=()
[ "$sample" = image-classifier ] && arguments=(--data "$out/images") # it writes its images there first
tolerate "$reprobe" run -o "$out/measurements.json" -- "$build/samples/$sample-planted" "${arguments[@]}"

inputs=("$out/measurements.json")
[ -f "$out/findings.json" ] && inputs=("$out/findings.json" "${inputs[@]}")
say "reprobe report: both joined"
tolerate "$reprobe" report "${inputs[@]}"
"$reprobe" report "${inputs[@]}" --gate none --format json -o "$out/report.json"
"$reprobe" report "${inputs[@]}" --gate none --format html -o "$out/report.html"
say "The same report as a page: ${out#"$root"/}/report.html"
