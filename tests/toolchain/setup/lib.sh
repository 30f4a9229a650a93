# shellcheck shell=bash
# Functions of the set-up scripts. Source this file, do not run it.
# stderr is for people. stdout has only the `export` lines that setup.sh collects in target/toolchain.env.
# Written for the bash 3.2 that macOS ships.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
tools="$root/target/tools" # for tools that the user has in another version
PATH="$tools/bin:$PATH"

log() { printf 'set-up: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# provide NAME VALUE: prints one line of the environment file.
provide() { printf 'export %s=%q\n' "$1" "$2"; }

# first_of COMMAND-OR-PATH…: prints the path of the first one that exists.
first_of() {
  local candidate
  for candidate in "$@"; do
    if command -v "$candidate" 2>/dev/null; then return 0; fi
  done
  return 1
}

# within SECONDS COMMAND…: runs a command with a time limit. macOS has no timeout(1), but it has perl.
within() {
  if have timeout; then timeout -k 5 "$@"; else perl -e 'alarm shift; exec @ARGV' "$@"; fi
}

# debian_packages PACKAGE…: installs packages as root on a Debian-like system; otherwise prints the command.
debian_packages() {
  if ! have apt-get; then
    log "missing on this machine (Debian's names): $*"
    return 1
  elif [ "$(id -u)" != 0 ]; then
    log "missing; please run: sudo apt-get install --no-install-recommends $*"
    return 1
  fi
  log "installing with apt-get: $*"
  {
    # A new machine has no package lists, or outdated ones.
    [ -n "${package_lists_are_new:-}" ] || within 120 apt-get -q update || return 1
    package_lists_are_new=yes
    DEBIAN_FRONTEND=noninteractive within 900 apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
  } >&2
}
