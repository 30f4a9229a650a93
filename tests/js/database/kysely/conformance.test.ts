// The conformance suite over a user's own Kysely: PostgreSQL, MariaDB, and PGlite in Node. PGlite in a page is in tests/browser.

import { after, before } from 'node:test';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { conforms } from '../conforms.js';
import { MARIADB_REFUSALS, POSTGRESQL_REFUSALS } from '../refusals.js';
import { cleared, type Server, startMariadb, startPostgres } from '../servers.js';
import { openPglite } from './pglite.mjs';

let postgres: Server;
let mariadb: Server;
let pglite: Awaited<ReturnType<typeof openPglite>>;
/** The Kysely of the last case. */
let last: Kysely<unknown> | undefined;
before(async () => {
  [postgres, mariadb, pglite] = await Promise.all([startPostgres(), startMariadb(), openPglite()]);
});
after(async () => {
  await last?.destroy();
  await Promise.all([postgres.remove(), mariadb.remove(), pglite.close()]);
});

conforms(
  "a user's Kysely on PostgreSQL",
  async (options) => {
    await last?.destroy();
    const pool = new pg.Pool({ connectionString: await cleared('postgresql', postgres), max: 4 });
    const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    last = kysely;
    return new DatabaseSessionService({ ...options, kysely, engine: 'postgresql' });
  },
  POSTGRESQL_REFUSALS,
);
conforms(
  "a user's Kysely on MariaDB",
  async (options) => {
    await last?.destroy();
    const url = await cleared('mariadb', mariadb);
    const pool = createPool({ uri: url.replace('mariadb:', 'mysql:'), connectionLimit: 4 });
    const kysely = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) });
    last = kysely;
    return new DatabaseSessionService({ ...options, kysely, engine: 'mysql' });
  },
  MARIADB_REFUSALS,
);
conforms(
  "a user's Kysely on PGlite",
  async (options) => {
    await pglite.empty();
    const { kysely } = pglite;
    return new DatabaseSessionService({ ...options, kysely, engine: 'postgresql' });
  },
  POSTGRESQL_REFUSALS,
);
