// Databases that only Python has written to: read without the package's own tables, and completed without blocking writers.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { openStorage } from '../../../../../js/service/database/database_session_service.js';
import { command, hashOf } from '../../../command/stores.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, postgresRows } from '../servers.js';
import { bothServers } from '../both_servers.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();
const servers = bothServers();

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

type Run = (statements: readonly string[]) => Promise<void>;

/** Deletes everything that Python does not create. */
const AS_PYTHON = [
  'drop table adk_session_wasm_sessions',
  "delete from adk_internal_metadata where value <> '1'",
];
const INDICES = ['adk_session_wasm_by_update', 'adk_session_wasm_by_user'];

interface PythonDatabase {
  readonly url: string;
  readonly run: Run;
}

async function filled(url: string, run: Run, indices: readonly string[]): Promise<PythonDatabase> {
  const service = new DatabaseSessionService(url);
  const session = await service.createSession({ ...KEY, state: { 'app:n': 1 } });
  await service.appendEvent({ session, event: eventOf('e1', { n: 1 }) });
  await service.close();
  await run([...AS_PYTHON, ...indices]);
  return { url, run };
}

const engines: [engine: string, open: () => Promise<PythonDatabase>][] = [
  [
    'sqlite',
    () => {
      const path = join(folder, 'python.db');
      rmSync(path, { force: true });
      const run: Run = (statements) => {
        const database = new Sqlite(path);
        for (const statement of statements) database.exec(statement);
        database.close();
        return Promise.resolve();
      };
      return filled(
        `sqlite:${path}`,
        run,
        INDICES.map((name) => `drop index ${name}`),
      );
    },
  ],
  [
    'postgresql',
    async () => {
      const url = await emptied('postgresql', servers.postgres);
      const run: Run = async (statements) => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        try {
          for (const statement of statements) await client.query(statement);
        } finally {
          await client.end();
        }
      };
      return filled(
        url,
        run,
        INDICES.map((name) => `drop index ${name}`),
      );
    },
  ],
  [
    'mariadb',
    async () => {
      const url = await emptied('mariadb', servers.mariadb);
      const run: Run = async (statements) => {
        const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
        for (const statement of statements) await connection.query(statement);
        await connection.end();
      };
      return filled(
        url,
        run,
        INDICES.map((name) => `drop index ${name} on sessions`),
      );
    },
  ],
];

const REFUSED = 'storage_unavailable';

describe('A service with `createTables: false`', () => {
  for (const [engine, open] of engines) {
    it(`reads Python's tables, and writes after the printed SQL has run: ${engine}`, async () => {
      const { url, run } = await open();
      const service = new DatabaseSessionService(url, { createTables: false });
      await service.ping();
      const session = await service.getSession(KEY);
      assert.deepEqual(session?.state, { n: 1, 'app:n': 1 });
      assert.equal((await service.listSessions({ appName: 'app', limit: 5 })).totalItems, 1);
      assert.deepEqual(await service.getAppState({ appName: 'app' }), { n: 1 });
      const event = eventOf('e2', { n: 2 });
      const refusal = { code: 'storage_unavailable', message: /adk-session-wasm schema/ };
      await assert.rejects(service.appendEvent({ session, event }), refusal);
      await assert.rejects(service.deleteSession(KEY), refusal);
      await assert.rejects(service.createSession({ ...KEY, sessionId: 's2' }), refusal);

      const { out, code } = await command('schema', engine);
      assert.equal(code, 0);
      const statements = out.split(';\n').filter((line) => line !== '');
      await run(statements);
      // It must go on where tables and indices exist.
      await run(statements);
      await service.appendEvent({ session, event });
      assert.deepEqual((await service.getSession(KEY))?.state, { n: 2, 'app:n': 1 });
      await service.close();
    });
  }

  it('reads while a write opens the tables again: sqlite', async () => {
    const [, open] = engines[0]!;
    const { url, run } = await open();
    const service = new DatabaseSessionService(url, { createTables: false });
    await service.ping();
    const create = async (sessionId: string) => service.createSession({ ...KEY, sessionId });
    for (let ticks = 0; ticks < 100; ticks += 1) {
      const created = Promise.allSettled([create('s2'), create('s3')]);
      // The opening takes many ticks. A read comes at each of them.
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      assert.deepEqual((await service.getSession(KEY))?.state, { n: 1, 'app:n': 1 });
      for (const outcome of await created) {
        assert.equal((outcome as { reason?: { code?: unknown } }).reason?.code, REFUSED);
      }
    }
    const { out } = await command('schema', 'sqlite');
    await run(out.split(';\n').filter((line) => line !== ''));
    await Promise.all([create('s2'), create('s3'), service.getSession(KEY)]);
    await service.close();
  });

  it('needs only rights to rows beside the printed SQL: postgresql', async () => {
    const [, open] = engines[1] ?? [];
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    const { out } = await command('schema', 'postgresql');
    await run([
      ...out.split(';\n').filter((line) => line !== ''),
      'revoke create on schema public from public',
      'create role writer login',
      'grant usage on schema public to writer',
      'grant select, insert, update, delete on all tables in schema public to writer',
    ]);
    const service = new DatabaseSessionService(url.replace('adk@', 'writer@'), {
      createTables: false,
    });
    const session = await service.getSession(KEY);
    await service.appendEvent({ session: session!, event: eventOf('e2', { n: 2, 'app:n': 2 }) });
    await service.createSession({ ...KEY, sessionId: 's2' });
    await service.deleteUser(KEY);
    assert.equal((await service.listSessions({ appName: 'app' })).totalItems, 0);
    await service.close();
  });

  it('refuses a database without tables, and creates none', async () => {
    const path = join(folder, 'empty.db');
    const service = new DatabaseSessionService(`sqlite:${path}`, { createTables: false });
    await assert.rejects(service.ping(), { code: 'storage_unavailable' });
    await service.close();
    const database = new Sqlite(path);
    assert.deepEqual(database.prepare('select name from sqlite_master').all(), []);
    database.close();
  });
});

