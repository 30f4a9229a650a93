// Sessions of the real `adk api_server`, through the remote client.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { rewind } from '../../../js/core/history/index.js';
import { isSessionError } from '../../../js/index.js';
import type { RemoteContext } from './remote_context.js';

const USER = { appName: 'shop', userId: 'ada' };
const KEY = { ...USER, sessionId: 's1' };

export function remoteCalls(context: RemoteContext): void {
  it('creates, reads, changes, lists and deletes sessions', async () => {
    await context.remote.ping();
    const created = await context.remote.createSession({ ...KEY, state: { a: 1, 'user:u': 'U' } });
    assert.deepEqual(created.state, { a: 1, 'user:u': 'U' });
    assert.ok(Math.abs(created.lastUpdateTime - Date.now()) < 600_000, 'milliseconds');
    const again = await context.remote.getOrCreateSession({ ...KEY, state: { other: true } });
    assert.deepEqual(again.state, created.state);
    await assert.rejects(context.remote.createSession(KEY), (error) =>
      isSessionError(error, 'already_exists'),
    );

    await context.remote.updateState({ ...KEY, stateDelta: { a: 2, 'app:b': 3 } });
    await context.remote.updateState({ ...KEY, stateDelta: { c: null } });
    const session = (await context.remote.getSession(KEY))!;
    assert.deepEqual(session.state, { a: 2, c: null, 'user:u': 'U', 'app:b': 3 });
    assert.deepEqual(
      session.events.map(({ author, actions }) => [author, actions.stateDelta]),
      [
        ['user', { a: 2, 'app:b': 3 }],
        ['user', { c: null }],
      ],
    );
    const last = await context.remote.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    assert.deepEqual(last?.events, session.events.slice(1));
    const { timestamp } = session.events[1]!;
    const later = await context.remote.getSession({
      ...KEY,
      config: { afterTimestamp: timestamp },
    });
    assert.deepEqual(later?.events, session.events.slice(1));

    await context.remote.createSession({ ...USER, sessionId: 's2' });
    const all = await context.remote.listSessions(USER);
    assert.deepEqual([all.sessions.map(({ id }) => id), all.totalItems], [['s1', 's2'], 2]);
    assert.deepEqual(all.sessions[1]?.state, { 'user:u': 'U', 'app:b': 3 });
    const page = await context.remote.listSessions({ ...USER, order: 'desc', limit: 1 });
    assert.deepEqual([page.sessions.map(({ id }) => id), page.totalPages], [['s2'], 2]);
    await context.remote.deleteSession(KEY);
    assert.equal(await context.remote.getSession(KEY), undefined);
    await context.remote.deleteSession(KEY);
  });

  it('says why it can do no more', async () => {
    const session = await context.remote.getOrCreateSession({ ...USER, sessionId: 's3' });
    const before = structuredClone({ ...session });
    const key = { ...USER, sessionId: 's3' };
    for (const call of [
      () => context.remote.appendEvent({ session, event: { author: 'user', invocationId: 'i' } }),
      () =>
        context.remote.createSession({ ...USER, events: [{ author: 'user', invocationId: 'i' }] }),
      () => context.remote.createSession({ ...USER, title: 'Tea' }),
      () => context.remote.updateSession(key, { title: 'Tea' }),
      () => context.remote.listEvents(key),
      () => context.remote.sessionInfo(key),
      () => context.remote.listSessions({ appName: 'shop' }),
      () => context.remote.getUserState(USER),
      () => context.remote.updateState({ ...USER, stateDelta: { 'user:a': 1 } }),
      () => context.remote.updateState({ ...key, stateDelta: () => ({ a: 1 }) }),
      () => context.remote.updateState({ ...key, stateDelta: { a: undefined } }),
      () => context.remote.deleteUser(USER),
      () => context.remote.getSession({ ...USER, sessionId: '..' }),
    ]) {
      await assert.rejects(call(), (error) => {
        assert.ok(isSessionError(error, 'unsupported'), String(error));
        assert.match(error.message, /adk api_server/);
        return true;
      });
    }
    const rewound = rewind(context.remote, { ...key, before: { invocationId: 'i' } });
    await assert.rejects(rewound, (error) => isSessionError(error, 'unsupported'));
    assert.deepEqual({ ...session }, before);
    assert.equal((await context.remote.watch({ appName: 'shop' }).next()).done, true);
  });
}
