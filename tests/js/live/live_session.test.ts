import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, isSessionError, openSessionService } from '../../../js/index.js';
import { type LiveSessionSnapshot, liveSession } from '../../../js/live/index.js';
import { LOADING } from '../../../js/live/loading.js';
import { fill, idsOf, isWatched, KEY, message, sessionOf, snapshotOf } from './stores.js';

const isReady = ({ status }: LiveSessionSnapshot): boolean => status === 'ready';

describe('A live session', () => {
  it('shows the newest window, the state and the title', async () => {
    const { service, session } = await sessionOf(5);
    await service.updateState({ ...KEY, stateDelta: { a: 1, 'user:b': 2, 'app:c': 3 } });
    await service.updateSession(KEY, { title: 'Tea', labels: { pinned: 'yes' } });
    const store = liveSession(service, KEY, { window: 3 });
    assert.equal(store.getSnapshot().status, 'loading');
    const snapshot = await snapshotOf(store, isReady);
    const stored = await service.getSession({ ...KEY, config: { numRecentEvents: 3 } });
    assert.deepEqual(snapshot.events, stored?.events);
    assert.deepEqual(snapshot.pages.flat(), stored?.events);
    assert.deepEqual(snapshot.state, { a: 1, 'user:b': 2, 'app:c': 3 });
    assert.deepEqual(snapshot.scopes, {
      session: { a: 1 },
      user: { 'user:b': 2 },
      app: { 'app:c': 3 },
    });
    assert.equal(snapshot.title, 'Tea');
    assert.deepEqual(snapshot.labels, { pinned: 'yes' });
    assert.equal(snapshot.lastUpdateTime, stored?.lastUpdateTime);
    assert.equal(snapshot.hasOlder, true);
    assert.equal(session.events.length, 5);
  });

  it('knows that there are no older events if the window has all', async () => {
    const { service } = await sessionOf(3);
    const { hasOlder } = await snapshotOf(liveSession(service, KEY, { window: 3 }), isReady);
    assert.equal(hasOlder, false);
  });

  it('gets the events of others, and keeps what has not changed', async () => {
    const { service, session } = await sessionOf(3);
    await service.updateState({ ...KEY, stateDelta: { cart: { items: [1] }, 'user:name': 'Ada' } });
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, isReady);
    await service.appendEvent({
      session,
      event: { id: 'e4', invocationId: 'i1', actions: { ...EMPTY, stateDelta: { topic: 'tea' } } },
    });
    const after = await snapshotOf(store, ({ events }) => idsOf(events).includes('e4'));
    stop();
    for (const [index, event] of before.events.entries()) assert.equal(after.events[index], event);
    assert.equal(after.scopes.user, before.scopes.user);
    assert.equal(after.scopes.app, before.scopes.app);
    assert.notEqual(after.scopes.session, before.scopes.session);
    assert.equal(after.state.cart, before.state.cart);
    assert.equal(after.state.topic, 'tea');
    assert.equal(before.state.topic, undefined);
  });

  it('replaces an event in its place, and keeps the others', async () => {
    const { service, session } = await sessionOf(600);
    const store = liveSession(service, KEY, { window: 600 });
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, isReady);
    await service.appendEvent({ session, event: message('e300', 'changed') });
    const after = await snapshotOf(store, ({ events }) => textOf(events[299]) === 'changed');
    stop();
    assert.deepEqual(idsOf(after.events), idsOf(before.events));
    assert.equal(textOf(before.events[299]), 'e300');
    const changed = after.events.filter((event, index) => event !== before.events[index]);
    assert.deepEqual(idsOf(changed), ['e300']);
    const changedPages = after.pages.filter((page, index) => page !== before.pages[index]);
    assert.equal(changedPages.length, 1);
  });

  it('shows the user state and the app state that other sessions change', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, isReady);
    await service.updateState({
      appName: 'shop',
      userId: 'ada',
      stateDelta: { 'user:name': 'Ada' },
    });
    await service.updateState({ appName: 'shop', stateDelta: { 'app:motd': 'hi' } });
    const after = await snapshotOf(store, ({ state }) => state['app:motd'] === 'hi');
    stop();
    assert.deepEqual(after.scopes.user, { 'user:name': 'Ada' });
    assert.equal(after.events, before.events);
    assert.equal(after.scopes.session, before.scopes.session);
  });

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

  it('grows one draft of partial events, which the whole event ends', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const piece = (author: string, text: string, thought?: boolean) =>
      store.send({
        invocationId: 'i2',
        author,
        partial: true,
        content: { role: 'model', parts: [{ text, ...(thought && { thought }) }] },
      });
    await piece('guide', 'hm', true);
    await piece('guide', 'Green');
    const [first] = store.getSnapshot().drafts;
    await piece('guide', ' tea');
    await piece('clerk', 'No');
    const { drafts } = store.getSnapshot();
    assert.equal(drafts[0]?.id, first?.id);
    assert.deepEqual(
      drafts.map(({ author, content }) => [author, content?.parts]),
      [
        ['guide', [{ text: 'hm', thought: true }, { text: 'Green tea' }]],
        ['clerk', [{ text: 'No' }]],
      ],
    );
    assert.deepEqual(first?.content?.parts?.at(-1), { text: 'Green' });
    assert.equal((await service.getSession(KEY))?.events.length, 1);

    const whole = { role: 'model', parts: [{ text: 'Green tea' }] };
    await store.send({ invocationId: 'i2', author: 'guide', content: whole });
    assert.deepEqual(
      store.getSnapshot().drafts.map(({ author }) => author),
      ['clerk'],
    );
    assert.equal(store.getSnapshot().events.length, 2);
    // An agent stores its answer itself, through a handle of its own.
    const session = await service.getSession(KEY);
    assert.ok(session);
    await service.appendEvent({
      session,
      event: { id: 'e9', invocationId: 'i2', author: 'clerk' },
    });
    await snapshotOf(store, ({ events }) => idsOf(events).includes('e9'));
    assert.deepEqual(store.getSnapshot().drafts, []);

    await piece('guide', 'broken');
    store.discardDrafts();
    assert.deepEqual(store.getSnapshot().drafts, []);
    await piece('guide', 'old run');
    await store.send({ invocationId: 'i3', author: 'user' });
    assert.deepEqual(store.getSnapshot().drafts, []);
    stop();
  });

  it('loads older events before the others, once for concurrent calls', async () => {
    const { service } = await sessionOf(10);
    const store = liveSession(service, KEY, { window: 4 });
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, isReady);
    assert.deepEqual(idsOf(before.events), ['e7', 'e8', 'e9', 'e10']);
    const [one, other] = [store.loadOlder(), store.loadOlder()];
    assert.equal(store.getSnapshot().isLoadingOlder, true);
    assert.deepEqual(await Promise.all([one, other]), [true, true]);
    const middle = store.getSnapshot();
    assert.equal(middle.isLoadingOlder, false);
    assert.deepEqual(idsOf(middle.events), ['e3', 'e4', 'e5', 'e6', 'e7', 'e8', 'e9', 'e10']);
    assert.equal(middle.events[4], before.events[0]);
    assert.equal(await store.loadOlder(), false);
    assert.equal(store.getSnapshot().hasOlder, false);
    assert.equal(store.getSnapshot().events.length, 10);
    assert.equal(await store.loadOlder(), false);
    await store.reload();
    assert.equal(store.getSnapshot().events.length, 10);
    assert.equal(store.getSnapshot().events[4], middle.events[2]);
    stop();
  });

  it('follows a session that is deleted and created again', async () => {
    const { service } = await sessionOf(2);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    await service.deleteSession(KEY);
    const gone = await snapshotOf(store, ({ status }) => status === 'deleted');
    assert.deepEqual(gone.events, []);
    await assert.rejects(store.send(message('late')), { code: 'not_found' });
    await store.discard('late');
    const session = await service.createSession(KEY);
    await fill(service, session, 1);
    const again = await snapshotOf(store, ({ events }) => events.length === 1);
    assert.equal(again.status, 'ready');
    await store.send(message('e2'));
    assert.equal(store.getSnapshot().events.length, 2);
    await store.remove();
    assert.equal(store.getSnapshot().status, 'deleted');
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

  it('takes back what was frozen, proxied or cloned', async () => {
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

  it('opens with the service that a promise gives', async () => {
    const store = liveSession(openSessionService({ storage: 'memory' }), KEY);
    assert.equal((await snapshotOf(store, ({ status }) => status !== 'loading')).status, 'missing');
  });

  it('shows why it could not be read, and recovers', async () => {
    const service = new InMemorySessionService();
    await service.close();
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const failed = await snapshotOf(store, ({ error }) => error !== undefined);
    stop();
    assert.equal(failed.status, 'failed');
    assert.ok(isSessionError(failed.error, 'closed'));
    const refused = liveSession(Promise.reject(new Error('no disk')), KEY);
    const { status, error } = await snapshotOf(refused, ({ error }) => error !== undefined);
    assert.deepEqual([status, (error as Error).message], ['failed', 'no disk']);
  });

  it('refuses a wrong key, window or service', () => {
    const service = new InMemorySessionService();
    const refuse = (run: () => unknown, key: string) =>
      assert.throws(run, (error) => isSessionError(error, 'invalid_argument') && error.key === key);
    refuse(() => liveSession(service, { ...KEY, sessionId: '' }), 'sessionId');
    refuse(() => liveSession(service, { ...KEY, ['session' as 'userId']: 's' }), 'session');
    refuse(() => liveSession(service, KEY, { window: 0 }), 'window');
    refuse(() => liveSession(service, KEY, { ['windows' as 'window']: 5 }), 'windows');
    refuse(() => liveSession({} as typeof service, KEY), 'service');
  });
});

describe('Subscribers of a live session', () => {
  it('are told at once, and then once a frame', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const seen: LiveSessionSnapshot[] = [];
    const stop = store.subscribe((snapshot) => seen.push(snapshot));
    assert.equal(seen.length, 1);
    await snapshotOf(store, isReady);
    seen.length = 0;
    for (let turn = 2; turn <= 50; turn += 1) {
      await service.appendEvent({ session, event: message(`e${turn}`) });
    }
    await snapshotOf(store, ({ events }) => events.length === 50);
    stop();
    assert.ok(seen.length < 10, `${seen.length} calls`);
    assert.equal(store.getSnapshot(), store.getSnapshot());
  });

  it('do not suffer from one that throws', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const uncaught: unknown[] = [];
    // The function exists in browsers. In Node, the error would end this process.
    globalThis.reportError = (error: unknown) => void uncaught.push(error);
    let calls = 0;
    const stop = store.subscribe(() => {
      calls += 1;
      if (calls > 1) throw new Error('mine');
    });
    const { status } = await snapshotOf(store, isReady);
    stop();
    Reflect.deleteProperty(globalThis, 'reportError');
    assert.equal(status, 'ready');
    assert.deepEqual(uncaught.map(String), ['Error: mine']);
  });

  it('end the watch and all timers when the last one leaves', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stops = [store.subscribe(() => undefined), store.subscribe(() => undefined)];
    assert.ok(isWatched(service));
    await snapshotOf(store, isReady);
    stops[0]?.();
    stops[0]?.();
    assert.ok(isWatched(service));
    let calls = 0;
    const stop = store.subscribe(() => (calls += 1));
    await service.appendEvent({ session, event: message('e2') });
    stop();
    stops[1]?.();
    assert.ok(!isWatched(service));
    await new Promise((done) => setTimeout(done, 20));
    assert.equal(calls, 1);
    assert.ok(!isWatched(service));
  });

  it('may leave in the middle of the first read, and come back', async () => {
    const { service } = await sessionOf(3);
    const store = liveSession(service, KEY);
    store.subscribe(() => undefined)();
    const second = store.subscribe(() => undefined);
    second();
    assert.ok(!isWatched(service));
    const snapshot = await snapshotOf(store, isReady);
    assert.equal(snapshot.events.length, 3);
    assert.equal(snapshot.error, undefined);
    assert.ok(!isWatched(service));
  });

  it('see what changed while nobody subscribed', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const before = await snapshotOf(store, isReady);
    await service.appendEvent({ session, event: message('e2') });
    await service.updateState({ appName: 'shop', stateDelta: { 'app:motd': 'hi' } });
    const after = await snapshotOf(store, ({ events }) => events.length === 2);
    assert.equal(after.events[0], before.events[0]);
    assert.equal(after.state['app:motd'], 'hi');
  });
});

const EMPTY = { artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };

function textOf(event: LiveSessionSnapshot['events'][number] | undefined): string | undefined {
  return event?.content?.parts?.[0]?.text;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}
