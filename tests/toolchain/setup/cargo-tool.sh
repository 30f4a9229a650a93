# shellcheck shell=bash
# cargo_tool CRATE VERSION COMMAND…: installs the commands of a crate at this exact version. Source this file, do not run it.
# If the user has another version, it stays, and this one is installed below target/, which is first in the runner's PATH.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo_tool() {
  local crate=$1 version=$2
  shift 2
  if at_version "$version" "$@"; then return 0; fi
  local into=()
  if have "$1"; then
    into=(--root "$tools")
    log "keeping the installed version of $1"
  fi
  log "building $crate $version with cargo install (one to three minutes)"
  # First with the crate's lock file. A mirror of the registry may lack a version of that file.
  install_crate "$crate" "$version" --locked ${into[@]+"${into[@]}"} || {
    log "the lock file of $crate failed; retrying with the newest versions"
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

# The tools run for seconds and build for minutes: little optimisation, and one target directory for shared crates.
install_crate() {
  local crate=$1 version=$2
  shift 2
  CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$root/target/tools-build" \
    within 1200 cargo install --quiet "$crate" --version "$version" "$@" >&2
}
