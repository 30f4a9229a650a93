#!/usr/bin/env bash
# What the tests of the databases run on: the servers' programs, and the driver for SQLite, which npm may have left unbuilt.
# The tests start servers of their own, on loopback ports; one that the package starts by itself is left alone.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

find_postgres() { first_of /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb initdb; }
find_mariadb() { first_of mariadbd /usr/sbin/mariadbd; }
drives_sqlite() { (cd "$root" && node -e "new (require('better-sqlite3'))(':memory:')") >/dev/null 2>&1; }

find_postgres >/dev/null || debian_packages postgresql || say "no PostgreSQL: its tests will fail"
find_mariadb >/dev/null || debian_packages mariadb-server || say "no MariaDB: its tests will fail"
if ! drives_sqlite; then
  say "building better-sqlite3 (a minute or two)"
  (cd "$root" && npm rebuild better-sqlite3) >&2 || say "no better-sqlite3: the tests of SQLite will fail"
fi

if find_postgres >/dev/null; then provide POSTGRES_PROGRAMS "$(dirname "$(find_postgres)")"; fi
if find_mariadb >/dev/null; then
  provide MARIADBD "$(find_mariadb)"
  provide MARIADB_INSTALL_DB "$(first_of mariadb-install-db)"
fi
