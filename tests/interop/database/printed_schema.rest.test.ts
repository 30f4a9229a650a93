// The printed schema beside tables that Python's DatabaseSessionService itself has made: after it, the package
// needs rights to rows alone.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import Sqlite from 'better-sqlite3';
import pg from 'pg';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { command } from '../../js/command/stores.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { firstText, KEY, PYTHON_KEY, pythonEvent, userEvent } from '../shared_session.js';
import { postgres, sqliteFiles } from './shared_databases.js';

/** What an operator does, and the names of all tables and indices, by the rights of the owner. */
interface Operator {
  run(statements: readonly string[]): Promise<void>;
  names(): Promise<unknown>;
  /** The URL of an account that may not create anything. */
  writer(): Promise<string>;
}

function sqliteOperator(url: string): Operator {
  const path = url.slice('sqlite:'.length);
  const use = async <T>(work: (database: Sqlite.Database) => T): Promise<T> => {
    const database = new Sqlite(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    run: (statements) => use((database) => void database.exec(statements.join(';\n'))),
    names: () => use((database) => database.prepare('select name from sqlite_master').all()),
    // SQLite has no accounts.
    writer: () => Promise.resolve(url),
  };
}

function postgresOperator(url: string): Operator {
  const query = async (...statements: string[]): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const rows: unknown[] = [];
      for (const statement of statements)
        rows.push(...(await client.query<object>(statement)).rows);
      return rows;
    } finally {
      await client.end();
    }
  };
  return {
    run: async (statements) => void (await query(...statements)),
    names: () => query("select relname from pg_class where relnamespace = 'public'::regnamespace order by 1"), // prettier-ignore
    async writer() {
      await query(
        'revoke create on schema public from public',
        'create role writer login',
        'grant usage on schema public to writer',
        'grant select, insert, update, delete on all tables in schema public to writer',
      );
      return url.replace('adk@', 'writer@');
    },
  };
}

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

for (const [engine, start, operatorOf] of [
  ['sqlite', sqliteFiles, sqliteOperator],
  ['postgresql', postgres, postgresOperator],
] as const) {
  describe(`Beside Python's own tables on ${engine}`, { timeout: 120_000 }, () => {
    const newDatabase = start();

    it('the printed schema is all that the package needs beside rights to rows', async () => {
      const urls = await newDatabase();
      await python.open(urls.python);
      await python.ask('create', { ...PYTHON_KEY, state: { topic: 'tea', 'app:n': 1 } });
      await python.ask('append', pythonEvent('one', { 'user:name': 'Ada' }));

      const operator = operatorOf(urls.ours);
      const { out, code } = await command('schema', engine);
      assert.equal(code, 0);
      const statements = out.split(';\n').filter((line) => line !== '');
      await operator.run(statements);
      const names = await operator.names();
      const service = new DatabaseSessionService(await operator.writer());
      const session = await service.getSession(KEY);
      assert.deepEqual(session?.state, { topic: 'tea', 'app:n': 1, 'user:name': 'Ada' });
      await service.appendEvent({
        session,
        event: userEvent('two', { topic: 'milk', 'app:n': 2 }),
      });
      await service.createSession({ ...KEY, sessionId: 's2' });
      await service.deleteSession({ ...KEY, sessionId: 's2' });
      await service.updateState({ appName: 'shop', userId: 'ada', stateDelta: { 'user:n': 1 } });

      await python.ask('get', PYTHON_KEY);
      assert.equal((await python.ask('append', pythonEvent('three'))).error, undefined);
      const inPython = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(inPython.events.map(firstText), ['one', 'two', 'three']);
      assert.deepEqual(inPython.state, { topic: 'milk', 'app:n': 2, 'user:name': 'Ada', 'user:n': 1 }); // prettier-ignore
      const again = await service.getSession(KEY);
      assert.deepEqual(again?.events.map(firstText), ['one', 'two', 'three']);
      await service.deleteUser({ appName: 'shop', userId: 'ada' });
      assert.equal((await service.listSessions({ appName: 'shop' })).totalItems, 0);
      await service.close();
      assert.deepEqual(await operator.names(), names);
    });

    it('the service that may create tables creates what the printed schema does', async () => {
      const urls = await newDatabase();
      await python.open(urls.python);
      await python.ask('create', { ...PYTHON_KEY, state: {} });
      const service = new DatabaseSessionService(urls.ours);
      await service.ping();
      await service.createSession({ ...KEY, sessionId: 's2' });
      const operator = operatorOf(urls.ours);
      const { out } = await command('schema', engine);
      // The indices are built in the background, and closing leaves out those that have not begun.
      const indices = out.match(/\badk_session_wasm_by_\w+/g) ?? [];
      assert.ok(indices.length > 0);
      for (;;) {
        const present = JSON.stringify(await operator.names());
        if (indices.every((index) => present.includes(`"${index}"`))) break;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await service.close();
      const created = await operator.names();
      await operator.run(out.split(';\n').filter((line) => line !== ''));
      assert.deepEqual(await operator.names(), created);
    });
  });
}
