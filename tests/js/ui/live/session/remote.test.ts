// A live session over a server: it shows what other clients do, and creates, sends and reads like any other.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService } from '../../../../../js/index.js';
import { CachedSessionService } from '../../../../../js/service/cache/index.js';
import {
  liveSession,
  liveSessions,
  type LiveSessionSnapshot,
} from '../../../../../js/ui/live/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../../stores/remote/fixture.js';
import { echo } from '../runs/agents.js';
import { idsOf, KEY, message, snapshotOf } from '../stores.js';

const edited = { role: 'user', parts: [{ text: 'edited' }] };

it('A live session over a server shows what another client does', async () => {
  const service = new InMemorySessionService();
  const fetch = fetchFrom(handlerOn(service));
  const clients = [1, 2].map(() => new RemoteSessionService({ url: URL_OF_SERVER, fetch }));
  const [one, other] = clients as [RemoteSessionService, RemoteSessionService];
  const [store, mirror] = [liveSession(one, KEY, { window: 3 }), liveSession(other, KEY)];
  const list = liveSessions(other, { appName: KEY.appName, userId: KEY.userId });
  const stops = [store, mirror, list].map((one) => one.subscribe(() => undefined));
  await snapshotOf(mirror, ({ status }) => status === 'missing');
  for (const id of ['e1', 'e2', 'e3', 'e4']) await store.send(message(id));
  const shown = await snapshotOf(mirror, ({ events }) => events.length === 4);
  assert.deepEqual(idsOf(shown.events), ['e1', 'e2', 'e3', 'e4']);
  await mirror.updateState({ 'user:name': 'Ada' });
  await mirror.rename('Tea');
  const changed = await snapshotOf(
    store,
    ({ title, state }) => title === 'Tea' && !!state['user:name'],
  );
  assert.deepEqual(changed.scopes.user, { 'user:name': 'Ada' });
  assert.equal(changed.events[0]?.id, 'e1');
  await snapshotOf(list, ({ sessions }) => sessions[0]?.title === 'Tea');
  const later = liveSession(other, KEY, { window: 2 });
  assert.equal((await snapshotOf(later, ({ status }) => status === 'ready')).events.length, 2);
  assert.equal(await later.loadOlder(), true);
  assert.deepEqual(idsOf(later.getSnapshot().events).slice(0, 3), ['e2', 'e3', 'e4']);
  await mirror.remove();
  await snapshotOf(store, ({ status }) => status === 'deleted');
  for (const stop of stops) stop();
  await Promise.all(clients.map((client) => client.close()));
});

it('A live session over a server edits a message, and the other client sees it', async () => {
  const service = new InMemorySessionService();
  const fetch = fetchFrom(handlerOn(service));
  const clients = [1, 2].map(() => new RemoteSessionService({ url: URL_OF_SERVER, fetch }));
  const [store, mirror] = clients.map((client) => liveSession(client, KEY));
  assert.ok(store && mirror);
  const stops = [store, mirror].map((one) => one.subscribe(() => undefined));
  const first = await store.send({ ...message('e1'), invocationId: 'first' });
  await store.send({ ...message('e2'), invocationId: 'second' });
  await snapshotOf(mirror, ({ events }) => events.length === 2);
  const message2 = await store.edit('e2', edited);
  const ids = [first.id, message2.id].join();
  await snapshotOf(mirror, ({ events }) => idsOf(events).join() === ids);
  const [place] = await mirror.branches();
  await mirror.switchBranch(place?.alternatives[0]?.branch ?? '');
  await snapshotOf(store, ({ events }) => idsOf(events).join() === 'e1,e2');
  for (const stop of stops) stop();
  await Promise.all(clients.map((client) => client.close()));
});

for (const name of ['a server', 'a cache of a server']) {
  it(`A live session over ${name} asks an agent of the page`, async () => {
    const service = new InMemorySessionService();
    const client = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: fetchFrom(handlerOn(service)),
    });
    const cache = new CachedSessionService({ remote: client, owner: 'ada', local: 'memory' });
    const store = liveSession(name === 'a server' ? client : cache, KEY, { run: echo });
    const stop = store.subscribe(() => undefined);
    const asked = await store.ask(edited);
    const isAnswered = ({ events, run }: LiveSessionSnapshot): boolean =>
      events.length === 2 && run === undefined;
    await snapshotOf(store, isAnswered);
    await cache.sync();
    const stored = (await service.getSession(KEY))?.events ?? [];
    assert.deepEqual(idsOf(stored), idsOf(store.getSnapshot().events));
    assert.equal(stored[0]?.id, asked.id);
    assert.ok(!JSON.stringify(stored).includes('internal_run'), 'the mark is in no read');
    stop();
    await Promise.all([cache.close(), client.close()]);
  });
}
