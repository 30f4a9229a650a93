#!/usr/bin/env bash
# Finds a Rust for wasm32: the user's, or with rustup's target, or Debian's with a std that is built here.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

target=wasm32-unknown-unknown
fallback=debian-wasm
scratch="$root/target/wasm-std"

# Compiles an empty crate: this fails if there is no std for this very compiler.
compiles_wasm() {
  mkdir -p "$scratch"
  printf '' | within 60 rustc --target $target --crate-type rlib --crate-name probe -o "$scratch/probe.rlib" - 2>/dev/null
}

use_fallback() {
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
    RUSTC_BOOTSTRAP=1 RUSTC="$sysroot/bin/rustc" within 600 "$sysroot/bin/cargo" build --release --target $target \
      -Zbuild-std=std,panic_abort,panic_unwind,test,proc_macro
  ) >&2
  local lib="$sysroot/lib/rustlib/$target/lib"
  rm -rf "$lib"
  mkdir -p "$lib"
  rm -f "$scratch/target/$target/release/deps/"libwasm_std*
  cp "$scratch/target/$target/release/deps/"*.rlib "$lib/"
}

if compiles_wasm; then exit 0; fi

if have rustup; then
  if RUSTUP_TOOLCHAIN=$fallback compiles_wasm; then
    use_fallback
    exit 0
  fi
  log "adding Rust's $target target with rustup"
  if within 60 rustup target add $target >&2 && compiles_wasm; then exit 0; fi
  log "rustup could not add the target; using Debian's Rust for the wasm part"
fi

if ! have rustup || ! have apt-get; then
  log "no Rust here compiles for $target; with rustup, run: rustup target add $target"
  exit 1
fi
debian_packages rustc-web cargo-web rust-web-src rust-web-clippy lld-19
sysroot=$(/usr/bin/rustc --print sysroot)
build_std "$sysroot"
rustup toolchain link $fallback "$sysroot" >&2
RUSTUP_TOOLCHAIN=$fallback compiles_wasm || {
  log "the std built with Debian's Rust does not work"
  exit 1
}
use_fallback