/** Selects the names of the package's own valid indices. */
const VALID: Readonly<Record<string, string>> = {
  postgresql: `select relname as name from pg_index join pg_class on oid = indexrelid
    where indisvalid and relname like 'adk_session_wasm_by%'`,
  mariadb: `select distinct index_name as name from information_schema.statistics
    where index_name like 'adk_session_wasm_by%'`,
};

async function validIndices(engine: string, url: string): Promise<string[]> {
  const query = VALID[engine] ?? '';
  if (engine === 'mariadb') {
    const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
    const [rows] = await connection.query(query);
    await connection.end();
    return (rows as { name: string }[]).map(({ name }) => name).sort();
  }
  const rows = await postgresRows<{ name: string }>(url, query);
  return rows.map(({ name }) => name).sort();
}

const OUR_INDICES = [
  ...['adk_session_wasm_by_creation', 'adk_session_wasm_by_last_update'],
  'adk_session_wasm_by_mutation',
  ...['adk_session_wasm_by_update', 'adk_session_wasm_by_user'],
  ...['adk_session_wasm_by_user_creation', 'adk_session_wasm_by_user_last'],
];

/** Opens a database, and waits until its indices are built. */
async function complete(engine: string, url: string): Promise<void> {
  const service = new DatabaseSessionService(url);
  await service.ping();
  while ((await validIndices(engine, url)).length < OUR_INDICES.length) await pause(10);
  await service.close();
}

for (const [engine, open] of engines.slice(1)) {
  describe(`A missing index on ${engine}`, () => {
    const on = engine === 'mariadb' ? ' on sessions' : '';

    it("is created when Python's tables are completed", async () => {
      const { url } = await open();
      await complete(engine, url);
      assert.deepEqual(await validIndices(engine, url), OUR_INDICES);
    });

    it('is created if all tables exist, and no call waits for it', async () => {
      const { url, run } = await open();
      await complete(engine, url);
      await run([`drop index adk_session_wasm_by_user${on}`]);
      const service = new DatabaseSessionService(url);
      const session = await service.getSession(KEY);
      assert.ok(session);
      await service.appendEvent({ session, event: eventOf('e2', { n: 2 }) });
      await service.close();
      assert.deepEqual(await validIndices(engine, url), OUR_INDICES);
    });

    it('is not created with `createTables: false`', async () => {
      const { url, run } = await open();
      await complete(engine, url);
      await run([`drop index adk_session_wasm_by_user${on}`]);
      const service = new DatabaseSessionService(url, { createTables: false });
      await service.ping();
      await service.close();
      assert.equal((await validIndices(engine, url)).includes('adk_session_wasm_by_user'), false);
    });
  });
}

