#!/usr/bin/env bash
# Installs the tools for `npm test`, and writes their paths to target/toolchain.env.
# Installed tools are used as they are. If all are installed, this takes under a second.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

parts="$root/target/toolchain"
rm -rf "$parts"
mkdir -p "$parts"
failed=0

# apt-get waits for the network and cargo for the processor, so they run in parallel.
# The first four scripts call apt-get, which takes a lock, so they run one after the other.
(
  status=0
  "$here/rust-wasm.sh" >"$parts/rust-wasm" || status=1
  "$here/browsers.sh" >"$parts/browsers" || status=1
  "$here/databases.sh" >"$parts/databases" || status=1
  "$here/python.sh" >"$parts/python" || status=1
  exit $status
) &
"$here/wasm-tools.sh" >"$parts/wasm-tools" || failed=1
wait $! || failed=1
rm -rf "$root/target/tools-build"

{
  cat "$parts"/*
  # shellcheck disable=SC2016 # the PATH of the process that reads the file
  if [ -d "$tools/bin" ]; then printf 'export PATH=%q:"$PATH"\n' "$tools/bin"; fi
} >"$root/target/toolchain.env.new"
mv "$root/target/toolchain.env.new" "$root/target/toolchain.env"
exit $failed
