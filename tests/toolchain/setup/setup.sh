#!/usr/bin/env bash
# Installs the tools for `npm test`, and writes their paths to target/toolchain.env.
# Installed tools are used as they are. If all are installed, this takes under a second.
#
#   setup.sh                            all tools
#   setup.sh rust-wasm wasm-bindgen     only these parts; the paths of the others stay
#
# stderr is for people. Written for the bash 3.2 that macOS ships.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
tools="$root/target/tools" # for tools that the user has in another version, or not at all
PATH="$tools/bin:$PATH"

log() { printf 'set-up: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# provide NAME VALUE: prints one line of the environment file.
provide() { printf '%s="%s"\n' "$1" "$2"; }

# first_of COMMAND-OR-PATH…: prints the path of the first one that exists.
first_of() {
  local candidate
  for candidate in "$@"; do
    if command -v "$candidate" 2>/dev/null; then return 0; fi
  done
  return 1
}

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

find_chromium() { first_of chromium google-chrome google-chrome-stable chromium-browser '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; }
find_firefox() { first_of firefox-esr firefox /Applications/Firefox.app/Contents/MacOS/firefox; }
# WebKitGTK's test browser is next to the library, not in the PATH.
find_mini_browser() { first_of /usr/lib/*/webkit2gtk-*/MiniBrowser /usr/lib*/webkit2gtk-*/MiniBrowser /usr/libexec/webkit2gtk-*/MiniBrowser; }

# The three browsers and their WebDriver servers.
set_up_chromium() {
  if ! find_chromium >/dev/null || ! have chromedriver; then debian_packages chromium chromium-driver; fi
  provide CHROMIUM_BINARY "$(find_chromium)"
  provide CHROMEDRIVER "$(first_of chromedriver)"
}

set_up_firefox() {
  find_firefox >/dev/null || debian_packages firefox-esr
  provide FIREFOX_BINARY "$(find_firefox)"
}

# Its package of npm loads a binary from another server, and Debian has none.
set_up_geckodriver() {
  have geckodriver || cargo_tool geckodriver 0.37.1 geckodriver
  provide GECKODRIVER "$(first_of geckodriver)"
}

# wasm-bindgen-test-runner supports WebKit as Safari. On Linux, WebKitGTK is the same WebKit.
set_up_webkit() {
  if have safaridriver; then
    provide SAFARIDRIVER "$(first_of safaridriver)"
    return 0
  fi
  if ! have WebKitWebDriver || ! have xvfb-run || ! find_mini_browser >/dev/null; then
    debian_packages webkit2gtk-driver xvfb xauth
  fi
  provide SAFARIDRIVER "$root/tests/toolchain/setup/webkit-driver.sh"
  provide WEBKIT_BINARY "$(find_mini_browser)"
  # The sandbox needs user namespaces, which containers lack. The tests load only their own pages.
  provide WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS 1
}

# The tests start servers of their own on loopback ports. A server that the system package starts is not used.
set_up_postgresql() {
  find_postgres >/dev/null || debian_packages postgresql
  provide POSTGRES_PROGRAMS "$(dirname "$(find_postgres)")"
}

find_postgres() { first_of /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb initdb; }

set_up_mariadb() {
  find_mariadb >/dev/null || debian_packages mariadb-server
  provide MARIADBD "$(find_mariadb)"
  provide MARIADB_INSTALL_DB "$(first_of mariadb-install-db)"
}

find_mariadb() { first_of mariadbd /usr/sbin/mariadbd; }

set_up_pgbouncer() {
  have pgbouncer || debian_packages pgbouncer
  provide PGBOUNCER "$(first_of pgbouncer)"
}

# google-adk for Python in a virtual environment, for the tests that run both sides on one database or one server. The
# versions are exact, even those of the models: they decide which data a database may contain (js/values/python/pydantic_models.ts).
set_up_python() {
  local venv="$root/target/python"
  local packages=(google-adk==2.13.0 google-genai==2.34.0)
  packages+=(sqlalchemy==2.1.9 aiosqlite==0.22.1 asyncpg==0.31.0 greenlet==3.5.6) # of its DatabaseSessionService
  packages+=(google-cloud-agentplatform==2.6.0)                                 # of its VertexAiSessionService
  # This file is written last, so that an interrupted installation is repeated.
  local installed="$venv/adk-session-wasm.txt"
  if [ "$(cat "$installed" 2>/dev/null)" != "${packages[*]}" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || debian_packages python3 python3-venv
    log "installing ${packages[0]} from PyPI (about a minute)"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
    echo "${packages[*]}" >"$installed"
  fi
  provide ADK_PYTHON "$venv/bin/python"
}

# set_up PART…: sets up the wanted ones of these parts. If one fails, only the steps that need it fail.
wanted=" $* "
set_up() {
  local part started status=0
  for part in "$@"; do
    if [ "$wanted" != '  ' ] && [ "${wanted#* "$part" }" = "$wanted" ]; then continue; fi
    # As a job, since bash ignores errors within a function whose status is looked at.
    started=$SECONDS
    "set_up_${part//-/_}" &
    if wait $!; then
      log "$part is there, after $((SECONDS - started)) s"
    else
      log "no $part: its steps will fail"
      status=1
    fi
  done
  return $status
}

paths="$root/target/toolchain.env"
mkdir -p "$root/target"
new="$paths.$$"            # another run may write it too
: >"$new"
if [ "$wanted" != '  ' ] && [ -e "$paths" ]; then cp "$paths" "$new"; fi
# apt-get waits for the network and cargo for the processor, so they run in parallel. apt-get takes a lock.
failed=0
{
  set_up rust-wasm chromium firefox webkit postgresql mariadb pgbouncer python &
  jobs=$!
  set_up wasm-bindgen geckodriver &
  for job in $! $jobs; do wait "$job" || failed=1; done
} >>"$new"
rm -rf "$root/target/tools-build"
awk -F= '{ line[$1] = $0 } END { for (name in line) print line[name] }' "$new" >"$new.once"
mv "$new.once" "$paths"
rm "$new"
exit $failed
