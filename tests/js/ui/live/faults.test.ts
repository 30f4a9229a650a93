// Services that fail, and subscribers that leave, at every call that a live session makes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { InMemorySessionService } from '../../../../js/index.js';
import { type LiveSession, liveSession } from '../../../../js/ui/live/index.js';
import { idsOf, isWatched, KEY, message, sessionOf, snapshotOf } from './stores.js';

const METHODS = [
  'watch',
  'getSession',
  'appendEvent',
  'listChanges',
  'loadOlder',
  'updateState',
  'updateSession',
  'revisionOf',
] as const;

/** Runs `act` at the call with this number of a method. Returns what ends that, and returns the number of calls. */
function atCall(
  service: InMemorySessionService,
  method: (typeof METHODS)[number],
  number: number,
  act: (call: () => unknown) => unknown,
): () => number {
  let calls = 0;
  const real = service[method].bind(service) as (...request: unknown[]) => unknown;
  const replaced = (...request: unknown[]): unknown => {
    calls += 1;
    const call = (): unknown => real(...request);
    return calls === number ? act(call) : call();
  };
  Object.assign(service, { [method]: replaced });
  return () => {
    Object.assign(service, { [method]: real });
    return calls;
  };
}

/** Calls everything that reads and writes, and goes on after errors. */
async function useAll(store: LiveSession): Promise<void> {
  for (const call of [
    () => store.load(),
    () => store.send(message('x1')),
    () => store.updateState({ a: 1 }),
    () => store.loadOlder(),
    () => store.rename('Tea'),
    () => store.send(message('x2')),
  ]) {
    await call().catch(() => undefined);
  }
}

/** Fails unless the store shows the end of the stored session. */
async function assertShows(service: InMemorySessionService, store: LiveSession): Promise<void> {
  const { status, error, events, state, unsent, isLoadingOlder, hasOlder } = store.getSnapshot();
  const stored = (await service.getSession(KEY))!;
  assert.deepEqual([status, error, { ...unsent }, isLoadingOlder], ['ready', undefined, {}, false]);
  assert.deepEqual(idsOf(events), idsOf(stored.events).slice(-events.length));
  assert.equal(hasOlder, events.length < stored.events.length);
  assert.deepEqual(state, stored.state);
}

describe('A live session', () => {
  for (const method of METHODS) {
    it(`is whole again after ${method} has failed, at any of its calls`, async () => {
      for (let number = 1, calls = 1; number <= calls; number += 1) {
        for (const isLate of method === 'watch' || method === 'revisionOf'
          ? [false]
          : [false, true]) {
          const { service } = await sessionOf(7);
          const end = atCall(service, method, number, (call) => {
            if (!isLate) throw new Error('at once');
            return Promise.resolve(call()).then(() => Promise.reject(new Error('afterwards')));
          });
          const store = liveSession(service, KEY, { window: 2 });
          const stop = store.subscribe(() => undefined);
          await useAll(store);
          calls = end();
          for (const id of ['x1', 'x2']) await store.retry(id);
          await store.reload();
          await assertShows(service, store);
          // It is still live.
          await service.appendEvent({
            session: (await service.getSession(KEY))!,
            event: message('new'),
          });
          await snapshotOf(store, ({ events }) => events.at(-1)?.id === 'new');
          stop();
          assert.ok(!isWatched(service));
        }
      }
    });

    it(`frees everything if its subscriber leaves at any call of ${method}`, async () => {
      for (let number = 1, calls = 1; number <= calls; number += 1) {
        const { service } = await sessionOf(7);
        const store = liveSession(service, KEY, { window: 2 });
        let stop = (): void => undefined;
        const end = atCall(service, method, number, (call) => {
          stop();
          return call();
        });
        stop = store.subscribe(() => undefined);
        await useAll(store);
        calls = end();
        stop();
        assert.ok(!isWatched(service));
        await store.reload();
        await assertShows(service, store);
      }
    });
  }

  it('loads no older events of a session that is deleted meanwhile', async () => {
    const { service } = await sessionOf(9);
    const store = liveSession(service, KEY, { window: 2 });
    const stop = store.subscribe(() => undefined);
    atCall(service, 'loadOlder', 1, async (call) => {
      await service.deleteSession(KEY);
      await snapshotOf(store, ({ status }) => status === 'deleted');
      return call();
    });
    await store.load();
    assert.equal(await store.loadOlder(), false);
    const { status, events, hasOlder, isLoadingOlder } = store.getSnapshot();
    stop();
    assert.deepEqual([status, events, hasOlder, isLoadingOlder], ['deleted', [], false, false]);
  });
});
