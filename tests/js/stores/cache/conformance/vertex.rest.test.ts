// The conformance suite through a cache over Vertex AI, on the loopback server, and what Vertex AI does otherwise.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { ENGINE, startVertexServer, type VertexServer } from '../../../../vertex_server/server.js';
import { closing, conforms, type Expectations } from '../../../conforms.js';
import {
  OF_OTHER_USERS,
  VERTEX_CASES,
  WITH_EQUAL_IDS,
  WITH_OTHER_IDS,
  WITH_SHARED_STATES,
} from '../../vertex/cases.js';
import { post, serviceOn } from '../../vertex/service.js';
import { event, idsOf, KEY, until, USER } from '../fixture.js';

/** What differs, as `docs/cache.md` says. */
const EXPECTATIONS: Expectations = [
  [/createSession ended with already_exists/, ...WITH_EQUAL_IDS],
  ...OF_OTHER_USERS,
  [/createSession ended with invalid_argument/, ...WITH_OTHER_IDS],
  // With 'through', a change that the remote has no route for is set aside, and the call rejects.
  [
    /ended with unsupported/,
    ...WITH_SHARED_STATES,
    "deleting an app's state keeps its users and sessions",
  ],
  [
    // A session's time is when the server last changed it.
    /listSessions: .sessions is .* but should be/,
    'an update of a session keeps its place in lists',
    'an append moves its session in the list, to the position of its time',
    'a cursor of a list holds while sessions move and are deleted',
  ],
  [
    // The states of users and apps are those that a session shows.
    /get(?:User|App)State: the state has (?:no|the) key/,
    'a removal in the initial state removes the key in its scope',
    'deleting a session deletes its events and state, and nothing else',
    'null is a value, not a removal',
  ],
];

conforms(
  'A cache over Vertex AI',
  async ({ clock = Date.now, ...options }) => {
    const server = await startVertexServer({ clock });
    const remote = serviceOn(server, { clock });
    const local = new MemoryLocalStore();
    const cache = new CachedSessionService({
      ...options,
      clock,
      remote,
      local,
      owner: 'ada',
      reads: 'network-first',
      write: 'through',
    });
    return closing(cache, { close: () => server.end() });
  },
  { expectations: EXPECTATIONS, cases: VERTEX_CASES, concurrency: 8 },
);

describe('Changes that wait for Vertex AI', () => {
  let server: VertexServer;
  before(async () => (server = await startVertexServer()));
  after(() => server.end());

  function openCache() {
    const remote = serviceOn(server);
    return new CachedSessionService({ remote, local: new MemoryLocalStore(), owner: 'ada' });
  }

  it('arrive in order and once, and so does the deletion of a session', async () => {
    const cache = openCache();
    const session = await cache.createSession({ ...KEY, state: { a: 1 } });
    for (const id of ['e1', 'e2', 'e3']) {
      await cache.appendEvent({ session, event: event(id, { last: id }) });
    }
    await cache.updateSession(KEY, { title: 'Tea' });
    await cache.sync();
    const stored = await serviceOn(server).getSession(KEY);
    assert.deepEqual(idsOf(stored), ['e1', 'e2', 'e3']);
    assert.deepEqual([stored?.state, stored?.title], [{ a: 1, last: 'e3' }, 'Tea']);
    await cache.deleteSession(KEY);
    await cache.sync();
    assert.equal(await serviceOn(server).getSession(KEY), undefined);
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.close();
  });

  it('are appended without a request that fetches them again', async () => {
    const cache = openCache();
    const session = await cache.createSession(KEY);
    await cache.sync();
    await cache.appendEvent({ session, event: event('e1') });
    await cache.sync();
    server.forget();
    await cache.appendEvent({ session, event: event('e2') });
    await until(() => cache.status.pending.length === 0);
    assert.equal(server.calls.filter((call) => call === 'sessions.appendEvent').length, 1);
    assert.equal(server.calls.filter((call) => call === 'sessions.get').length, 1);
    await cache.close();
  });

  it('are set aside if they concern a state without a session, or an id that Vertex AI refuses', async () => {
    const cache = openCache();
    await cache.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
    await cache.createSession({ ...KEY, sessionId: 'Upper Case' });
    await cache.sync();
    const codes = (await cache.outbox.list()).map(({ error }) => error?.code);
    assert.deepEqual(codes.sort(), ['invalid_argument', 'unsupported']);
    await cache.close();
  });
});

it('A list makes a copy of a session whose id Vertex AI has made, and the copy sends its events', async (t) => {
  const server = await startVertexServer();
  t.after(() => server.end());
  const state = { topic: 'tea', 'user:name': 'Ada' };
  await post(server, `${ENGINE}/sessions`, { userId: 'ada', sessionState: state });
  const [remote, local] = [serviceOn(server), new MemoryLocalStore()];
  const cache = new CachedSessionService({ remote, local, owner: 'ada' });
  const [listed] = (await cache.listSessions(USER)).sessions;
  assert.deepEqual([listed?.state, listed?.events], [state, []]);
  assert.match(listed!.id, /^\d+$/);
  await cache.appendEvent({ session: listed!, event: event('e1', { topic: 'milk' }) });
  await cache.sync();
  const stored = await serviceOn(server).getSession({ ...USER, sessionId: listed!.id });
  assert.deepEqual([idsOf(stored), stored?.state], [['e1'], { ...state, topic: 'milk' }]);
  const read = await cache.getSession({ ...USER, sessionId: listed!.id });
  assert.deepEqual([read?.events, read?.state], [stored?.events, stored?.state]);
  await cache.close();
});
