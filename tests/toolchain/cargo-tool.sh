# shellcheck shell=bash
# cargo_tool CRATE VERSION COMMAND…: the commands of a crate, at exactly that version; sourced, never run.
# Another version that the user has is left alone; ours then goes below target/, which comes first in the runner's PATH.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo_tool() {
  local crate=$1 version=$2
  shift 2
  if at_version "$version" "$@"; then return 0; fi
  local into=()
  if have "$1"; then
    into=(--root "$tools")
    say "keeping the other $1 that is on this machine"
  fi
  say "building $crate $version with cargo install (one to three minutes)"
  # The versions that its authors tested come first; their lock file may name one that a mirror of the registry lacks.
  install_crate "$crate" "$version" --locked ${into[@]+"${into[@]}"} || {
    say "that did not work with the lock file of $crate; now with the versions that the registry has"
    install_crate "$crate" "$version" ${into[@]+"${into[@]}"}
  }
}

at_version() {
  local version=$1 command
  shift
  for command in "$@"; do
    [ "$("$command" --version 2>/dev/null | awk 'NR == 1 { print $2 }')" = "$version" ] || return 1
  done
}

# These run for seconds and are built for minutes: little optimisation, and one target directory so that the tools share crates.
install_crate() {
  local crate=$1 version=$2
  shift 2
  CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$root/target/tools-build" \
    within 1200 cargo install --quiet "$crate" --version "$version" "$@" >&2
}
