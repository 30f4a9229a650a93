// MariaDB: the conformance suite with the engine's limits, and what only this engine does.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { isSessionError } from '../../../../js/index.js';
import { choosesByTime, FOREIGN_TEXT } from './cases/after_timestamp.js';
import { eventOf } from './cases/concurrency.js';
import { conforms } from '../../conforms.js';
import { hearsOthers } from './cases/foreign_changes.js';
import { keepsItsLimits } from './cases/limits.js';
import { ordersAsJavaScript } from './cases/list_order.js';
import { appliesOnce } from './cases/mutations.js';
import { MARIADB_REFUSALS } from './cases/refusals.js';
import { knowsRetries } from './cases/retries.js';
import { searches } from './cases/searches.js';
import { cleared, emptied, type Server, startMariadb } from './servers.js';

let server: Server;
before(async () => (server = await startMariadb()));
after(() => server.remove());

const newUrl = () => emptied('mariadb', server);
const open = (url: string) => new DatabaseSessionService(url);

conforms(
  'MariaDB',
  async (options) => new DatabaseSessionService(await cleared('mariadb', server), options),
  { expectations: MARIADB_REFUSALS },
);
ordersAsJavaScript('MariaDB', newUrl);
knowsRetries('MariaDB', newUrl, open);
appliesOnce('MariaDB', async (clock) => {
  return new DatabaseSessionService(await newUrl(), { clock: () => clock.now });
});
hearsOthers('MariaDB', newUrl, open);
const run = async (url: string, statement: string) => {
  const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
  const [rows] = await connection.query(statement);
  await connection.end();
  return rows;
};
choosesByTime('MariaDB', newUrl, open, run, FOREIGN_TEXT);
searches('MariaDB', newUrl, run);
keepsItsLimits('MariaDB', newUrl, open);
it('a connection to MariaDB prepares each statement once', async () => {
  await using service = open(await newUrl());
  const session = await service.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
  await service.appendEvent({ session, event: eventOf('first') });
  const prepared = await counted('Com_stmt_prepare');
  const executed = await counted('Com_stmt_execute');
  for (const id of ['second', 'third']) await service.appendEvent({ session, event: eventOf(id) });
  assert.equal(await counted('Com_stmt_prepare'), prepared);
  assert.ok((await counted('Com_stmt_execute')) > executed);
});

it('a service works if MariaDB accepts no more prepared statements', async () => {
  await onServer('set global max_prepared_stmt_count = 0');
  try {
    await using service = open(await newUrl());
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    const session = await service.createSession(key);
    await service.appendEvent({ session, event: eventOf('first') });
    assert.equal((await service.getSession(key))?.events.length, 1);
  } finally {
    await onServer('set global max_prepared_stmt_count = default');
  }
});

/** A counter of the server since its start. */
async function counted(name: string): Promise<number> {
  const [row] = await onServer(`show global status like '${name}'`);
  return Number(row?.Value);
}

async function onServer(statement: string): Promise<RowDataPacket[]> {
  const { port } = server;
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'adk' });
  const [rows] = await connection.query<RowDataPacket[]>(statement);
  await connection.end();
  return rows;
}

it('MariaDB keeps U+0000 in states and events, and the order of keys', async () => {
  const service = open(await newUrl());
  const key = { appName: 'app', userId: 'user', sessionId: 'session' };
  const state = { zz: { b: 'a\0b', a: 1 }, 'a\0b': [1] };
  const session = await service.createSession({ ...key, state });
  const event = { ...eventOf('e'), content: { parts: [{ text: 'a\0b' }] } };
  await service.appendEvent({ session, event });
  const stored = await service.getSession(key);
  assert.equal(JSON.stringify(stored?.state), JSON.stringify(state));
  assert.deepEqual(stored?.events, [event]);
  await service.close();
});

it('MariaDB stores many events at once that together are longer than its max_allowed_packet', async () => {
  await using service = open(await newUrl());
  const key = { appName: 'app', userId: 'user', sessionId: 'session' };
  const session = await service.createSession(key);
  const text = 'x'.repeat(200_000);
  const events = Array.from({ length: 128 }, (_, number) => {
    return { ...eventOf(`e${number}`), content: { parts: [{ text }] } };
  });
  await service.appendEvents({ session, events });
  assert.equal((await service.getSession(key))?.events.length, 128);
});

const isRefusal = (error: unknown) => {
  assert.ok(isSessionError(error, 'quota_exceeded'), String(error));
  assert.match(error.message, /max_allowed_packet/);
  return true;
};

