// A Kysely whose driver runs each statement on any connection of its pool cannot hold a transaction.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import {
  Kysely,
  MysqlDialect,
  type MysqlPool,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  SqliteDialect,
} from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';

import {
  DatabaseSessionService,
  type EngineKind,
} from '../../../../../js/service/database/index.js';
import { emptied } from '../servers.js';
import { bothServers } from '../both_servers.js';
import { newFolder } from '../../../../new_folder.js';

const servers = bothServers();
const folder = newFolder();

interface Stateless {
  readonly kysely: Kysely<unknown>;
  /** The names of the existing tables. */
  readonly tables: () => Promise<string[]>;
  readonly end: () => Promise<unknown>;
}

/** @param max connections of the pool; with one, all statements run on it */
async function onPostgres(max: number): Promise<Stateless> {
  const pool = new pg.Pool({
    connectionString: await emptied('postgresql', servers.postgres),
    max,
  });
  // The server ends before the pool's last connection has closed.
  pool.on('error', () => undefined);
  const client = {
    query: (text: string, values: readonly unknown[]) => pool.query(text, [...values]),
    release: () => undefined,
  } as unknown as PostgresPoolClient;
  const stateless: PostgresPool = {
    connect: () => Promise.resolve(client),
    end: () => pool.end(),
  };
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: stateless }) });
  const tables = async () => {
    const { rows } = await pool.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    return rows.map(({ name }) => name);
  };
  return { kysely, tables, end: () => kysely.destroy() };
}

async function onMariadb(max: number): Promise<Stateless> {
  const url = await emptied('mariadb', servers.mariadb);
  const pool = createPool({ uri: url.replace('mariadb:', 'mysql:'), connectionLimit: max });
  const connection = {
    query: pool.query.bind(pool),
    release: () => undefined,
  };
  const stateless: MysqlPool = {
    getConnection: (done) => done(undefined, connection),
    end: (done) => pool.end(done),
  };
  const kysely = new Kysely<unknown>({ dialect: new MysqlDialect({ pool: stateless }) });
  const tables = async () => {
    const [rows] = await pool.promise().query('show tables');
    return (rows as object[]).map((row) => String(Object.values(row)[0]));
  };
  return { kysely, tables, end: () => kysely.destroy() };
}

/** As over HTTP: a connection for each statement. */
function onSqlite(): Promise<Stateless> {
  const path = join(folder, 'stateless.db');
  const each = <T>(work: (database: Sqlite.Database) => T): T => {
    const database = new Sqlite(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const kysely = new Kysely<unknown>({
    dialect: new SqliteDialect({
      database: {
        prepare: (text) => ({
          reader: /^select|^pragma/.test(text.trim()),
          all: (values) => each((database) => database.prepare(text).all(...values)),
          run: (values) => each((database) => database.prepare(text).run(...values)),
          iterate: () => [].values(),
        }),
        close: () => undefined,
      },
    }),
  });
  const tables = () =>
    Promise.resolve(
      each((database) =>
        database.prepare<[], string>('select name from sqlite_master').pluck().all(),
      ),
    );
  return Promise.resolve({ kysely, tables, end: () => kysely.destroy() });
}

const cases: [title: string, engine: EngineKind, open: () => Promise<Stateless>][] = [
  ['PostgreSQL with a pool of four', 'postgresql', () => onPostgres(4)],
  ['PostgreSQL with a pool of one', 'postgresql', () => onPostgres(1)],
  ['MariaDB with a pool of four', 'mysql', () => onMariadb(4)],
  ['MariaDB with a pool of one', 'mysql', () => onMariadb(1)],
  ['SQLite', 'sqlite', onSqlite],
];

describe('A Kysely whose statements run on any connection', () => {
  for (const [title, engine, open] of cases) {
    it(`is refused by open() and by the first call, and creates no table: ${title}`, async () => {
      const { kysely, tables, end } = await open();
      const service = new DatabaseSessionService({ kysely, engine });
      const refusal = { code: 'storage_unavailable', message: /transaction/ };
      await assert.rejects(service.ping(), refusal);
      await assert.rejects(service.createSession({ appName: 'app', userId: 'user' }), refusal);
      assert.deepEqual(await tables(), []);
      await service.close();
      await end();
    });
  }
});

it('a Kysely with a pool of one connection is accepted if its transactions hold', async () => {
  const connectionString = await emptied('postgresql', servers.postgres);
  const pool = new pg.Pool({ connectionString, max: 1 });
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  await service.ping();
  await service.close();
  await kysely.destroy();
});

it("open() over a Kysely without a server fails with the driver's message", async () => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  await assert.rejects(service.ping(), { code: 'storage_unavailable', message: /ECONNREFUSED/ });
  await service.close();
  await kysely.destroy();
});
