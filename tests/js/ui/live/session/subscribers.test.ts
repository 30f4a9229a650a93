import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type LiveSessionSnapshot,
  liveSession,
  liveSessions,
} from '../../../../../js/ui/live/index.js';
import { onNextFrame } from '../../../../../js/ui/live/reading_store.js';
import { isReady, isWatched, KEY, message, sessionOf, snapshotOf } from '../stores.js';

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

  it('are called although another one throws', async () => {
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

  it('end the watch and all timers when the last one leaves', async ({ mock }) => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stops = [store.subscribe(() => undefined), store.subscribe(() => undefined)];
    assert.ok(isWatched(service));
    await snapshotOf(store, isReady);
    stops[0]?.();
    stops[0]?.();
    assert.ok(isWatched(service));
    let calls = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    const stop = store.subscribe(() => (calls += 1));
    await service.appendEvent({ session, event: message('e2') });
    stop();
    stops[1]?.();
    assert.ok(!isWatched(service));
    mock.timers.runAll();
    await new Promise(setImmediate);
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

  it('are not told of a read that finds nothing new, and the snapshot stays the same', async () => {
    const { service } = await sessionOf(3);
    const stores = [
      liveSession(service, KEY),
      liveSession(service, { ...KEY, sessionId: 'none' }),
      liveSessions(service, { appName: KEY.appName }),
    ] as const;
    for (const store of stores) {
      await store.load();
      const before = store.getSnapshot();
      const told: unknown[] = [];
      const stop = store.subscribe((snapshot: object) => told.push(snapshot));
      await store.reload();
      assert.equal(store.getSnapshot(), before);
      // Frames come in the order in which they were asked for.
      await new Promise<void>((done) => onNextFrame(done));
      assert.equal(store.getSnapshot(), before);
      assert.deepEqual(told, [before]);
      stop();
    }
  });

  it('may leave while another caller waits for the first read, which then continues', async () => {
    const { service } = await sessionOf(3);
    for (const store of [liveSession(service, KEY), liveSessions(service, KEY_OF_LIST)]) {
      const stop = store.subscribe(() => undefined);
      const loading = store.load();
      stop();
      await loading;
      assert.equal(store.getSnapshot().status, 'ready');
      assert.ok(!isWatched(service));
    }
  });

  it('get another read after one that was aborted', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const loading = store.load();
    stop();
    await service.appendEvent({ session, event: message('e2') });
    const { events } = await snapshotOf(store, isReady);
    assert.equal(events.length, 2);
    await loading;
    assert.ok(!isWatched(service));
  });
});

const KEY_OF_LIST = { appName: KEY.appName, userId: KEY.userId };
