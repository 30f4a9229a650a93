// Lists of many sessions: page 10,000 against page 1, by cursor.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { tsImport } from 'tsx/esm/api';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { atMost, inTurns, timeOfMany } from '../measure.mjs';

/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

const COUNT = 1_000_000;
const PAGE = 50;
const LATE = 10_000;
const list = /** @type {const} */ ({
  appName: 'bench',
  userId: 'user',
  limit: PAGE,
  withTotal: false,
});

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function lists() {
  return [await onSqlite(), await onPostgres()];
}

async function onSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'lists-'));
  const path = join(folder, 'lists.db');
  const service = new DatabaseSessionService(`sqlite:///${path}`);
  try {
    await service.ping(); // creates the tables
    const database = new Sqlite(path);
    database.exec(sessionsSql(COUNT));
    database.close();
    return await latePage('SQLite', service);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
}

async function onPostgres() {
  const server = await startPostgres();
  const url = `postgresql://adk@127.0.0.1:${server.port}/adk`;
  const service = new DatabaseSessionService(url);
  try {
    await service.ping();
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`
      insert into sessions (app_name, user_id, id, state, create_time, update_time)
        select 'bench', 'user', 's' || i, '{}', at, at from (
          select i, timestamp '2024-01-01' + i * interval '1 second' as at
          from generate_series(1, ${COUNT}) as i
        ) as n`);
    await client.query('vacuum analyze sessions');
    await client.end();
    return await latePage('PostgreSQL', service);
  } finally {
    await service.close();
    await server.remove();
  }
}

/**
 * @param {string} storage
 * @param {DatabaseSessionService} service
 */
async function latePage(storage, service) {
  const { nextCursor: cursor } = await service.listSessions({ ...list, page: LATE - 1 });
  const { sessions, page } = await service.listSessions({ ...list, cursor });
  if (sessions.length !== PAGE || page !== LATE) throw new Error(`page ${page} was read`);
  const { ours, first } = await inTurns({
    ours: () => timeOfMany(100, () => service.listSessions({ ...list, cursor })),
    first: () => timeOfMany(100, () => service.listSessions(list)),
  });
  const name = `page 10,000 of 1,000,000 sessions, ${storage}`;
  return atMost({ case: name, ours, peer: first, unit: 'ms', most: 1.3, than: 'page 1' });
}

/** @param {number} count */
function sessionsSql(count) {
  return `
      insert into sessions (app_name, user_id, id, state, create_time, update_time)
        with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})
        select 'bench', 'user', 's' || i, '{}', at, at from (
          select i, strftime('%Y-%m-%d %H:%M:%f000', 1700000000 + i, 'unixepoch') as at from n
        );
      analyze;`;
}
