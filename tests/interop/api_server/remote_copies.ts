// The cache over the remote client over the real `adk api_server`: a device that loses its connection and its process.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { CachedSessionService, MemoryLocalStore } from '../../../js/service/cache/index.js';
import { isSessionError, type SessionErrorCode } from '../../../js/index.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { freePort } from '../../js/stores/database/servers.js';
import type { RemoteContext } from './remote_context.js';
import { firstText } from '../shared_session.js';

const USER = { appName: 'script', userId: 'cached' };
const KEY = { ...USER, sessionId: 's1' };

const message = (...steps: readonly object[]) => ({
  role: 'user',
  parts: [{ text: JSON.stringify(steps) }],
});

const failsWith = (code: SessionErrorCode) => (error: unknown) => {
  assert.ok(isSessionError(error, code), String(error));
  return true;
};

export function remoteCopies(context: RemoteContext): void {
  it('lists, opens and runs, has everything offline after a restart, and goes on online', async () => {
    const local = new MemoryLocalStore();
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const open = (url: string) => {
      const remote = new RemoteSessionService({ url, retries: 0 });
      const cache = new CachedSessionService({ remote, local, owner: 'ada' });
      const close = async (): Promise<void> => {
        await cache.close();
        await remote.close();
      };
      return { cache, close };
    };
    const run = async (cache: CachedSessionService, ...steps: readonly object[]) => {
      const seen: unknown[] = [];
      for await (const event of cache.run({
        ...KEY,
        newMessage: message(...steps),
        streaming: true,
      })) {
        seen.push([firstText(event), event.partial === true]);
      }
      return seen;
    };
    const idsIn = async (cache: CachedSessionService) => {
      const { sessions } = await cache.listSessions(USER);
      return sessions.map(({ id }) => id).sort();
    };
    const statesIn = async (service: Pick<CachedSessionService, 'listSessions'>) => {
      const { sessions } = await service.listSessions(USER);
      return Object.fromEntries(sessions.map(({ id, state }) => [id, state]));
    };
    // Another device made both.
    await context.remote.createSession({ ...KEY, state: { topic: 'tea', 'user:name': 'Ada' } });
    await context.remote.createSession({ ...USER, sessionId: 's2' });

    const first = open(context.url);
    assert.deepEqual(await idsIn(first.cache), ['s1', 's2']);
    assert.deepEqual(await statesIn(first.cache), await statesIn(context.remote));
    const opened = await first.cache.getSession(KEY);
    assert.deepEqual(opened?.state, (await context.remote.getSession(KEY))?.state);
    const seen = await run(
      first.cache,
      { say: 'Green', partial: true },
      { say: 'Green tea.', state: { n: 1 } },
    );
    assert.deepEqual(seen, [
      ['Green', true],
      ['Green tea.', false],
    ]);
    const after = await first.cache.getSession(KEY);
    const stored = await context.remote.getSession(KEY);
    assert.deepEqual(after?.events, stored?.events);
    assert.deepEqual(after?.state, stored?.state);
    assert.equal(after?.state.n, 1);
    await first.close();

    const second = open(nobody);
    assert.deepEqual(await idsIn(second.cache), ['s1', 's2']);
    const session = (await second.cache.getSession(KEY))!;
    assert.deepEqual(session.events, stored?.events);
    assert.deepEqual(session.state, after?.state);
    await assert.rejects(run(second.cache, { say: 'never' }), failsWith('connection_lost'));
    const event = { author: 'user', invocationId: 'i' };
    await assert.rejects(second.cache.appendEvent({ session, event }), failsWith('unsupported'));
    await assert.rejects(
      second.cache.getSession({ ...USER, sessionId: 'never seen' }),
      failsWith('connection_lost'),
    );
    await second.cache.createSession({ ...USER, sessionId: 'offline', state: { topic: 'milk' } });
    assert.deepEqual(await idsIn(second.cache), ['offline', 's1', 's2']);
    await second.close();

    await context.remote.updateState({ ...KEY, stateDelta: { meanwhile: true } });
    const third = open(context.url);
    await third.cache.sync();
    assert.deepEqual(third.cache.status.pending, []);
    assert.deepEqual(await third.cache.outbox.list(), []);
    const made = await context.remote.getSession({ ...USER, sessionId: 'offline' });
    assert.equal(made?.state.topic, 'milk');
    assert.equal(made?.state['user:name'], 'Ada');
    assert.deepEqual(await run(third.cache, { say: 'On it goes.' }), [['On it goes.', false]]);
    const end = await third.cache.getSession(KEY);
    const there = await context.remote.getSession(KEY);
    assert.deepEqual(end?.events, there?.events);
    assert.deepEqual(end?.state, there?.state);
    assert.equal(there?.events.length, 5);
    await third.close();
  });
}
