// The first message of a conversation over a cache: stored before the remote is asked, and gone with its session if it is
// given up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind } from '../../../../../js/core/history/index.js';
import { InMemorySessionService } from '../../../../../js/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { liveSession, type RunAgent } from '../../../../../js/ui/live/index.js';
import { openCache, OUTAGES, Server, until, untilSent } from '../../../stores/cache/fixture.js';
import { idsOf, KEY, message, snapshotOf, textOf } from '../stores.js';

const tea = { role: 'user', parts: [{ text: 'Which tea?' }] };

const yes: RunAgent = async function* () {
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'yes' }] } };
};

const serverWith = (run = yes) =>
  new Server(new InMemorySessionService(), { authorize: () => true, run });

/** Lets a cache have another session of the user. */
async function knows(cache: CachedSessionService, server: Server): Promise<void> {
  const other = { ...KEY, sessionId: 'other' };
  await server.service.createSession(other);
  await cache.getSession(other);
}

const SESSION = '/apps/shop/users/ada/sessions';

/** Holds the requests whose path ends so until the returned function is called. */
function hold(server: Server, method: string, end: string) {
  const held: (() => void)[] = [];
  server.intercept = async (request) => {
    if (request.method !== method || !request.url.endsWith(end)) return undefined;
    await new Promise<void>((resolve) => held.push(resolve));
    return undefined;
  };
  return {
    isHeld: () => held.length > 0,
    /** Lets those go that are held, and holds no more. */
    release: () => {
      server.intercept = undefined;
      for (const go of held) go();
    },
    /** Lets those go that are held. */
    resume: () => held.forEach((go) => go()),
  };
}

const waitingIds = async (cache: CachedSessionService) =>
  (await cache.outbox.list(KEY)).flatMap(({ events }) => idsOf(events));

describe('The first message of a conversation', () => {
  for (const [outage, cut] of Object.entries(OUTAGES)) {
    it(`is stored with its session while the remote ${outage}, and is answered after a reload`, async () => {
      const server = serverWith();
      const { cache, local } = openCache(server, { readTimeoutMs: 60_000 });
      await knows(cache, server);
      const end = cut(server);
      const store = liveSession(cache, KEY, { initialState: { shop: 'Kyoto' } });
      const stop = store.subscribe(() => undefined);
      const asked = await store.ask(tea);
      assert.deepEqual(await waitingIds(cache), [asked.id]);
      const shown = await snapshotOf(store, ({ events }) => events.length === 1);
      assert.deepEqual([shown.status, shown.state], ['ready', { shop: 'Kyoto' }]);
      stop();
      server.isOffline = true;
      end();
      await cache.close({ timeoutMs: 10 });
      server.isOffline = false;
      const { cache: reopened } = openCache(server, { local });
      const again = liveSession(reopened, KEY);
      const answered = await snapshotOf(again, ({ events }) => events.length === 2);
      assert.deepEqual(answered.events.map(textOf), ['Which tea?', 'yes']);
      const stored = await server.service.getSession(KEY);
      assert.deepEqual(stored?.state, { shop: 'Kyoto' });
    });

    it(`by send is stored at once while the remote ${outage}`, async () => {
      const server = serverWith();
      const end = cut(server);
      const { cache } = openCache(server, { readTimeoutMs: 60_000 });
      await liveSession(cache, KEY).send(message('m1'));
      assert.deepEqual(await waitingIds(cache), ['m1']);
      end();
    });
  }

  it('goes to the session that another device has created, of which a window is fetched', async () => {
    const server = serverWith();
    const events = Array.from({ length: 300 }, (_, index) => message(`e${index}`));
    await server.service.createSession({ ...KEY, events });
    server.isOffline = true;
    const { cache } = openCache(server);
    const store = liveSession(cache, KEY);
    const asked = await store.ask(tea);
    server.isOffline = false;
    const reads: string[] = [];
    server.intercept = (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.endsWith('/sessions/s1')) reads.push(searchParams.get('numRecentEvents')!);
      return Promise.resolve(undefined);
    };
    await cache.sync();
    const { events: stored } = (await server.service.getSession(KEY))!;
    assert.deepEqual(idsOf(stored).slice(299, 301), ['e299', asked.id]);
    assert.deepEqual(reads, ['100']);
  });

  it('is stored again after a deletion that waits, in a session of its own', async () => {
    const server = serverWith();
    await server.service.createSession({ ...KEY, events: [message('old')] });
    const { cache } = openCache(server);
    await cache.getSession(KEY);
    server.isOffline = true;
    await cache.deleteSession(KEY);
    await liveSession(cache, KEY).send(message('new'));
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(idsOf((await server.service.getSession(KEY))!.events), ['new']);
  });
});

/** Asks a first message, and holds the request that creates its session. */
async function askWhileCreating(server: Server) {
  const creation = hold(server, 'POST', SESSION);
  const { cache } = openCache(server);
  const store = liveSession(cache, KEY);
  const { id } = await store.ask(tea);
  await until(creation.isHeld);
  return { creation, cache, store, id };
}

