// Unsent events that several tabs write again: the remote gets what the stored versions wrote, in their order.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { type Session } from '../../../../js/index.js';
import { type CachedSessionService } from '../../../../js/service/cache/index.js';
import { createOffline, event, idsOf, KEY, openCache, Server, until } from './fixture.js';

const config = { reads: 'cache-only' } as const;

interface Tab {
  readonly cache: CachedSessionService;
  readonly session: Session;
}

/** Opens two tabs over one local storage, without messages to each other, with a session that both have read. */
async function openTabs(server: Server, isCreated: boolean): Promise<readonly [Tab, Tab]> {
  const { cache, session, local } = await createOffline(server, isCreated);
  const { cache: other } = openCache(server, { local });
  const read = await other.getSession({ ...KEY, config });
  return [
    { cache, session },
    { cache: other, session: read! },
  ];
}

/** Sends everything, and checks the state on the remote and in the copy. */
async function requireState(
  server: Server,
  tabs: readonly Tab[],
  expected: Record<string, unknown>,
  ids: readonly string[],
): Promise<void> {
  server.isOffline = false;
  await tabs[0]!.cache.sync();
  for (const read of [
    await server.service.getSession(KEY),
    await tabs[1]!.cache.getSession({ ...KEY, config }),
  ]) {
    assert.deepEqual(idsOf(read), ids);
    assert.deepEqual(read?.state, expected);
  }
  for (const { cache } of tabs) {
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.close();
  }
}

for (const isCreated of [true, false]) {
  const kind = isCreated ? 'that the remote has' : 'whose creation waits';

  it(`two tabs that write an unsent event of a session ${kind} again at once lose no key of its versions`, async () => {
    const server = new Server();
    const tabs = await openTabs(server, isCreated);
    const [first, second] = tabs;
    await first.cache.appendEvent({ session: first.session, event: event('e1', { a: 1, b: 2 }) });
    await Promise.all([
      second.cache.appendEvent({ session: second.session, event: event('e1', { a: 3, c: 3 }) }),
      first.cache.appendEvent({ session: first.session, event: event('e1', { a: 4, d: 4 }) }),
    ]);
    const local = await first.cache.getSession({ ...KEY, config });
    assert.deepEqual({ ...local!.state, a: 0 }, { kept: 1, a: 0, b: 2, c: 3, d: 4 });
    await requireState(server, tabs, local!.state, ['e1']);
  });
}

it('a lost response to a version of an event does not undo what a later event wrote', async () => {
  const server = new Server();
  const tabs = await openTabs(server, true);
  const [{ cache, session }] = tabs;
  await cache.appendEvent({ session, event: event('e1', { a: 1, b: 2 }) });
  await cache.appendEvent({ session, event: event('e1', { a: 3 }) });
  await cache.appendEvent({ session, event: event('e2', { a: 9 }) });
  server.isOffline = false;
  server.lostResponses = 1;
  await cache.sync().catch(() => undefined);
  await requireState(server, tabs, { kept: 1, a: 9, b: 2 }, ['e1', 'e2']);
});

/** Another device replaces the event `e1`, whose answer was lost. A handle that was read before the answer came learns of it. */
async function requireReplacedShown(server: Server, cache: CachedSessionService): Promise<void> {
  await until(() => server.lostResponses === 0);
  const { service } = server;
  const others = await service.getSession(KEY);
  const replacement = { ...event('e1'), content: { role: 'user', parts: [{ text: 'theirs' }] } };
  await service.appendEvent({ session: others!, event: replacement });
  // The copy has the other version, and the mutation without an answer lies over it.
  const handle = await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
  assert.equal(handle!.events[0]?.content?.parts?.[0]?.text, 'e1');
  await cache.sync();
  await cache.appendEvent({ session: handle!, event: event('e2') });
  assert.equal(handle!.events[0]?.content?.parts?.[0]?.text, 'theirs');
  await cache.close();
}

it('a handle shows the version of another device after a late answer to an append which that device has replaced', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.lostResponses = 1;
  await cache.appendEvent({ session, event: event('e1') });
  await requireReplacedShown(server, cache);
});

it('a handle shows the version of another device after a late answer to a creation whose event that device has replaced', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.lostResponses = 1;
  await cache.createSession({ ...KEY, events: [event('e1')] });
  await requireReplacedShown(server, cache);
});
