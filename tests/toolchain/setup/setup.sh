#!/usr/bin/env bash
# Installs the tools for `npm test`, and writes their paths to target/toolchain.env.
# Installed tools are used as they are. If all are installed, this takes under a second.
#
#   setup.sh                            all tools
#   setup.sh rust-wasm wasm-bindgen     only what these scripts install; the paths of the others stay
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

parts="$root/target/toolchain"
mkdir -p "$parts"
failed=0

# install SCRIPT…: runs the wanted ones of these scripts.
wanted=" $* "
install() {
  local name status=0
  for name in "$@"; do
    if [ "$wanted" != '  ' ] && [ "${wanted#* "$name" }" = "$wanted" ]; then continue; fi
    rm -f "$parts/$name"
    "$here/$name.sh" >"$parts/$name" || status=1
  done
  return $status
}

# apt-get waits for the network and cargo for the processor, so they run in parallel.
# The first four scripts call apt-get, which takes a lock, so they run one after the other.
install rust-wasm browsers databases python &
install wasm-bindgen wasm-pack || failed=1
wait $! || failed=1
rm -rf "$root/target/tools-build"

{
  cat "$parts"/*
  # shellcheck disable=SC2016 # the PATH of the process that reads the file
  if [ -d "$tools/bin" ]; then printf 'export PATH=%q:"$PATH"\n' "$tools/bin"; fi
} >"$root/target/toolchain.env.new"
mv "$root/target/toolchain.env.new" "$root/target/toolchain.env"
exit $failed
