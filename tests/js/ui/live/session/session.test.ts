import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  InMemorySessionService,
  isSessionError,
  openSessionService,
  SessionError,
} from '../../../../../js/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { fill, idsOf, isReady, KEY, message, sessionOf, snapshotOf, textOf } from '../stores.js';

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

  it('has plain members in its snapshots, also of a long session', async () => {
    const { service } = await sessionOf(2000);
    const store = liveSession(service, KEY, { window: 1000, turns: true });
    await store.load();
    await store.loadOlder(1000);
    const members = Object.getOwnPropertyDescriptors(store.getSnapshot());
    assert.equal((members.events.value as unknown[]).length, 2000);
    const getters = Object.entries(members).filter(([, { get }]) => get !== undefined);
    assert.deepEqual(getters, []);
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

  it('keeps older events that come while the session is read again', async () => {
    const { service } = await sessionOf(10);
    const store = liveSession(service, KEY, { window: 4 });
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const read = service.getSession.bind(service);
    let older: Promise<boolean> | undefined;
    service.getSession = async (request) => {
      const session = await read(request);
      await (older ??= store.loadOlder());
      return session;
    };
    await store.reload();
    stop();
    assert.equal(store.getSnapshot().hasOlder, true);
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e3', 'e4', 'e5', 'e6', 'e7', 'e8', 'e9', 'e10']); // prettier-ignore
  });

  it('loads the older events of a session that is created again meanwhile', async () => {
    const { service } = await sessionOf(10);
    const store = liveSession(service, KEY, { window: 2 });
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const loadOlder = service.loadOlder.bind(service);
    let isAgain = false;
    service.loadOlder = async (session, ...rest) => {
      if (isAgain) return loadOlder(session, ...rest);
      isAgain = true;
      await service.deleteSession(KEY);
      const created = await service.createSession(KEY);
      const ids = ['n1', 'n2', 'n3', 'n4', 'n5'];
      await service.appendEvents({ session: created, events: ids.map((id) => message(id)) });
      await snapshotOf(store, ({ events }) => idsOf(events).includes('n5'));
      return loadOlder(session, ...rest);
    };
    assert.equal(await store.loadOlder(), true);
    stop();
    assert.deepEqual(idsOf(store.getSnapshot().events), ['n2', 'n3', 'n4', 'n5']);
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

  it('does not say that there are no older events before it was read', async () => {
    const { service } = await sessionOf(3);
    const store = liveSession(service, KEY, { window: 2 });
    const read = service.getSession.bind(service);
    service.getSession = () => Promise.reject(new SessionError('connection_lost', 'offline'));
    await assert.rejects(store.loadOlder(), { code: 'connection_lost' });
    service.getSession = read;
    assert.equal(await store.loadOlder(), false);
    assert.deepEqual(idsOf(store.getSnapshot().events), ['e1', 'e2', 'e3']);
  });

  it('refuses a wrong key, window or service', () => {
    const service = new InMemorySessionService();
    const refuse = (run: () => unknown, key: string) =>
      assert.throws(run, (error) => isSessionError(error, 'invalid_argument') && error.key === key);
    refuse(() => liveSession(service, { ...KEY, sessionId: '' }), 'sessionId');
    refuse(() => liveSession(service, KEY, { window: 0 }), 'window');
    refuse(() => liveSession({} as typeof service, KEY), 'service');
  });
});

const EMPTY = { artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