it('MariaDB with a small max_allowed_packet stores files in smaller chunks, and refuses what is too large each time', async () => {
  const url = await newUrl();
  await onServer(`set global max_allowed_packet = ${2 ** 20}`);
  try {
    await using service = new DatabaseSessionService(url, { artifacts: true });
    const key = { appName: 'app', userId: 'user', sessionId: 'session' };
    const session = await service.createSession(key);
    const bytes = new Uint8Array(2 * 2 ** 20 + 5).map((_, at) => at * 7);
    async function* stream() {
      yield await Promise.resolve(bytes);
    }
    for (const [version, data] of [bytes, bytes, stream()].entries()) {
      const request = { ...key, filename: 'a', version };
      await service.artifacts.put({ ...key, filename: 'a', data });
      const all = await service.artifacts.open(request);
      assert.deepEqual(new Uint8Array(await all!.arrayBuffer()), bytes);
      const [start, end] = [2 ** 18 - 1, 2 ** 20 + 1];
      const part = await service.artifacts.open({ ...request, start, end });
      assert.deepEqual(new Uint8Array(await part!.arrayBuffer()), bytes.slice(start, end));
    }
    const text = '"'.repeat(2 ** 20);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      // Its first statement is that of a new connection.
      await using another = open(url);
      const handle = attempt === 0 ? session : await another.getSession(key);
      const event = { ...eventOf('long'), content: { parts: [{ text }] } };
      await assert.rejects(another.appendEvent({ session: handle!, event }), isRefusal);
      const put = { ...key, filename: 'b', data: bytes, customMetadata: { text } };
      await assert.rejects(service.artifacts.put(put), isRefusal);
    }
  } finally {
    await onServer('set global max_allowed_packet = default');
  }
});

it('MariaDB refuses an append that makes a state longer than max_allowed_packet', async () => {
  await using service = open(await newUrl());
  const key = { appName: 'app', userId: 'user', sessionId: 'session' };
  const session = await service.createSession(key);
  const text = 'é'.repeat(3_000_000);
  for (const name of ['a', 'b']) {
    await service.appendEvent({ session, event: eventOf(name, { [name]: text }) });
  }
  const tooMuch = service.appendEvent({ session, event: eventOf('c', { c: text }) });
  await assert.rejects(tooMuch, isRefusal);
  assert.deepEqual(Object.keys((await service.getSession(key))?.state ?? {}), ['a', 'b']);
});

describe('An event on MariaDB that is longer than max_allowed_packet', () => {
  const tooLong = { ...eventOf('long'), content: { parts: [{ text: 'é'.repeat(9_000_000) }] } };

  it('is refused, and the handle can still be used', async () => {
    await using service = open(await newUrl());
    const key = { appName: 'app', userId: 'user', sessionId: 'session' };
    const session = await service.createSession(key);
    await assert.rejects(service.appendEvent({ session, event: tooLong }), isRefusal);
    await service.appendEvent({ session, event: eventOf('short') });
    assert.equal((await service.getSession(key))?.events.length, 1);
  });

  it('is refused alone if others are appended at the same time', async () => {
    await using service = open(await newUrl());
    const sessions = await Promise.all(
      ['a', 'b', 'c'].map((sessionId) =>
        service.createSession({ appName: 'app', userId: 'user', sessionId }),
      ),
    );
    const appends = sessions.map((session, at) =>
      service.appendEvent({ session, event: at === 1 ? tooLong : eventOf('short') }),
    );
    const outcomes = await Promise.allSettled(appends);
    const statuses = outcomes.map(({ status }) => status);
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled']);
    await assert.rejects(async () => appends[1], isRefusal);
  });
});

it('ping() refuses MariaDB tables that would lose data, with the statements that correct them', async () => {
  const url = await newUrl();
  // Python creates these tables for a mariadb:// URL.
  const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
  for (const statement of PYTHON_TABLES) await connection.query(statement);
  const service = open(url);
  let statements: string[] = [];
  await assert.rejects(service.ping(), ({ code, message }: Error & { code: string }) => {
    assert.equal(code, 'storage_unavailable');
    statements = message
      .replace(/^.*run: /s, '')
      .split(';')
      .slice(0, -1);
    return true;
  });
  for (const statement of statements) await connection.query(statement);
  await connection.end();
  await service.createSession({ appName: 'app', userId: 'alice', sessionId: 's' });
  const other = await service.getSession({ appName: 'app', userId: 'Alice', sessionId: 's' });
  assert.equal(other, undefined);
  await service.close();
});

const PYTHON_TABLES = [
  `create table adk_internal_metadata (\`key\` varchar(128) not null, value varchar(256) not null,
     primary key (\`key\`)) default character set utf8mb4`,
  "insert into adk_internal_metadata values ('schema_version', '1')",
  `create table sessions (app_name varchar(128) not null, user_id varchar(128) not null,
     id varchar(128) not null, state text not null, create_time datetime not null,
     update_time datetime not null, primary key (app_name, user_id, id)) default character set utf8mb4`,
  `create table app_states (app_name varchar(128) not null, state text not null,
     update_time datetime not null, primary key (app_name)) default character set utf8mb4`,
  `create table user_states (app_name varchar(128) not null, user_id varchar(128) not null,
     state text not null, update_time datetime not null, primary key (app_name, user_id))
     default character set utf8mb4`,
  `create table events (id varchar(128) not null, app_name varchar(128) not null,
     user_id varchar(128) not null, session_id varchar(128) not null,
     invocation_id varchar(256) not null, timestamp datetime not null, event_data text,
     primary key (id, app_name, user_id, session_id),
     foreign key (app_name, user_id, session_id) references sessions (app_name, user_id, id)
       on delete cascade) default character set utf8mb4`,
];
