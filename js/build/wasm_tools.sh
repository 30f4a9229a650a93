#!/usr/bin/env bash
# Installs the tools that build the wasm: a Rust for wasm32 and wasm-bindgen; wasm-opt is a package of npm. Installed tools
# are used as they are. Prints what the build needs in its environment, a NAME="VALUE" a line.
#
# setup.sh of the tests sources this file for its functions. stderr is for people. Written for the bash 3.2 that macOS ships.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools="$root/target/tools" # for tools that the user has in another version, or not at all
PATH="$tools/bin:$PATH"

log() { printf 'set-up: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# provide NAME VALUE: prints one line of the environment file.
provide() { printf '%s="%s"\n' "$1" "$2"; }

# debian_packages PACKAGE…: installs packages as root on a Debian-like system; otherwise prints the command.
debian_packages() {
  if ! have apt-get || [ "$(id -u)" != 0 ]; then
    log "missing; on Debian, run: sudo apt-get install --no-install-recommends $*"
    return 1
  fi
  log "installing with apt-get: $*"
  {
    # A new machine has no package lists, or outdated ones.
    [ -n "${package_lists_are_new:-}" ] || apt-get -q update || return 1
    package_lists_are_new=yes
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
  } >&2
}

# cargo_tool CRATE VERSION COMMAND…: installs the commands of a crate at this exact version.
cargo_tool() {
  local crate=$1 version=$2 command missing=
  shift 2
  for command in "$@"; do
    [ "$("$command" --version 2>/dev/null | awk 'NR == 1 { print $2 }')" = "$version" ] || missing=yes
  done
  [ -n "$missing" ] || return 0
  log "building $crate $version with cargo install (one to three minutes)"
  # First with the crate's lock file. A mirror of the registry may lack a version of that file.
  install_crate "$crate" "$version" --locked || {
    log "the lock file of $crate failed; retrying with the newest versions"
    install_crate "$crate" "$version"
  }
}

# The tools run for seconds and build for minutes: little optimisation, and one target directory for shared crates.
install_crate() {
  local crate=$1 version=$2
  shift 2
  CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$root/target/tools-build" \
    cargo install --quiet --root "$tools" "$crate" --version "$version" "$@" >&2
}

# The command and the crate share a private format, so their versions must be equal. wasm-opt comes with npm's `binaryen`.
set_up_wasm_bindgen() {
  local pinned
  pinned=$(sed -n 's/^wasm-bindgen *= *.*"=\([0-9][0-9.]*\)".*/\1/p' "$root/src/wasm/Cargo.toml" | head -n 1)
  cargo_tool wasm-bindgen-cli "$pinned" wasm-bindgen wasm-bindgen-test-runner
}

target=wasm32-unknown-unknown
fallback=debian-wasm
scratch="$root/target/wasm-std"

# Compiles an empty crate: this fails if there is no std for this very compiler.
compiles_wasm() {
  mkdir -p "$scratch"
  printf '' | rustc --target $target --crate-type rlib --crate-name probe -o "$scratch/probe.rlib" - 2>/dev/null
}

# A Rust for wasm32: the user's, or with rustup's target, or Debian's with a std that is built here.
set_up_rust_wasm() {
  local sysroot
  if compiles_wasm; then return 0; fi
  if ! RUSTUP_TOOLCHAIN=$fallback compiles_wasm; then
    log "adding Rust's $target target with rustup"
    if rustup target add $target >&2 && compiles_wasm; then return 0; fi
    log "rustup could not add the target; using Debian's Rust for the wasm part"
    debian_packages rustc-web cargo-web rust-web-src rust-web-clippy lld-19
    sysroot=$(/usr/bin/rustc --print sysroot)
    build_std "$sysroot"
    rustup toolchain link $fallback "$sysroot" >&2
    RUSTUP_TOOLCHAIN=$fallback compiles_wasm
  fi
  provide RUSTUP_TOOLCHAIN $fallback
  # Debian's rustc has no linker for wasm.
  provide CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER wasm-ld-19
}

# Debian's packages have no std for this target, but rust-web-src has its source, and Debian's cargo can build it.
build_std() {
  local sysroot=$1
  log "building std for $target with Debian's Rust, once (half a minute)"
  rm -rf "$scratch"
  mkdir -p "$scratch/src"
  printf '[package]\nname = "wasm-std"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n' >"$scratch/Cargo.toml"
  printf '' >"$scratch/src/lib.rs"
  (
    cd "$scratch"
    unset RUSTUP_TOOLCHAIN CARGO_TARGET_DIR RUSTFLAGS
    RUSTC_BOOTSTRAP=1 RUSTC="$sysroot/bin/rustc" "$sysroot/bin/cargo" build --release --target $target \
      -Zbuild-std=std,panic_abort,panic_unwind,test,proc_macro
  ) >&2
  local lib="$sysroot/lib/rustlib/$target/lib"
  rm -rf "$lib"
  mkdir -p "$lib"
  rm -f "$scratch/target/$target/release/deps/"libwasm_std*
  cp "$scratch/target/$target/release/deps/"*.rlib "$lib/"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set_up_rust_wasm
  set_up_wasm_bindgen
fi
