# shellcheck shell=bash
# What the set-up scripts share; sourced, never run.
# People read stderr. stdout carries nothing but the `export` lines that setup.sh collects in target/toolchain.env.
# Written for the bash 3.2 that macOS ships.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools="$root/target/tools" # for tools of which the user keeps another version
PATH="$tools/bin:$PATH"

say() { printf 'set-up: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# provide NAME VALUE: one line of the environment file.
provide() { printf 'export %s=%q\n' "$1" "$2"; }

# first_of COMMAND-OR-PATH…: where the first one lies that is there.
first_of() {
  local candidate
  for candidate in "$@"; do
    if command -v "$candidate" 2>/dev/null; then return 0; fi
  done
  return 1
}

# within SECONDS COMMAND…: macOS has no timeout(1), but it has perl.
within() {
  if have timeout; then timeout -k 5 "$@"; else perl -e 'alarm shift; exec @ARGV' "$@"; fi
}

# debian_packages PACKAGE…: installs them where that needs no question (root on a Debian-like system), else says what to do.
debian_packages() {
  if ! have apt-get; then
    say "not found on this machine: what Debian calls $*"
    return 1
  elif [ "$(id -u)" != 0 ]; then
    say "missing; please run: sudo apt-get install --no-install-recommends $*"
    return 1
  fi
  say "installing with apt-get: $*"
  {
    # A fresh machine has no package lists, or old ones, which name files that are gone.
    [ -n "${package_lists_are_new:-}" ] || within 120 apt-get -q update || return 1
    package_lists_are_new=yes
    DEBIAN_FRONTEND=noninteractive within 900 apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
  } >&2
}
