// The real `adk api_server` on a database that we write.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { Event } from '../../../js/index.js';
import { type ApiServer, startApiServer } from './api_server.js';
import type { PythonSession } from '../python.js';
import { userEvent, firstText } from '../shared_session.js';
import { SHARED_ENGINES } from '../database/shared_databases.js';

type ApiSession = PythonSession & { readonly id: string };

const USER = { appName: 'shop', userId: 'ada' };
const PATH = '/apps/shop/users/ada/sessions';

for (const [title, start] of SHARED_ENGINES) {
  describe(`adk api_server on ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    let service: DatabaseSessionService;
    let server: ApiServer;

    before(async () => {
      const urls = await newDatabase();
      service = new DatabaseSessionService(urls.ours);
      // The package creates the tables before Python opens them.
      await service.ping();
      server = await startApiServer(urls.python);
    });
    after(async () => {
      await service.close();
      await server.end();
    });

    async function get<T>(path: string): Promise<T> {
      const { status, body } = await server.ask(path);
      assert.equal(status, 200, JSON.stringify(body));
      return body as T;
    }
    const run = (sessionId: string, text: string) =>
      server.ask('/run', {
        body: { ...USER, sessionId, newMessage: { role: 'user', parts: [{ text }] } },
      });

    it("gets and lists the package's sessions with the state of all scopes", async () => {
      const state = { topic: 'tea', nothing: null, 'user:name': 'Ada', 'app:currency': 'KRW' };
      const session = await service.createSession({ ...USER, sessionId: 'read', state });
      const event = userEvent('one', { topic: 'milk', list: [{ a_b: 1, cD: 2 }] });
      await service.appendEvent({ session, event });
      await service.createSession({ ...USER, sessionId: 'other' });

      const read = await get<ApiSession>(`${PATH}/read`);
      assert.deepEqual(read.state, session.state);
      assert.deepEqual(read.events.map(firstText), ['one']);
      assert.deepEqual(read.events[0]?.actions.stateDelta, event.actions.stateDelta);
      assert.equal(read.lastUpdateTime, session.lastUpdateTime / 1000);
      const listed = await get<ApiSession[]>(PATH);
      assert.deepEqual(
        listed.map(({ id, state }) => [id, state]),
        [
          ['read', read.state],
          ['other', { 'user:name': 'Ada', 'app:currency': 'KRW' }],
        ],
      );
    });

    it("runs a turn on the package's session, which the package continues", async () => {
      const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW' };
      const session = await service.createSession({ ...USER, sessionId: 'turn', state });
      await service.appendEvent({ session, event: userEvent('before', { topic: 'milk' }) });

      const { status, body } = await run('turn', 'Hello!');
      assert.equal(status, 200, JSON.stringify(body));
      const answer = 'Serve Ada milk for KRW. (2)';
      assert.equal((body as Event[]).map(firstText).at(-1), answer);

      await service.appendEvent({ session, event: userEvent('after', { 'user:name': 'Eve' }) });
      const said = ['before', 'Hello!', undefined, answer, 'after'];
      assert.deepEqual(session.events.map(firstText), said);
      const read = await service.getSession({ ...USER, sessionId: 'turn' });
      assert.deepEqual(read?.events.map(firstText), said);
      const counted = { turns: 1, 'user:turns': 1, 'app:turns': 1 };
      const left = { ...state, ...counted, topic: 'milk', answer, 'user:name': 'Eve' };
      assert.deepEqual(read.state, left);
      assert.deepEqual(session.state, left);

      const again = await run('turn', 'Still there?');
      assert.equal((again.body as Event[]).map(firstText).at(-1), 'Serve Eve milk for KRW. (5)');
    });

    it('creates a session that the package continues', async () => {
      const state = { topic: 'tea', 'user:name': 'Eve', 'app:currency': 'EUR', 'temp:t': 1 };
      const created = await server.ask(PATH, { body: { sessionId: 'theirs', state } });
      assert.equal(created.status, 200);

      const session = await service.getSession({ ...USER, sessionId: 'theirs' });
      assert.ok(session);
      const { topic, 'app:currency': currency, 'user:name': name } = session.state;
      assert.deepEqual([topic, currency, name], ['tea', 'EUR', 'Eve']);
      assert.ok(!('temp:t' in session.state));
      await service.appendEvent({
        session,
        event: userEvent('ours', { n: 1, 'app:currency': 'USD' }),
      });
      const read = await get<ApiSession>(`${PATH}/theirs`);
      assert.deepEqual(read.events.map(firstText), ['ours']);
      assert.deepEqual([read.state.n, read.state['app:currency']], [1, 'USD']);
    });

    it("changes the state of the package's session, and deletes it", async () => {
      const key = { ...USER, sessionId: 'changed' };
      await service.createSession({ ...key, state: { n: 1, kept: true } });
      const body = { stateDelta: { n: 2, 'user:seen': true } };
      const { status } = await server.ask(`${PATH}/changed`, { method: 'PATCH', body });
      assert.equal(status, 200);
      const session = await service.getSession(key);
      assert.deepEqual([session?.state.n, session?.state['user:seen']], [2, true]);
      assert.deepEqual(session?.events[0]?.actions.stateDelta, body.stateDelta);

      await server.ask(`${PATH}/changed`, { method: 'DELETE' });
      assert.equal(await service.getSession(key), undefined);
      await assert.rejects(service.appendEvent({ session, event: userEvent('late') }), {
        code: 'not_found',
      });
    });

    it('refuses an id in use, and does not find a deleted session', async () => {
      const key = { ...USER, sessionId: 'gone' };
      await service.createSession(key);
      const taken = await server.ask(PATH, { body: { sessionId: 'gone' } });
      assert.equal(taken.status, 409);
      await service.deleteSession(key);
      assert.equal((await server.ask(`${PATH}/gone`)).status, 404);
    });
  });
}
