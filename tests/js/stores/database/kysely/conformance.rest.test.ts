// The conformance suite over a user's own Kysely: PostgreSQL, MariaDB, and PGlite in Node. PGlite in a page is in tests/browser.

import { after } from 'node:test';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { conforms } from '../../../conforms.js';
import { MARIADB_REFUSALS, POSTGRESQL_EXPECTATIONS } from '../cases/refusals.js';
import { cleared } from '../servers.js';
import { openPglite } from './pglite.mjs';
import { bothServers } from '../both_servers.js';

let pglite: Awaited<ReturnType<typeof openPglite>>;
let onPostgres: Kysely<unknown>;
let onMariadb: Kysely<unknown>;
const servers = bothServers(async () => {
  pglite = await openPglite();
  const pool = new pg.Pool({
    connectionString: await cleared('postgresql', servers.postgres),
    max: 4,
  });
  onPostgres = new Kysely({ dialect: new PostgresDialect({ pool }) });
  const uri = (await cleared('mariadb', servers.mariadb)).replace('mariadb:', 'mysql:');
  onMariadb = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ uri, connectionLimit: 4 }) }) }); // prettier-ignore
});
after(async () => {
  await Promise.all([onPostgres.destroy(), onMariadb.destroy()]);
  await pglite.close();
});

conforms(
  "a user's Kysely on PostgreSQL",
  async (options) => {
    await cleared('postgresql', servers.postgres);
    return new DatabaseSessionService({ ...options, kysely: onPostgres, engine: 'postgresql' });
  },
  { expectations: POSTGRESQL_EXPECTATIONS },
);
conforms(
  "a user's Kysely on MariaDB",
  async (options) => {
    await cleared('mariadb', servers.mariadb);
    return new DatabaseSessionService({ ...options, kysely: onMariadb, engine: 'mysql' });
  },
  { expectations: MARIADB_REFUSALS },
);
conforms(
  "a user's Kysely on PGlite",
  async (options) => {
    await pglite.clear();
    const { kysely } = pglite;
    return new DatabaseSessionService({ ...options, kysely, engine: 'postgresql' });
  },
  { expectations: POSTGRESQL_EXPECTATIONS },
);