describe('A first message that is given up', () => {
  it('offline takes its session with it, and another one can be asked', async () => {
    const server = serverWith();
    server.isOffline = true;
    const { cache } = openCache(server);
    const store = liveSession(cache, KEY);
    const stop = store.subscribe(() => undefined);
    const first = await store.ask(tea);
    await snapshotOf(store, ({ unsent }) => Object.hasOwn(unsent, first.id));
    await store.discard(first.id);
    const shown = await snapshotOf(store, ({ status }) => status !== 'ready');
    assert.deepEqual([shown.status, shown.events], ['missing', []]);
    const second = await store.ask(tea);
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await server.service.getSession(KEY))?.events.length === 2);
    assert.equal((await server.service.getSession(KEY))!.events[0]!.id, second.id);
    stop();
  });

  it('in the moment in which it is asked is gone, with its session', async () => {
    const server = serverWith();
    const { cache } = openCache(server);
    const store = liveSession(cache, KEY);
    const stop = store.subscribe(() => undefined);
    const asking = store.ask(tea).catch(() => undefined);
    const [id] = Object.keys(store.getSnapshot().unsent);
    await store.discard(id!);
    await asking;
    await until(() => untilSent(cache));
    await snapshotOf(store, ({ events }) => events.length === 0);
    assert.deepEqual([{ ...store.getSnapshot().unsent }, await cache.outbox.list()], [{}, []]);
    assert.equal(await server.service.getSession(KEY), undefined);
    stop();
  });

  it('while its session is being created is deleted there too', async () => {
    const server = serverWith();
    const { creation, cache, store, id } = await askWhileCreating(server);
    await store.cancel(id);
    creation.release();
    await until(() => untilSent(cache));
    assert.equal(await server.service.getSession(KEY), undefined);
    assert.equal(await cache.getSession(KEY), undefined);
  });

  it('takes its session with it also if a rewind has undone it', async () => {
    const server = serverWith();
    const { creation, cache, store, id } = await askWhileCreating(server);
    await rewind(cache, { ...KEY, before: { eventId: id } });
    await store.cancel(id);
    creation.release();
    await until(() => untilSent(cache));
    assert.deepEqual(await cache.outbox.list(), []);
    assert.equal(await server.service.getSession(KEY), undefined);
  });

  it('leaves the session if another device has written to it meanwhile', async () => {
    const server = serverWith();
    const { cache } = openCache(server);
    server.lostResponses = 1;
    const store = liveSession(cache, KEY);
    const { id } = await store.ask(tea);
    await until(() => server.lostResponses === 0 && !cache.status.isSending);
    const session = (await server.service.getSession(KEY))!;
    server.isOffline = true;
    await store.cancel(id);
    assert.equal(await cache.getSession(KEY), undefined);
    await server.service.appendEvent({ session, event: message('theirs') });
    server.isOffline = false;
    await cache.sync();
    await until(() => untilSent(cache));
    assert.deepEqual(idsOf((await server.service.getSession(KEY))!.events), ['theirs']);
    assert.deepEqual(idsOf((await cache.getSession(KEY))!.events), ['theirs']);
  });

  it('leaves the session that another device writes to, and later messages go there', async () => {
    const server = serverWith();
    const { creation, cache, store, id } = await askWhileCreating(server);
    await store.cancel(id);
    const deletion = hold(server, 'POST', '/s1/delete-unchanged');
    creation.resume();
    await until(deletion.isHeld);
    const session = (await server.service.getSession(KEY))!;
    await server.service.appendEvent({ session, event: message('theirs') });
    const second = await store.ask(tea);
    deletion.release();
    await until(async () => (await server.service.getSession(KEY))?.events.length === 3);
    const third = await store.ask(tea);
    await until(() => untilSent(cache));
    const stored = idsOf((await server.service.getSession(KEY))!.events);
    assert.deepEqual([stored[0], stored[1], stored[3]], ['theirs', second.id, third.id]);
  });

  it('leaves the session that another device had created before', async () => {
    const server = serverWith();
    const { creation, cache, store, id } = await askWhileCreating(server);
    await server.service.createSession(KEY);
    await store.cancel(id);
    creation.release();
    await until(() => untilSent(cache));
    assert.ok(await server.service.getSession(KEY));
    assert.ok(await cache.getSession(KEY));
  });

  it('leaves nothing in the outbox if the remote refuses its session', async () => {
    const server = serverWith();
    const { creation, cache, store, id } = await askWhileCreating(server);
    await store.cancel(id);
    creation.release();
    server.intercept = (request) =>
      Promise.resolve(
        request.method === 'POST' && request.url.endsWith('/sessions')
          ? Response.json({ code: 'access_denied', detail: 'No.' }, { status: 403 })
          : undefined,
      );
    await until(() => untilSent(cache));
    assert.deepEqual(await cache.outbox.list(), []);
    assert.equal(await cache.getSession(KEY), undefined);
  });

  it('leaves the session if this client may not delete it', async () => {
    const server = new Server(new InMemorySessionService(), {
      authorize: (_, { action }) => action !== 'deleteSession',
      run: yes,
    });
    const { creation, cache, store, id } = await askWhileCreating(server);
    await store.cancel(id);
    creation.release();
    await until(() => untilSent(cache));
    assert.deepEqual(await cache.outbox.list(), []);
    assert.deepEqual((await cache.getSession(KEY))?.events, []);
  });
});
