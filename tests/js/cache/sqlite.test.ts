import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { event, idsOf, KEY, openCache, Server, until, untilSent } from './fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-cache-'));
after(() => rmSync(folder, { recursive: true }));

/** Opens the database again, as another run of a program does. */
function openLocal(name: string): DatabaseSessionService {
  return new DatabaseSessionService(`sqlite:${join(folder, name)}`);
}

it('a cache over a SQLite file sends after a restart what was written offline, behind the events of others', async () => {
  const server = new Server();
  const first = openLocal('restart.db');
  const { cache } = openCache(server, { local: first });
  const session = await cache.createSession({ ...KEY, state: { a: 0 } });
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('ours', { a: 'ours', 'user:mine': 1 }) });
  await cache.close();
  await first.close();

  const other = await server.service.getSession(KEY);
  await server.service.appendEvent({ session: other!, event: event('theirs', { a: 'theirs' }) });
  server.isOffline = false;
  const second = openLocal('restart.db');
  const { cache: next } = openCache(server, { local: second });
  await until(async () => idsOf(await server.service.getSession(KEY))?.length === 2);
  await until(() => untilSent(next));
  await next.sync();
  for (const service of [server.service, next]) {
    const read = await service.getSession(KEY);
    const expected = [['theirs', 'ours'], { a: 'ours', 'user:mine': 1 }];
    assert.deepEqual([idsOf(read), read?.state], expected);
  }
  await next.close();
  await second.close();
});

it('a cache over a SQLite file sends what waits in several sessions', async () => {
  const server = new Server();
  const local = openLocal('several.db');
  const { cache } = openCache(server, { local });
  const keys = ['s1', 's2', 's3'].map((sessionId) => ({ ...KEY, sessionId }));
  const sessions = await Promise.all(keys.map((key) => cache.createSession(key)));
  await cache.sync();
  server.isOffline = true;
  for (const session of sessions) {
    for (const id of ['e1', 'e2']) await cache.appendEvent({ session, event: event(id) });
  }
  await until(() => !cache.status.online && !cache.status.isSending);
  server.isOffline = false;
  server.requests.length = 0;
  await cache.sync();
  for (const key of keys) {
    assert.deepEqual(idsOf(await server.service.getSession(key)), ['e1', 'e2']);
  }
  const appends = server.requests.filter((request) => request.endsWith('/handle/events'));
  assert.equal(appends.length, keys.length);
  await cache.close();
  await local.close();
});

it('a list of the outbox is no change of the status, also if sessions are damaged', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = openLocal('damaged.db');
  const { cache } = openCache(server, { local });
  for (const sessionId of ['s1', 's2']) {
    const session = await cache.createSession({ ...KEY, sessionId });
    await cache.appendEvent({ session, event: event('e1') });
  }
  await cache.close();
  await local.close();
  const bare = new Sqlite(join(folder, 'damaged.db'));
  bare.exec(`update events set event_data = '5'`);
  bare.close();

  const again = openLocal('damaged.db');
  const { cache: second } = openCache(server, { local: again });
  const codes = (await second.outbox.list()).map(({ error }) => error?.code);
  assert.deepEqual(codes, ['corrupt_record', 'corrupt_record']);
  const { status } = second;
  await second.outbox.list();
  assert.equal(second.status, status);
  await second.close();
  await again.close();
});

it('two owners in one SQLite file see nothing of each other', async () => {
  const server = new Server();
  const local = openLocal('owners.db');
  const { cache: ada } = openCache(server, { local });
  await ada.createSession(KEY);
  await ada.sync();
  const { cache: bob } = openCache(server, { local, owner: 'bob', reads: 'cache-only' });
  assert.equal(await bob.getSession(KEY), undefined);
  assert.deepEqual(await bob.outbox.list(), []);
  await ada.close();
  await bob.close();
  await local.close();
});
