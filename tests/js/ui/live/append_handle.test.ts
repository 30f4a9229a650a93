import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  InMemorySessionService,
  openSessionService,
  SessionError,
} from '../../../../js/index.js';
import { wholeStorage } from '../../service/whole_storage.js';
import { AppendHandle } from '../../../../js/ui/live/append_handle.js';
import { type LiveSession, liveSession } from '../../../../js/ui/live/index.js';
import { fill, idsOf, isWatched, KEY, message, sessionOf, snapshotOf } from './stores.js';

const ready = (store: LiveSession) => snapshotOf(store, ({ status }) => status === 'ready');

/** What a store may have done before: nothing, a read, a subscription that has ended, or one that lasts. */
const BEFORE: Readonly<Record<string, (store: LiveSession) => Promise<unknown>>> = {
  'of a new store': () => Promise.resolve(),
  'of a store that was read': (store) => store.load(),
  'of a store that nobody watches any more': async (store) => {
    const stop = store.subscribe(() => undefined);
    await store.load();
    stop();
  },
  'of a watched store': async (store) => {
    store.subscribe(() => undefined);
    await store.load();
  },
};

for (const [title, before] of Object.entries(BEFORE)) {
  describe(`The session ${title}`, () => {
    it('is deleted after remove, and no call creates it again', async () => {
      const { service } = await sessionOf(2);
      const store = liveSession(service, KEY);
      await before(store);
      await store.remove();
      const { status, events, state } = store.getSnapshot();
      assert.deepEqual([status, events, state], ['deleted', [], {}]);
      await assert.rejects(store.send(message('late')), { code: 'not_found' });
      await assert.rejects(store.updateState({ a: 1 }), { code: 'not_found' });
      await assert.rejects(store.rename('late'), { code: 'not_found' });
      assert.equal(await service.getSession(KEY), undefined);
      await service.createSession(KEY);
      await store.send(message('new'));
      assert.deepEqual(idsOf((await service.getSession(KEY))!.events), ['new']);
      await service.close();
    });

    it('is created by the first change if it is missing', async () => {
      for (const change of [
        (store: LiveSession) => store.updateState({ a: 1 }),
        (store: LiveSession) => store.rename('Tea'),
        (store: LiveSession) => store.send(message('first')),
      ]) {
        const service = new InMemorySessionService();
        const store = liveSession(service, KEY);
        await before(store);
        await change(store);
        assert.ok(await service.getSession(KEY));
        await service.close();
      }
    });
  });
}

it('A store that was read does not create a session that others have deleted', async () => {
  const { service } = await sessionOf(1);
  const store = liveSession(service, KEY);
  await store.load();
  await service.deleteSession(KEY);
  await assert.rejects(store.send(message('late')), { code: 'not_found' });
  assert.equal(await service.getSession(KEY), undefined);
});

it('A store that shows the newest event may append with stale: reject', async () => {
  const service = new InMemorySessionService({ stale: 'reject' });
  const session = await service.createSession(KEY);
  const store = liveSession(service, KEY);
  const stop = store.subscribe(() => undefined);
  await ready(store);
  await fill(service, session, 2);
  await snapshotOf(store, ({ events }) => events.length === 2);
  await Promise.all([store.send(message('mine')), store.send(message('next'))]);
  assert.deepEqual(idsOf((await service.getSession(KEY))!.events), ['e1', 'e2', 'mine', 'next']);
  stop();
});

it('A store that does not show the newest event may not append with stale: reject', async () => {
  const strict = new InMemorySessionService({ stale: 'reject' });
  const store = liveSession(strict, KEY);
  await store.load();
  await store.send(message('first'));
  await strict.appendEvent({ session: (await strict.getSession(KEY))!, event: message('other') });
  await assert.rejects(store.send(message('second')), { code: 'stale_session' });
  await store.reload();
  await store.retry('second');
  assert.deepEqual(idsOf((await strict.getSession(KEY))!.events), ['first', 'other', 'second']);
});

it('An event can be sent again if the session could not be created', async () => {
  const storage = wholeStorage();
  let isFull = true;
  const service = await openSessionService({
    storage: {
      ...storage,
      create(...write) {
        if (isFull) throw new SessionError('quota_exceeded', 'There is no room.');
        return storage.create(...write);
      },
    },
  });
  const store = liveSession(service, KEY);
  await assert.rejects(store.send(message('e1')), { code: 'quota_exceeded' });
  isFull = false;
  await store.retry('e1');
  assert.deepEqual(idsOf((await service.getSession(KEY))!.events), ['e1']);
});

it('An event that cannot be read, or has no text as its id, is refused and not shown', async () => {
  const { service } = await sessionOf(0);
  const store = liveSession(service, KEY);
  const thrower = {
    get content(): never {
      throw new Error('a getter');
    },
  };
  for (const event of [thrower, { id: 5 }, { id: null }]) {
    await assert.rejects(store.send(event as never), { code: 'invalid_argument' });
  }
  const partial = { invocationId: 'i1', author: 'guide', partial: true };
  await assert.rejects(store.send(partial), { code: 'invalid_argument', key: 'event.partial' });
  const { events, unsent } = store.getSnapshot();
  assert.deepEqual([events, { ...unsent }], [[], {}]);
});

describe('A listener', () => {
  it('can be removed after it has thrown at its first call', async () => {
    const { service } = await sessionOf(0);
    const store = liveSession(service, KEY);
    const errors: unknown[] = [];
    globalThis.reportError = (error: unknown) => void errors.push(error);
    const stop = store.subscribe(() => {
      throw new Error('first');
    });
    stop();
    Reflect.deleteProperty(globalThis, 'reportError');
    assert.ok(!isWatched(service));
    assert.equal(errors.length, 1);
  });

  it('gets one call for each change, even if each call subscribes again', async () => {
    const { service } = await sessionOf(0);
    const store = liveSession(service, KEY);
    let calls = 0;
    let stop = (): void => undefined;
    const subscribe = (): void => {
      let isFirst = true;
      stop = store.subscribe(() => {
        calls += 1;
        assert.ok(calls < 100);
        if (!isFirst) {
          stop();
          subscribe();
        }
        isFirst = false;
      });
    };
    subscribe();
    await ready(store);
    stop();
    assert.ok(calls < 10, String(calls));
  });
});

it('A store that nobody watches loads older events of a session that was created again', async () => {
  const { service } = await sessionOf(6);
  const store = liveSession(service, KEY, { window: 2 });
  assert.equal(await store.loadOlder(), true);
  await service.deleteSession(KEY);
  await fill(service, await service.createSession(KEY), 9);
  await store.reload();
  await store.loadOlder();
  assert.deepEqual(idsOf(store.getSnapshot().events).slice(-3), ['e7', 'e8', 'e9']);
  assert.equal(store.getSnapshot().events.length, 6);
});

it('An append begins no further call once the data that the store shows are forgotten', async () => {
  const { service } = await sessionOf(0);
  let calls = 0;
  const handle = new AppendHandle<object>(KEY, (service) => {
    calls += 1;
    if (calls > 1) throw new SessionError('aborted', 'forgotten');
    return service;
  });
  const event = createEvent({ author: 'user' });
  const appended = handle.append(service, event, { wasThere: true, revision: undefined });
  await assert.rejects(appended, { code: 'aborted' });
  assert.deepEqual((await service.getSession(KEY))?.events, []);
  await service.close();
});
