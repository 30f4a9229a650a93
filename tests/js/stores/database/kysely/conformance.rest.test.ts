// The conformance suite over a user's own Kysely: PostgreSQL, MariaDB, and PGlite in Node. PGlite in a page is in tests/browser.

import { after, before } from 'node:test';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { conforms } from '../cases/conforms.js';
import { MARIADB_REFUSALS, POSTGRESQL_REFUSALS } from '../cases/refusals.js';
import { cleared, type Server, startMariadb, startPostgres } from '../servers.js';
import { openPglite } from './pglite.mjs';

let postgres: Server;
let mariadb: Server;
let pglite: Awaited<ReturnType<typeof openPglite>>;
let onPostgres: Kysely<unknown>;
let onMariadb: Kysely<unknown>;
before(async () => {
  [postgres, mariadb, pglite] = await Promise.all([startPostgres(), startMariadb(), openPglite()]);
  const pool = new pg.Pool({ connectionString: await cleared('postgresql', postgres), max: 4 });
  onPostgres = new Kysely({ dialect: new PostgresDialect({ pool }) });
  const uri = (await cleared('mariadb', mariadb)).replace('mariadb:', 'mysql:');
  onMariadb = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ uri, connectionLimit: 4 }) }) }); // prettier-ignore
});
after(async () => {
  await Promise.all([onPostgres.destroy(), onMariadb.destroy()]);
  await Promise.all([postgres.remove(), mariadb.remove(), pglite.close()]);
});

conforms(
  "a user's Kysely on PostgreSQL",
  async (options) => {
    await cleared('postgresql', postgres);
    return new DatabaseSessionService({ ...options, kysely: onPostgres, engine: 'postgresql' });
  },
  POSTGRESQL_REFUSALS,
);
conforms(
  "a user's Kysely on MariaDB",
  async (options) => {
    await cleared('mariadb', mariadb);
    return new DatabaseSessionService({ ...options, kysely: onMariadb, engine: 'mysql' });
  },
  MARIADB_REFUSALS,
);
conforms(
  "a user's Kysely on PGlite",
  async (options) => {
    await pglite.clear();
    const { kysely } = pglite;
    return new DatabaseSessionService({ ...options, kysely, engine: 'postgresql' });
  },
  POSTGRESQL_REFUSALS,
);
