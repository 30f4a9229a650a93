#!/usr/bin/env bash
# The programs of the database servers.
# The tests start their own servers on loopback ports. A server that the system package starts is not used.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

find_postgres() { first_of /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb initdb; }
find_mariadb() { first_of mariadbd /usr/sbin/mariadbd; }

find_postgres >/dev/null || debian_packages postgresql || log "no PostgreSQL: its tests will fail"
find_mariadb >/dev/null || debian_packages mariadb-server || log "no MariaDB: its tests will fail"
have pgbouncer || debian_packages pgbouncer || log "no PgBouncer: its tests will fail"

if find_postgres >/dev/null; then provide POSTGRES_PROGRAMS "$(dirname "$(find_postgres)")"; fi
if find_mariadb >/dev/null; then
  provide MARIADBD "$(find_mariadb)"
  provide MARIADB_INSTALL_DB "$(first_of mariadb-install-db)"
fi
if have pgbouncer; then provide PGBOUNCER "$(command -v pgbouncer)"; fi
