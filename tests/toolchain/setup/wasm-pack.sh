#!/usr/bin/env bash
# Installs wasm-pack, which runs Rust's tests in browsers.
set -euo pipefail
. "$(dirname "$0")/cargo-tool.sh"

cargo_tool wasm-pack 0.15.1 wasm-pack
