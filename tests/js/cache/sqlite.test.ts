import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';

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
