#!/usr/bin/env bash
# wasm-pack and wasm-bindgen (which brings wasm-bindgen-test-runner). wasm-opt comes with npm's `binaryen`.
set -euo pipefail
. "$(dirname "$0")/cargo-tool.sh"

# The command and the crate speak a private format: their versions must be equal. The manifest is where that version is written.
pinned=$(sed -n 's/^wasm-bindgen *= *.*"=\([0-9][0-9.]*\)".*/\1/p' "$root/Cargo.toml" | head -n 1)
[ -n "$pinned" ] || {
  say 'Cargo.toml pins no wasm-bindgen = "=x.y.z"'
  exit 1
}

cargo_tool wasm-pack 0.15.1 wasm-pack
cargo_tool wasm-bindgen-cli "$pinned" wasm-bindgen wasm-bindgen-test-runner
