import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind, switchBranch } from '../../../../../js/core/history/index.js';
import {
  createEventActions,
  type HistoryView,
  InMemorySessionService,
  isSessionError,
  type NewEvent,
} from '../../../../../js/index.js';
import { liveSession, type LiveSessionSnapshot } from '../../../../../js/ui/live/index.js';
import { readVectors } from '../../../../interop/history/vectors.js';
import { idsOf, isReady, KEY, message, sessionOf, snapshotOf } from '../stores.js';

const turn = (id: string): NewEvent => ({ ...message(id), invocationId: id });

async function turnsOf(...ids: string[]) {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  await service.appendEvents({ session, events: ids.map(turn) });
  return { service, session };
}

const shows =
  (...ids: string[]) =>
  ({ events }: LiveSessionSnapshot): boolean =>
    idsOf(events).join() === ids.join();

describe('A live session', () => {
  it('shows no undone turns and no markers, and what returns with another branch', async () => {
    const { service, session } = await turnsOf('a', 'b', 'c');
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, shows('a', 'b', 'c'));
    const { event } = await rewind(service, { ...KEY, before: { eventId: 'b' } });
    const after = await snapshotOf(store, shows('a'));
    assert.equal(after.events[0], before.events[0]);
    await service.appendEvent({ session, event: turn('d') });
    await snapshotOf(store, shows('a', 'd'));
    await switchBranch(service, { ...KEY, branch: event.invocationId });
    await snapshotOf(store, shows('a', 'b', 'c'));
    // An undone event is replaced.
    const current = (await service.getSession(KEY)) ?? assert.fail();
    await service.appendEvent({ session: current, event: { ...turn('d'), author: 'other' } });
    await service.appendEvent({ session: current, event: turn('e') });
    await snapshotOf(store, shows('a', 'b', 'c', 'e'));
    stop();
    await rewind(service, { ...KEY, before: { eventId: 'e' } });
    assert.deepEqual(idsOf(store.getSnapshot().events), ['a', 'b', 'c', 'e']);
    await store.reload();
    assert.deepEqual(idsOf(store.getSnapshot().events), ['a', 'b', 'c']);
  });

  it('fills its window with older events when newer ones are undone', async () => {
    const { service } = await turnsOf('a', 'b', 'c', 'd', 'e');
    const store = liveSession(service, KEY, { window: 2 });
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, shows('d', 'e'));
    await rewind(service, { ...KEY, before: { eventId: 'd' } });
    assert.equal((await snapshotOf(store, shows('b', 'c'))).hasOlder, true);
    assert.equal(await store.loadOlder(), false);
    assert.deepEqual(idsOf(store.getSnapshot().events), ['a', 'b', 'c']);
    stop();
  });

  it('loads older events without those that were undone', async () => {
    const { service, session } = await turnsOf('a', 'b', 'c');
    await rewind(service, { ...KEY, before: { eventId: 'b' } });
    await service.appendEvents({ session, events: ['d', 'e'].map(turn) });
    const store = liveSession(service, KEY, { window: 1 });
    assert.equal(await store.loadOlder(), true);
    assert.equal(await store.loadOlder(), false);
    assert.deepEqual(idsOf(store.getSnapshot().events), ['a', 'd', 'e']);
  });

  it('shows no marker that it has sent itself', async () => {
    for (const isWatched of [false, true]) {
      const { service } = await turnsOf('a', 'b');
      const store = liveSession(service, KEY);
      const stop = isWatched ? store.subscribe(() => undefined) : () => undefined;
      await store.load();
      const actions = createEventActions({ rewindBeforeInvocationId: 'b' } as object);
      await store.send({ author: 'user', invocationId: 'marker', actions });
      if (!isWatched) await store.reload();
      assert.deepEqual(idsOf((await snapshotOf(store, shows('a'))).events), ['a']);
      stop();
    }
  });

  it('names the events that a summary stands for, in the same set until they change', async () => {
    const { service, session } = await sessionOf(0);
    const { events, transcript, summarised } = readVectors().find(
      ({ name }) => name === 'summary',
    )!;
    const compaction = events.findIndex(({ id }) => id === 's1');
    await service.appendEvents({ session, events: events.slice(0, compaction) });
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const before = await snapshotOf(store, isReady);
    assert.equal(before.summarised.size, 0);
    await service.appendEvents({ session, events: events.slice(compaction) });
    const after = await snapshotOf(store, ({ summarised }) => summarised.size > 0);
    assert.deepEqual([...after.summarised], summarised);
    await snapshotOf(store, shows(...transcript));
    await service.appendEvent({ session, event: turn('later') });
    const later = await snapshotOf(store, ({ events }) => events.at(-1)?.id === 'later');
    await store.reload();
    assert.equal(store.getSnapshot().summarised, later.summarised);
    stop();

    const paged = liveSession(service, KEY, { window: 1 });
    while (await paged.loadOlder());
    assert.deepEqual([...paged.getSnapshot().summarised], summarised);
  });

  it('refuses an unknown view', () => {
    const options = { view: 'all' as HistoryView };
    assert.throws(
      () => liveSession(new InMemorySessionService(), KEY, options),
      (error) => isSessionError(error, 'invalid_argument'),
    );
  });
});

for (const { name, events, transcript, summarised, model } of readVectors()) {
  it(`A live session shows each view while its events are appended: ${name}`, async () => {
    const shown = { raw: idsOf(events), transcript, model };
    for (const view of ['raw', 'transcript', 'model'] as const) {
      for (const window of [1, 20]) {
        const { service, session } = await sessionOf(0);
        const store = liveSession(service, KEY, { window, view });
        const stop = store.subscribe(() => undefined);
        for (const event of events) {
          await service.appendEvent({ session, event: { ...event } });
          await store.load();
        }
        const all = shown[view];
        await snapshotOf(store, ({ events }) => {
          const isFull = events.length >= Math.min(window, all.length);
          return isFull && events.every(({ id }, at) => id === all.at(at - events.length));
        });
        while (await store.loadOlder(2));
        assert.deepEqual(idsOf(store.getSnapshot().events), all, `${view} ${window}`);
        await store.reload();
        const { summarised: ids } = store.getSnapshot();
        assert.deepEqual([...ids], view === 'transcript' ? summarised : []);
        stop();
      }
    }
  });
}
