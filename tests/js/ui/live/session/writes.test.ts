import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, isSessionError, SessionError } from '../../../../../js/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { LOADING } from '../../../../../js/ui/live/components/provided.js';
import { idsOf, isReady, KEY, message, sessionOf, snapshotOf, textOf } from '../stores.js';

describe('A live session that is written to', () => {
  it('sends an event, and shows it at once', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const sending = store.send({ author: 'user', content: { parts: [{ text: 'hi' }] } });
    const during = store.getSnapshot();
    assert.equal(textOf(during.events.at(-1)), 'hi');
    const id = during.events.at(-1)?.id ?? '';
    assert.deepEqual({ ...during.unsent }, { [id]: {} });
    const sent = await sending;
    assert.equal(sent.id, id);
    const after = store.getSnapshot();
    stop();
    assert.deepEqual({ ...after.unsent }, {});
    assert.deepEqual(after.events, (await service.getSession(KEY))?.events);
    assert.equal(after.events.length, 2);
    assert.match(sent.invocationId, /^e-/);
  });

  it('has no unsent event under the name of a member that objects inherit', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    for (const { unsent } of [LOADING, store.getSnapshot()]) assert.ok(!unsent.toString);
    const sending = store.send(message('e2'));
    assert.ok(!store.getSnapshot().unsent.toString);
    await sending;
    assert.ok(!store.getSnapshot().unsent.toString);
  });

  it('shows a sent event also if nobody watches it', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    await store.load();
    await service.appendEvent({ session, event: message('other') });
    await store.send(message('e2'));
    const kept = store.getSnapshot();
    assert.deepEqual([idsOf(kept.events), { ...kept.unsent }], [['e1', 'e2'], {}]);
    const read = await snapshotOf(store, ({ events }) => idsOf(events).includes('other'));
    assert.deepEqual(idsOf(read.events), ['e1', 'other', 'e2']);
  });

  it('shows an event that is sent while it is read', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const read = service.getSession.bind(service);
    let sending: Promise<unknown> | undefined;
    service.getSession = async (request) => {
      const session = await read(request);
      sending ??= store.send(message('e2'));
      await Promise.race([sending, new Promise((done) => setTimeout(done, 20))]);
      return session;
    };
    await store.load();
    await sending;
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', 'e2']);
  });

  it('shows a sent event also if it cannot be read', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const read = service.listChanges.bind(service);
    service.listChanges = () => Promise.reject(new Error('offline'));
    await store.send(message('e2'));
    const { events, unsent, error } = store.getSnapshot();
    assert.deepEqual([idsOf(events), { ...unsent }, String(error)], [['e1', 'e2'], {}, 'Error: offline']); // prettier-ignore
    service.listChanges = read;
    await store.reload();
    stop();
    assert.deepEqual(store.getSnapshot().events, (await service.getSession(KEY))?.events);
  });

  it('does not show an event of a session that was deleted meanwhile', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    await store.load();
    const append = service.appendEvent.bind(service);
    service.appendEvent = async (request) => {
      const event = await append(request);
      await store.remove();
      return event;
    };
    await store.send(message('e2'));
    assert.deepEqual([store.getSnapshot().status, store.getSnapshot().events], ['deleted', []]);
  });

  it('stores concurrent sends in the order of the calls', async () => {
    const service = new InMemorySessionService();
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.send(message(`e${index}`))));
    stop();
    const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
    assert.deepEqual(idsOf((await service.getSession(KEY))?.events ?? []), ids);
    assert.deepEqual(idsOf(store.getSnapshot().events), ids);
  });

  it('creates the session with the first event', async () => {
    const service = new InMemorySessionService();
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, ({ status }) => status === 'missing');
    await store.send(message('e1'));
    stop();
    assert.equal(store.getSnapshot().status, 'ready');
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e1']);
  });

  it('creates the session with its initial state', async () => {
    const service = new InMemorySessionService();
    const initialState = { topic: 'tea', 'user:name': 'Ada' };
    await liveSession(service, KEY, { initialState }).send(message('e1'));
    assert.deepEqual((await service.getSession(KEY))?.state, initialState);
    await liveSession(service, KEY, { initialState: { topic: 'cups' } }).send(message('e2'));
    assert.deepEqual((await service.getSession(KEY))?.state, initialState);
  });

  it('keeps an event that was not stored, and sends it again', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const bad = { ...message('bad'), customMetadata: circular };
    await assert.rejects(store.send(bad), { code: 'unserializable' });
    const failed = store.getSnapshot();
    assert.deepEqual(idsOf(failed.events), ['e1', 'bad']);
    assert.ok(isSessionError(failed.unsent.bad?.error, 'unserializable'));
    await assert.rejects(store.retry('bad'), { code: 'unserializable' });
    delete circular.self;
    assert.equal((await store.retry('bad'))?.id, 'bad');
    assert.deepEqual({ ...store.getSnapshot().unsent }, {});
    assert.deepEqual(idsOf((await service.getSession(KEY))?.events ?? []), ['e1', 'bad']);
    circular.self = circular;
    await assert.rejects(store.send({ ...bad, id: 'worse' }), { code: 'unserializable' });
    await store.discard('worse');
    assert.deepEqual({ ...store.getSnapshot().unsent }, {});
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', 'bad']);
    assert.equal(await store.retry('worse'), undefined);
    stop();
  });

  it('does not show an event as unsent that was stored although the call failed', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const append = service.appendEvent.bind(service);
    service.appendEvent = async (request) => {
      await append(request);
      throw new SessionError('connection_lost', 'The answer was lost.');
    };
    await assert.rejects(store.send(message('e2')), { code: 'connection_lost' });
    assert.deepEqual(Object.keys(store.getSnapshot().unsent), ['e2']);
    const stop = store.subscribe(() => undefined);
    await store.load();
    assert.deepEqual({ ...store.getSnapshot().unsent }, {});
    await assert.rejects(store.send(message('e3')), { code: 'connection_lost' });
    await snapshotOf(store, ({ events }) => idsOf(events).includes('e3'));
    await store.reload();
    assert.deepEqual({ ...store.getSnapshot().unsent }, {});
    service.appendEvent = () => Promise.reject(new Error('offline'));
    await assert.rejects(store.send(message('e3', 'changed')), /offline/);
    await store.reload();
    assert.deepEqual(Object.keys(store.getSnapshot().unsent), ['e3']);
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', 'e2', 'e3']);
    stop();
  });

  it('changes the state and the title', async () => {
    interface Shop {
      visits: number;
      'user:name': string;
    }
    const service = new InMemorySessionService<Shop>();
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, ({ status }) => status === 'missing');
    await store.updateState({ 'user:name': 'Ada' });
    await store.updateState(({ visits = 0 }) => ({ visits: visits + 1 }));
    await store.rename('Tea');
    const { state, scopes, title } = store.getSnapshot();
    assert.deepEqual({ ...state }, { 'user:name': 'Ada', visits: 1 });
    assert.equal(scopes.session.visits, 1);
    assert.equal(title, 'Tea');
    await store.rename(null);
    assert.equal(store.getSnapshot().title, undefined);
    stop();
  });

  it('stores what a snapshot has, frozen, proxied or cloned', async () => {
    const { service } = await sessionOf(1);
    await service.updateState({ ...KEY, stateDelta: { cart: { items: [1, 2] } } });
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const snapshot = await snapshotOf(store, isReady);
    deepFreeze(snapshot);
    const cloned = structuredClone({ ...snapshot });
    assert.deepEqual(cloned.events, snapshot.events);
    const event = snapshot.events[0];
    assert.ok(event);
    for (const [index, given] of [event, new Proxy(event, {}), structuredClone(event)].entries()) {
      await store.send(Object.freeze({ ...given, id: `copy${index}` }));
      await store.send(given);
    }
    await store.updateState({ cart: snapshot.state.cart, other: cloned.state.cart });
    const after = store.getSnapshot();
    stop();
    assert.deepEqual(
      idsOf(after.events).slice(0, -1).sort(),
      idsOf(snapshot.events).concat('copy0', 'copy1', 'copy2').sort(),
    );
    assert.deepEqual(after.state, { cart: { items: [1, 2] }, other: { items: [1, 2] } });
    assert.equal(after.events[0], event);
  });
});

/** The part of Vue's own package that is used here; typed here, so that the type check needs no Vue. */
interface Reactivity {
  readonly reactive: <T extends object>(value: T) => T;
  readonly readonly: <T extends object>(value: T) => T;
  readonly isProxy: (value: unknown) => boolean;
}
const name = ['@vue', 'reactivity'].join('/');
const { reactive, readonly, isProxy } = (await import(name)) as Reactivity;

it('A live session reads no event through the proxies of Vue, which take longer than the append', async () => {
  const { service } = await sessionOf(0);
  const store = liveSession(service, KEY);
  const given = [message('e1'), reactive(message('e2')), readonly(reactive(message('e3')))];
  await Promise.all(given.map((event) => store.send(event)));
  const { events } = store.getSnapshot();
  assert.deepEqual(idsOf(events), ['e1', 'e2', 'e3']);
  for (const { content } of events) assert.ok(!isProxy(content));
  // A member of the same name that is stored is a member as any other.
  const odd = { ...message('e4'), __v_raw: { author: 'nobody' } };
  assert.deepEqual(await store.send(odd), { ...odd, ...(await stored('e4')) });
  async function stored(id: string) {
    return (await service.getSession(KEY))!.events.find((event) => event.id === id);
  }
});

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}
