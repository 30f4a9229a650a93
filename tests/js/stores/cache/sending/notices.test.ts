// A watch of a service hears what a cache over the same service writes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { InMemorySessionService, type Notice } from '../../../../../js/index.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { event, KEY, openCache, Server, until, USER } from '../fixture.js';

const REMOTES: Readonly<Record<string, () => StoredSessionService>> = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

const short = (notice: Notice): string =>
  [notice.type, ...('scopes' in notice ? notice.scopes : [])].join(' ');

for (const [name, open] of Object.entries(REMOTES)) {
  describe(`A watch of a service over ${name}`, () => {
    it('hears once what a cache over it writes', async () => {
      const remote = open();
      const heard: string[] = [];
      const stop = remote.watch(USER, { onNotice: (notice) => heard.push(short(notice)) });
      const local = new MemoryLocalStore();
      const cache = new CachedSessionService({ remote, owner: 'ada', local });
      /** Writes through the cache, and returns what is heard of it. */
      const hear = async (write: () => Promise<unknown>): Promise<string[]> => {
        heard.length = 0;
        await write();
        await cache.sync();
        await new Promise((resolve) => setTimeout(resolve, 20));
        return [...heard];
      };
      const session = await cache.createSession(KEY);
      assert.deepEqual(await hear(() => Promise.resolve()), ['created']);
      const append = () =>
        cache.appendEvent({ session, event: event('e1', { 'user:name': 'Ada' }) });
      assert.deepEqual(await hear(append), ['appended user']);
      assert.deepEqual(await hear(() => cache.updateSession(KEY, { title: 'Tea' })), ['updated']);
      const update = () => cache.updateState({ ...USER, stateDelta: { 'app:open': true } });
      assert.deepEqual(await hear(update), ['stateChanged app']);
      assert.deepEqual(await hear(() => cache.deleteSession(KEY)), ['deleted']);
      assert.deepEqual(await hear(() => cache.deleteUserState(USER)), ['stateChanged user']);
      assert.deepEqual(await hear(() => cache.deleteAppState(USER)), ['stateChanged app']);
      assert.deepEqual(await hear(() => cache.deleteUser(USER)), ['deleted']);
      stop();
      await cache.close();
      await remote.close();
    });
  });
}

it('A watch of a client hears once what a cache over it writes: the server tells', async () => {
  const server = new Server();
  const remote = server.client();
  const heard: string[] = [];
  const stop = remote.watch(USER, { onNotice: (notice) => heard.push(short(notice)) });
  await until(() => heard.includes('resync'));
  const { cache } = openCache(server, { remote });
  const session = await cache.createSession(KEY);
  await cache.sync();
  await cache.appendEvent({ session, event: event('e1') });
  await cache.sync();
  await until(() => heard.includes('appended'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(heard, ['resync', 'created', 'appended']);
  stop();
  await cache.close();
  await remote.close();
});
