#!/usr/bin/env bash
# Sets up, builds and runs every test that this machine can run; ends with CTest's closing lines.
#   tests/run.sh [PRESET] [CTEST OPTIONS]      PRESET: release (default), debug or asan
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
case "${1:-}" in release | debug | asan) preset=$1 && shift ;; esac

"$root/tests/setup.sh" "$preset"
export REPROBE_CACHE_DIR="$root/build/$preset/test-cache" # not the user's
# Tests that time threads against each other share few cores: two at a time, whatever the machine has.
exec ctest --test-dir "$root/build/$preset" --output-on-failure --timeout 900 -j "${REPROBE_TEST_JOBS:-2}" "$@"