describe('An index of PostgreSQL', () => {
  it('is built in the background while another transaction writes', async () => {
    const [, open] = engines[1] ?? [];
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    await complete('postgresql', url);
    await run(['drop index adk_session_wasm_by_user']);
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await writer.query('begin');
    await writer.query("update sessions set state = '{}'");
    const service = new DatabaseSessionService(url, { timeoutMs: 5000 });
    // The build waits for the writer. Calls and other writers do not wait for the build.
    assert.notEqual(await service.getSession(KEY), undefined);
    await service.createSession({ ...KEY, sessionId: 'another' });
    await writer.query('update sessions set state = \'{"n": 1}\'');
    await writer.query('commit');
    await writer.end();
    await service.close();
    assert.deepEqual(await validIndices('postgresql', url), OUR_INDICES);
  });

  it('is rebuilt after an interrupted concurrent build', async () => {
    const [, open] = engines[1] ?? [];
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    await complete('postgresql', url);
    await run(['drop index adk_session_wasm_by_user']);
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await writer.query('begin');
    await writer.query("update sessions set state = '{}'");
    await assert.rejects(
      run([
        "set statement_timeout = '300ms'",
        'create index concurrently adk_session_wasm_by_user on sessions (app_name, user_id, update_time)',
      ]),
      /statement timeout/,
    );
    await writer.query('rollback');
    await writer.end();
    assert.equal(
      (await validIndices('postgresql', url)).includes('adk_session_wasm_by_user'),
      false,
    );
    const service = new DatabaseSessionService(url);
    await service.ping();
    await service.close();
    assert.deepEqual(await validIndices('postgresql', url), OUR_INDICES);
  });

  it('is not built while another program builds it', async () => {
    const [, open] = engines[1] ?? [];
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    await complete('postgresql', url);
    await run(['drop index adk_session_wasm_by_user']);
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await writer.query('begin');
    await writer.query("update sessions set state = '{}'");
    const built = run([
      'create index concurrently adk_session_wasm_by_user on sessions (app_name, user_id, update_time)',
    ]);
    await untilBuilding(writer);
    const service = new DatabaseSessionService(url);
    await service.ping();
    await service.close();
    await writer.query('commit');
    await writer.end();
    await built;
    assert.deepEqual(await validIndices('postgresql', url), OUR_INDICES);
  });
});

describe('Indices of PostgreSQL', () => {
  it('are not begun once the service closes', async () => {
    const [, open] = engines[1] ?? [];
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    await complete('postgresql', url);
    // Of two tables.
    await run(['update', 'last_update'].map((by) => `drop index adk_session_wasm_by_${by}`));
    const [reader, watcher] = [1, 2].map(() => new pg.Client({ connectionString: url }));
    assert.ok(reader && watcher);
    await Promise.all([reader.connect(), watcher.connect()]);
    // Each build waits for this snapshot.
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1 from sessions');
    const storage = await openStorage({ url });
    await storage.open();
    await untilBuilding(watcher);
    storage.closing(100);
    await storage.close();
    const { rowCount } = await watcher.query('select 1 from pg_index where not indisvalid');
    assert.equal(rowCount, 1);
    await reader.query('rollback');
    await Promise.all([reader.end(), watcher.end()]);
  });
});

async function untilBuilding(client: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query('select 1 from pg_index where not indisvalid');
    if (rowCount !== 0) return;
  }
}

describe('A SQLite file that is opened read-only', () => {
  const driverOptions = { readonly: true };
  const open = engines[0]?.[1];

  it('is read, and unchanged, if only Python has written to it', async () => {
    const { url } = (await open?.()) ?? { url: '' };
    const before = hashOf(url.slice('sqlite:'.length));
    const service = new DatabaseSessionService(url, { driverOptions });
    const session = await service.getSession(KEY);
    assert.deepEqual(session?.state, { n: 1, 'app:n': 1 });
    const append = service.appendEvent({ session, event: eventOf('e2') });
    await assert.rejects(append, { code: 'storage_unavailable', message: /readonly/ });
    assert.notEqual(await service.getSession(KEY), undefined);
    await service.close();
    assert.equal(hashOf(url.slice('sqlite:'.length)), before);
  });

  it('is read with a rollback journal', async () => {
    const { url, run } = (await open?.()) ?? { url: '', run: () => Promise.resolve() };
    await run(['pragma journal_mode = delete']);
    const service = new DatabaseSessionService(url, { driverOptions });
    assert.notEqual(await service.getSession(KEY), undefined);
    await service.close();
  });
});
