// The contents of SQLite files in the layout of google-adk's SqliteSessionService.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { eventOf } from './cases/concurrency.js';
import {
  columnsOf,
  newSqliteServiceFile,
  SQLITE_SERVICE_TABLES,
} from './tables/sqlite_service_tables.js';
import { newFolder } from '../../../new_folder.js';

const folder = newFolder();

let count = 0;
const newPath = () => join(folder, `${++count}.db`);
const newUrl = () => newSqliteServiceFile(newPath());
const open = (url: string) => new DatabaseSessionService(url);

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

/** Runs `work` on a file with these tables, then reads the file by `read`. */
async function inFile<T>(
  path: string,
  work: (service: DatabaseSessionService) => Promise<void>,
  read: (database: Sqlite.Database) => T,
): Promise<T> {
  const service = open(`sqlite:${path}`);
  await work(service);
  await service.close();
  const database = new Sqlite(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const valueOf = (database: Sqlite.Database, query: string): unknown =>
  database.prepare(query).pluck().get();

describe("A file in the layout of google-adk's SqliteSessionService", () => {
  const newFile = (tables = SQLITE_SERVICE_TABLES) => {
    const path = newPath();
    newSqliteServiceFile(path, tables);
    return path;
  };

  it('keeps its layout: all times are seconds', async () => {
    const types = await inFile(
      newFile(),
      async (service) => {
        const session = await service.createSession({ ...KEY, state: { 'user:u': 1, 'app:a': 1 } });
        const event = { ...eventOf('past'), timestamp: 1000 };
        await service.appendEvent({ session, event });
        await service.appendEvent({ session, event: { ...event, author: 'again' } });
      },
      (database) => {
        const times = [
          ['sessions', 'create_time'],
          ['sessions', 'update_time'],
          ['app_states', 'update_time'],
          ['user_states', 'update_time'],
          ['events', 'timestamp'],
          ['adk_session_wasm_sessions', 'update_time'],
          ['adk_session_wasm_sessions', 'last_update_time'],
          ['adk_session_wasm_sessions', 'replaced_at'],
        ];
        assert.equal(
          valueOf(
            database,
            "select count(*) from sqlite_master where name = 'adk_internal_metadata'",
          ),
          0,
        );
        return times.map(([table, column]) =>
          valueOf(database, `select typeof(${column}) from ${table}`),
        );
      },
    );
    assert.deepEqual(
      types,
      types.map(() => 'real'),
    );
  });

  it('is recognised by any of its tables, and gets the missing ones', async () => {
    for (const count of [1, 2, 3]) {
      const columns = await inFile(
        newFile(SQLITE_SERVICE_TABLES.slice(0, count)),
        async (service) => {
          const session = await service.createSession(KEY);
          await service.appendEvent({ session, event: eventOf('e') });
        },
        (database) => columnsOf(database),
      );
      const whole = new Sqlite(newFile());
      assert.deepEqual(columns, columnsOf(whole), `with ${count} tables`);
      whole.close();
    }
  });

  it('is read again and again with `createTables: false` if it has no table of ours', async () => {
    const path = newFile();
    const python = new Sqlite(path);
    python
      .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
      .run('app', 'user', 'session', '{"n": 1}', 1.7e9, 1.7e9 + 1);
    python
      .prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)')
      .run('e1', 'app', 'user', 'session', 'i', 1.7e9 + 1, '{"timestamp": 1700000001}');
    python.close();
    const service = new DatabaseSessionService(`sqlite:${path}`, { createTables: false });
    for (let round = 0; round < 2; round += 1) {
      await service.ping();
      assert.deepEqual((await service.getSession(KEY))?.state, { n: 1 });
      assert.equal((await service.listSessions(USER)).totalItems, 1);
      const { events } = await service.listChanges({ ...KEY, since: 1.7e15 });
      assert.deepEqual(
        events?.map(({ event }) => event.id),
        ['e1'],
      );
      assert.equal(await service.getSession({ ...KEY, sessionId: 'absent' }), undefined);
    }
    await service.close();
  });

  it('is refused if some of its tables have another layout', async () => {
    const [app = '', user = '', session = ''] = SQLITE_SERVICE_TABLES;
    const service = open(
      `sqlite:${newFile([app, user, session.replaceAll('_time real', '_time datetime')])}`,
    );
    await assert.rejects(service.ping(), {
      code: 'storage_unavailable',
      message: /some tables of google-adk's SqliteSessionService/,
    });
    await service.close();
  });

  it("keeps its layout after Python's DatabaseSessionService has written to it", async () => {
    const metadata = `create table adk_internal_metadata ("key" varchar(128) primary key, value varchar(256))`;
    const path = newFile([...SQLITE_SERVICE_TABLES, metadata]);
    const python = new Sqlite(path);
    python.exec("insert into adk_internal_metadata values ('schema_version', '1')");
    const time = '2023-11-14 22:13:20.123457';
    python
      .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
      .run('app', 'user', 'session', '{}', time, time);
    python
      .prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)')
      .run('theirs', 'app', 'user', 'session', 'i', time, '{"timestamp": 1700000000.123457}');
    python.close();
    const type = await inFile(
      path,
      async (service) => {
        const session = await service.getSession(KEY);
        assert.equal(session?.lastUpdateTime, 1700000000123.457);
        await service.appendEvent({ session, event: eventOf('ours') });
        const { events } = (await service.getSession(KEY)) ?? { events: [] };
        // A text stands after all numbers, as it does for Python.
        assert.deepEqual(
          events.map(({ id }) => id),
          ['ours', 'theirs'],
        );
      },
      (database) => valueOf(database, 'select typeof(update_time) from sessions'),
    );
    assert.equal(type, 'real');
  });

  it('orders events of one time by their places in the table, as this service of Python does', async () => {
    const path = newPath();
    newSqliteServiceFile(path);
    const python = new Sqlite(path);
    python.exec(
      "insert into sessions values ('app', 'user', 'session', '{}', 1700000000, 1700000000)",
    );
    const insert = python.prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)');
    const ids = ['z', 'm', 'a'];
    for (const id of ids)
      insert.run(id, 'app', 'user', 'session', 'i', 1700000000.25, `{"id": "${id}"}`);
    python.close();
    await using service = open(`sqlite:${path}`);
    const read = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
    assert.deepEqual(
      read?.events.map(({ id }) => id),
      ['m', 'a'],
    );
    const { before } = await service.listEvents({ ...KEY, limit: 1 });
    const { events } = await service.listEvents({ ...KEY, limit: 5, before });
    assert.deepEqual(
      events.map(({ id }) => id),
      ['z', 'm'],
    );
  });

  it('lists sessions by the values of their times, not by their digits', async () => {
    let now = 0;
    const service = new DatabaseSessionService(newUrl(), { clock: () => now });
    const times = [9_500, 10_000, 10_500, 999_000, 1_000_250];
    for (now of times) await service.createSession({ ...USER, sessionId: `at ${now}` });
    const ids: string[] = [];
    for (let page = 1; page <= times.length; page += 1) {
      const { sessions } = await service.listSessions({ appName: 'app', limit: 1, page });
      ids.push(...sessions.map(({ id }) => id));
    }
    assert.deepEqual(
      ids,
      times.map((time) => `at ${time}`),
    );
    await service.close();
  });

  it('creates sessions now, whatever the times of the events that were deleted before', async () => {
    const service = new DatabaseSessionService(newUrl(), { clock: () => 1000 });
    const events = [{ ...eventOf('e'), timestamp: 9_000_000 }];
    for (const sessionId of ['first', 'second', 'third']) {
      const key = { ...USER, sessionId };
      const session = await service.createSession({ ...key, events });
      await service.appendEvent({ session, event: { ...eventOf('f'), timestamp: 9_500_000 } });
      const { createTime = 0, lastUpdateTime } = await service.sessionInfo(key);
      assert.equal(Math.round(createTime), 1000);
      assert.equal(lastUpdateTime, 9_500_000);
      await service.deleteSession(key);
    }
    await service.close();
  });

  it('never reuses the revision of a deleted session, even for a service that opens it later', async () => {
    const url = newUrl();
    const clock = () => 1000;
    const service = new DatabaseSessionService(url, { clock });
    const session = await service.createSession(KEY);
    await service.deleteSession(KEY);
    const later = new DatabaseSessionService(url, { clock });
    await later.createSession(KEY);
    const event = eventOf('e');
    await assert.rejects(service.appendEvent({ session, event }), { code: 'not_found' });
    await service.close();
    await later.close();
  });
});

