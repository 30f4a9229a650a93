#!/usr/bin/env bash
# Installs the tools for `npm test`, and writes their paths to target/toolchain.env.
# Installed tools are used as they are. If all are installed, this takes under a second.
#
#   setup.sh                            all tools
#   setup.sh rust-wasm wasm-bindgen     only these parts; the paths of the others stay
#
# stderr is for people. Written for the bash 3.2 that macOS ships.
set -euo pipefail

. "$(dirname "$0")/../../../js/build/wasm_tools.sh"

# first_of COMMAND-OR-PATH…: prints the path of the first one that exists.
first_of() {
  local candidate
  for candidate in "$@"; do
    if command -v "$candidate" 2>/dev/null; then return 0; fi
  done
  return 1
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

# Its package of npm loads a binary from another server too.
set_up_wasm_pack() { cargo_tool wasm-pack 0.15.1 wasm-pack; }

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

set_up_redis() {
  have redis-server || debian_packages redis-server
  provide REDIS_SERVER "$(first_of redis-server)"
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
  set_up rust-wasm chromium firefox webkit postgresql mariadb pgbouncer redis python &
  jobs=$!
  set_up wasm-bindgen wasm-pack geckodriver &
  for job in $! $jobs; do wait "$job" || failed=1; done
} >>"$new"
rm -rf "$root/target/tools-build"
awk -F= '{ line[$1] = $0 } END { for (name in line) print line[name] }' "$new" >"$new.once"
mv "$new.once" "$paths"
rm "$new"
exit $failed
