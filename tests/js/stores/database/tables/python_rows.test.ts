// Rows that google-adk for Python, or a person, has written.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { CompositeSessionKey, Notice } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';

const USER = { appName: 'app', userId: 'user' };
const EMPTY = '{}';

describe('A row that Python has written', () => {
  const database = new Sqlite(':memory:');
  const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
  const service = new DatabaseSessionService({ kysely, engine: 'sqlite' });
  before(() => service.ping());
  after(async () => {
    await service.close();
    await kysely.destroy();
  });

  function session(id: string, state: string, time = '2023-11-14 22:13:20.123457'): void {
    database
      .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
      .run(...['app', 'user', id, state, time, time]);
  }
  function event(sessionId: string, id: string, time: string, data: string | null): void {
    database
      .prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)')
      .run(...[id, 'app', 'user', sessionId, 'i', time, data]);
  }

  it('has its time to the microsecond', async () => {
    session('time', EMPTY);
    const read = await service.getSession({ ...USER, sessionId: 'time' });
    assert.equal(read?.lastUpdateTime, 1700000000123.457);
  });

  it('is read with null for NaN and infinities, and keeps strings that look like them', async () => {
    session('numbers', '{"a": NaN, "b": -Infinity, "c": "NaN and \\"Infinity"}');
    const read = await service.getSession({ ...USER, sessionId: 'numbers' });
    assert.deepEqual(read?.state, { a: null, b: null, c: 'NaN and "Infinity' });
  });

  it('is read if its texts are blobs, as Python reads them', async () => {
    session('blobs', '{"n": 1}');
    event('blobs', 'e1', '2023-11-14 22:13:20.123457', '{"author": "user"}');
    database.exec(`update sessions set state = cast(state as blob) where id = 'blobs';
      update events set event_data = cast(event_data as blob) where session_id = 'blobs'`);
    const key = { ...USER, sessionId: 'blobs' };
    assert.deepEqual((await service.getSession(key))?.state, { n: 1 });
    const { events } = await service.listEvents({ ...key, limit: 1 });
    assert.equal(events[0]?.author, 'user');
    database.exec("update sessions set state = x'ff' where id = 'blobs'");
    await assert.rejects(service.getSession(key), { code: 'corrupt_record' });
    await service.deleteSession(key);
  });

  it('is reported if a state or an event has too many levels', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    session('deep state', `{"n": ${deep}}`);
    session('deep event', '{}');
    event('deep event', 'e1', '2023-11-14 22:13:20.123457', `{"custom_metadata": {"n": ${deep}}}`);
    for (const sessionId of ['deep state', 'deep event']) {
      const key = { ...USER, sessionId };
      await assert.rejects(service.getSession(key), { code: 'corrupt_record' });
      await service.deleteSession(key);
    }
  });

  it('is readable without rows of its app and user', async () => {
    session('alone', '{"n": 1}');
    event('alone', 'e1', '2023-11-14 22:13:20.123457', null);
    const handle = await service.getSession({ ...USER, sessionId: 'alone' });
    assert.deepEqual(
      handle?.events.map(({ id, invocationId }) => [id, invocationId]),
      [['e1', 'i']],
    );
    await service.appendEvent({ session: handle, event: eventOf('e2', { 'app:a': 1, n: 2 }) });
    const read = await service.getSession({ ...USER, sessionId: 'alone' });
    assert.deepEqual(read?.state, { n: 2, 'app:a': 1 });
  });

  it('stands at its time, as Python reads it, even if its clock was behind', async () => {
    const handle = await service.createSession({ ...USER, sessionId: 'order' });
    await service.appendEvent({ session: handle, event: eventOf('ours') });
    const data = '{"author": "agent", "timestamp": 1700000000.5}';
    event('order', 'late', '2023-11-14 22:13:20.500000', data);
    const read = await service.getSession({ ...USER, sessionId: 'order' });
    assert.deepEqual(
      read?.events.map(({ id }) => id),
      ['late', 'ours'],
    );
    assert.equal(read.events[0]?.timestamp, 1700000000500);
  });

  it('of the time of another event stands by its id, in windows and in pages too', async () => {
    const key = { ...USER, sessionId: 'equal' };
    session('equal', EMPTY);
    const ids = ['z', 'm', 'a'];
    for (const id of ids) event('equal', id, '2023-11-14 22:13:20.123457', '{"author": "agent"}');
    const read = await service.getSession(key);
    assert.deepEqual(
      read?.events.map(({ id }) => id),
      ['a', 'm', 'z'],
    );
    const last = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
    assert.deepEqual(
      last?.events.map(({ id }) => id),
      ['z'],
    );
    assert.deepEqual(await pagesOf(service, key), ['z', 'm', 'a']);
  });

  it('precedes the events that the package appends at the same time', async () => {
    const key = { ...USER, sessionId: 'after' };
    session('after', EMPTY);
    event('after', 'theirs', '2023-11-14 22:13:20.123457', '{"author": "agent"}');
    const handle = await service.getSession(key);
    const events = ['m', 'a'].map((id) => ({ ...eventOf(id), timestamp: 1700000000123.457 }));
    for (const event of events) await service.appendEvent({ session: handle!, event });
    const read = await service.getSession(key);
    assert.deepEqual(
      read?.events.map(({ id }) => id),
      ['theirs', 'm', 'a'],
    );
  });

  it('sets the time of a session, even after the package has moved it', async () => {
    const key = { ...USER, sessionId: 'moved' };
    const handle = await service.createSession(key);
    const past = { ...eventOf('past'), timestamp: 1000 };
    await service.appendEvent({ session: handle, event: past });
    const ours = await service.getSession(key);
    assert.equal(ours?.lastUpdateTime, handle.lastUpdateTime);
    database
      .prepare('update sessions set update_time = ? where id = ?')
      .run('2100-01-01 00:00:00.000001', 'moved');
    const read = await service.getSession(key);
    assert.equal(read?.lastUpdateTime, Date.UTC(2100, 0, 1) + 0.001);
    const { sessions } = await service.listSessions({ appName: 'app', order: 'desc', limit: 1 });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['moved'],
    );
  });

  it('that moves the time of a session back does not make a deleted revision reusable', async () => {
    const key = { ...USER, sessionId: 'again' };
    const handle = await service.createSession(key);
    const event = { ...eventOf('late'), timestamp: Date.now() };
    await service.appendEvent({ session: handle, event });
    const listened: Notice['type'][] = [];
    const stop = service.watch(key, { onNotice: ({ type }) => void listened.push(type) });
    await service.appendEvent({ session: handle, event: eventOf('later') });
    const set = 'update sessions set update_time = ? where id = ?';
    database.prepare(set).run('2023-11-14 22:13:20.123457', 'again');
    await service.deleteSession(key);
    await service.createSession(key);
    await assert.rejects(service.appendEvent({ session: handle, event: eventOf('gone') }), {
      code: 'not_found',
    });
    await new Promise((resolve) => setImmediate(resolve));
    stop();
    assert.deepEqual(listened, ['appended', 'deleted', 'created']);
  });

  it('that cannot be read is named, and all others are readable', async () => {
    session('damaged', EMPTY);
    event('damaged', 'e1', '2023-11-14 22:13:20.000001', '{"author": "agent", "timestamp": 1}');
    event('damaged', 'e2', '2023-11-14 22:13:20.000002', '{"author": "ag');
    const key = { ...USER, sessionId: 'damaged' };
    await assert.rejects(service.getSession(key), { code: 'corrupt_record', message: /e2/ });
    const read = await service.getSession({ ...key, config: { skipCorrupt: true } });
    assert.deepEqual(
      read?.events.map(({ id }) => id),
      ['e1'],
    );
  });
});

/** The ids of the events on all pages of one event, the newest first. */
async function pagesOf(
  service: DatabaseSessionService,
  key: CompositeSessionKey,
): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  let before: string | undefined;
  do {
    const page = await service.listEvents({ ...key, limit: 1, before });
    ids.push(...page.events.map(({ id }) => id));
    ({ before } = page);
  } while (before !== undefined);
  return ids;
}
