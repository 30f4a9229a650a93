#!/usr/bin/env bash
# Installs wasm-bindgen (with wasm-bindgen-test-runner). wasm-opt comes with npm's `binaryen`.
set -euo pipefail
. "$(dirname "$0")/cargo-tool.sh"

# The command and the crate share a private format, so their versions must be equal. Cargo.toml has the version.
pinned=$(sed -n 's/^wasm-bindgen *= *.*"=\([0-9][0-9.]*\)".*/\1/p' "$root/Cargo.toml" | head -n 1)
[ -n "$pinned" ] || {
  log 'Cargo.toml pins no wasm-bindgen = "=x.y.z"'
  exit 1
}

cargo_tool wasm-bindgen-cli "$pinned" wasm-bindgen wasm-bindgen-test-runner
