// The remote client over the real `adk api_server`.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { isSessionError } from '../../js/index.js';
import { RemoteSessionService } from '../../js/remote/index.js';
import { type ApiServer, startApiServer } from './api_server.js';
import { SHARED_ENGINES } from './shared_databases.js';

const USER = { appName: 'shop', userId: 'ada' };
const KEY = { ...USER, sessionId: 's1' };

for (const [title, start] of SHARED_ENGINES) {
  describe(`The remote client over adk api_server on ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    let server: ApiServer;
    let remote: RemoteSessionService;
    before(async () => {
      server = await startApiServer((await newDatabase()).python);
      remote = new RemoteSessionService({ url: server.url });
    });
    after(async () => {
      await remote.close();
      await server.end();
    });

    it('creates, reads, changes, lists and deletes sessions', async () => {
      await remote.ping();
      const created = await remote.createSession({ ...KEY, state: { a: 1, 'user:u': 'U' } });
      assert.deepEqual(created.state, { a: 1, 'user:u': 'U' });
      assert.ok(Math.abs(created.lastUpdateTime - Date.now()) < 600_000, 'milliseconds');
      const again = await remote.getOrCreateSession({ ...KEY, state: { other: true } });
      assert.deepEqual(again.state, created.state);
      await assert.rejects(remote.createSession(KEY), (error) =>
        isSessionError(error, 'already_exists'),
      );

      await remote.updateState({ ...KEY, stateDelta: { a: 2, 'app:b': 3 } });
      await remote.updateState({ ...KEY, stateDelta: { c: null } });
      const session = (await remote.getSession(KEY))!;
      assert.deepEqual(session.state, { a: 2, c: null, 'user:u': 'U', 'app:b': 3 });
      assert.deepEqual(
        session.events.map(({ author, actions }) => [author, actions.stateDelta]),
        [
          ['user', { a: 2, 'app:b': 3 }],
          ['user', { c: null }],
        ],
      );
      const last = await remote.getSession({ ...KEY, config: { numRecentEvents: 1 } });
      assert.deepEqual(last?.events, session.events.slice(1));
      const { timestamp } = session.events[1]!;
      const later = await remote.getSession({ ...KEY, config: { afterTimestamp: timestamp } });
      assert.deepEqual(later?.events, session.events.slice(1));

      await remote.createSession({ ...USER, sessionId: 's2' });
      const all = await remote.listSessions(USER);
      assert.deepEqual([all.sessions.map(({ id }) => id), all.totalItems], [['s1', 's2'], 2]);
      assert.deepEqual(all.sessions[1]?.state, { 'user:u': 'U', 'app:b': 3 });
      const page = await remote.listSessions({ ...USER, order: 'desc', limit: 1 });
      assert.deepEqual([page.sessions.map(({ id }) => id), page.totalPages], [['s2'], 2]);
      await remote.deleteSession(KEY);
      assert.equal(await remote.getSession(KEY), undefined);
      await remote.deleteSession(KEY);
    });

    it('says why it can do no more', async () => {
      const session = await remote.getOrCreateSession({ ...USER, sessionId: 's3' });
      const before = structuredClone({ ...session });
      const key = { ...USER, sessionId: 's3' };
      for (const call of [
        () => remote.appendEvent({ session, event: { author: 'user', invocationId: 'i' } }),
        () => remote.createSession({ ...USER, events: [{ author: 'user', invocationId: 'i' }] }),
        () => remote.createSession({ ...USER, title: 'Tea' }),
        () => remote.updateSession(key, { title: 'Tea' }),
        () => remote.listEvents(key),
        () => remote.sessionInfo(key),
        () => remote.listSessions({ appName: 'shop' }),
        () => remote.getUserState(USER),
        () => remote.updateState({ ...USER, stateDelta: { 'user:a': 1 } }),
        () => remote.updateState({ ...key, stateDelta: () => ({ a: 1 }) }),
        () => remote.updateState({ ...key, stateDelta: { a: undefined } }),
        () => remote.deleteUser(USER),
        () => remote.getSession({ ...USER, sessionId: '..' }),
      ]) {
        await assert.rejects(call(), (error) => {
          assert.ok(isSessionError(error, 'unsupported'), String(error));
          assert.match(error.message, /adk api_server/);
          return true;
        });
      }
      assert.deepEqual({ ...session }, before);
      assert.equal((await remote.watch({ appName: 'shop' }).next()).done, true);
    });
  });
}
