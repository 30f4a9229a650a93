#!/usr/bin/env bash
# Installs google-adk for Python in a virtual environment, target/python, for the tests that run both sides on one
# database or one server. The versions are exact, even those of the models: they decide which data a database may
# contain (js/python/python_models.ts).
set -euo pipefail
. "$(dirname "$0")/lib.sh"

venv="$root/target/python"
packages=(google-adk==2.13.0 google-genai==2.34.0)
packages+=(sqlalchemy==2.1.9 aiosqlite==0.22.1 asyncpg==0.31.0 greenlet==3.5.6) # of its DatabaseSessionService
packages+=(google-cloud-agentplatform==2.6.0)                                 # of its VertexAiSessionService
# This file is written last, so that an interrupted installation is repeated.
installed="$venv/adk-session-wasm.txt"

# Finds a Python that runs: version managers put commands of inactive versions in the PATH.
find_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11 python3.10; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

if [ "$(cat "$installed" 2>/dev/null)" != "${packages[*]}" ]; then
  find_python >/dev/null || debian_packages python3 python3-venv
  log "installing ${packages[0]} from PyPI (about a minute)"
  rm -rf "$venv"
  "$(find_python)" -m venv "$venv" >&2
  within 600 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
  echo "${packages[*]}" >"$installed"
fi
provide ADK_PYTHON "$venv/bin/python"