describe("U+0000 in a file in the layout of google-adk's SqliteSessionService", () => {
  const states: [title: string, state: Record<string, unknown>, path: string][] = [
    ['a value', { ok: 1, text: 'a\0b' }, 'text'],
    ['a key', { 'a\0b': 1 }, '["a\\u0000b"]'],
    ['a value of the user', { 'user:text': '\0' }, '["user:text"]'],
    ['a value of the app', { 'app:text': '\0' }, '["app:text"]'],
  ];
  for (const [title, state, path] of states) {
    it(`is refused in ${title} with its path, and nothing is stored`, async () => {
      const service = open(newUrl());
      await assert.rejects(service.createSession({ ...KEY, state }), {
        code: 'unserializable',
        path,
      });
      assert.equal(await service.getSession(KEY), undefined);

      const session = await service.createSession(KEY);
      await assert.rejects(service.appendEvent({ session, event: eventOf('e', state) }), {
        code: 'unserializable',
        path,
      });
      assert.deepEqual((await service.getSession(KEY))?.events, []);
      assert.deepEqual(session.state, {});
      await service.close();
    });
  }

  it('is kept within lists and objects, and in the text of events', async () => {
    const service = open(newUrl());
    const state = { list: ['a\0b'], object: { 'a\0b': '\0' }, text: '\\u0000' };
    const session = await service.createSession({ ...KEY, state });
    const event = { ...eventOf('e'), content: { parts: [{ text: 'a\0b' }] } };
    await service.appendEvent({ session, event });
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.state, state);
    assert.deepEqual(read.events, [event]);
    await service.close();
  });

  it('is kept where Python has stored it, until the key is written', async () => {
    const url = newUrl();
    const database = new Sqlite(url.slice('sqlite:'.length));
    database
      .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
      .run('app', 'user', 'session', '{"text": "a\\u0000b", "n": 1}', 1700000000.5, 1700000000.5);
    database.close();
    const service = open(url);
    const session = await service.getSession(KEY);
    assert.ok(session);
    await service.appendEvent({ session, event: eventOf('e1', { n: 2 }) });
    assert.deepEqual((await service.getSession(KEY))?.state, { text: 'a\0b', n: 2 });
    const event = eventOf('e2', { text: 'c\0d' });
    await assert.rejects(service.appendEvent({ session, event }), { code: 'unserializable' });
    await service.close();
  });
});
