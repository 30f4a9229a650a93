// Local data that the browser has lost, as tabs find out one after the other.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';

import { MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { LocalData } from '../../../../../js/stores/cache/data/local_data.js';
import {
  CACHE_STORES,
  type LocalStore,
} from '../../../../../js/stores/cache/local_store/local_store.js';
import { OwnerMarker } from '../../../../../js/stores/cache/local_store/owner_marker.js';
import { nameOf } from '../../../../../js/stores/cache/records/cache_key.js';
import {
  eventOf,
  isOf,
  isOfEvent,
  newRecord,
  type Operation,
  UNSENT,
} from '../../../../../js/stores/cache/records/records.js';
import type { Notice } from '../../../../../js/index.js';
import { hasCode, KEY, until } from '../fixture.js';
import { entriesOf, Gate, HeldStore } from '../held_store.js';
import { fakeCaches } from './fake_caches.js';

let restoreCaches: () => void;
beforeEach(() => (restoreCaches = fakeCaches()));
afterEach(() => restoreCaches());

const OTHER = { ...KEY, sessionId: 's2' };

/** A tab, which holds the operations that it has written, and those that others have told of. */
class Tab {
  readonly data: LocalData;
  readonly marker = new OwnerMarker('ada');
  readonly held = new Map<string, readonly Operation[]>();
  readonly notices: Notice[] = [];
  wasErased = false;
  birth = 0;

  constructor(
    local: LocalStore,
    sessions: { readonly birth: number; readonly created: number }[] = [],
  ) {
    this.data = new LocalData({
      store: local,
      owner: 'ada',
      marker: this.marker,
      onErased: () => (this.wasErased = true),
    });
    this.data.onCommit(({ operations, notices }) => {
      for (const [name, all] of operations) this.held.set(name, all);
      this.notices.push(...notices);
    });
    const held = sessions.map((session) => ({ key: OTHER, ...session }));
    this.data.hold(() => ({ operations: [...this.held.values()], sessions: held }));
    this.data.mayBegin();
  }

  /** Appends to a session that the remote has. Returns the number of the operation. */
  append(id: string): Promise<number> {
    return this.data.write(async (transaction) => {
      const record = (await transaction.copies.get(KEY)) ?? newRecord(transaction.nextNumber(), 0);
      await transaction.copies.put(KEY, record);
      this.birth = record.birth;
      const number = transaction.nextNumber();
      const event = { id, text: '{}', timestamp: 1 };
      const operation: Operation<'append'> = {
        number,
        write: { kind: 'append', key: KEY, events: [event] },
        numbers: [{ seq: number, tick: number }],
        basis: { birth: record.birth, time: 1 },
        ...{ sent: UNSENT, shared: {} },
      };
      await transaction.outbox.change(KEY, { put: [operation] });
      return number;
    });
  }

  /** Removes what was sent. */
  async sent(): Promise<void> {
    await this.data.write(async (transaction) => {
      const removed = await transaction.outbox.of(KEY);
      await transaction.outbox.change(KEY, { removed });
    });
  }

  /** Hears of the operations of another tab. */
  hear(other: Tab): void {
    const name = nameOf(KEY);
    this.held.set(name, other.held.get(name)!);
  }

  loss() {
    return this.data.read(({ owner }) => owner.loss);
  }

  async untilMarked(): Promise<void> {
    await until(async () => (await this.marker.note()) !== undefined);
  }
}

/** Deletes everything, as the browser does. */
async function lose(local: LocalStore): Promise<void> {
  await local.transaction('readwrite', async (transaction) => {
    for (const store of CACHE_STORES) await transaction.delete(store, [], ['\uffff']);
  });
}

/** The ids of the unsent events that are stored, and the numbers of their operations. */
async function unsent(local: LocalStore): Promise<(readonly [id: string, number: number])[]> {
  const entries = await entriesOf(local, 'outbox');
  return entries.flatMap(({ value }) => {
    const operation = value as Operation;
    return isOfEvent(operation) ? [[eventOf(operation).id, operation.number] as const] : [];
  });
}

it('a transaction over lost data stores what the tab holds again, with the same client and numbers', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  const number = await tab.append('e1');
  await tab.untilMarked();
  const { client } = tab.data;
  await lose(local);
  assert.equal((await tab.append('e2')) > number, true);
  assert.equal(tab.wasErased, false);
  const stored = await unsent(local);
  assert.deepEqual(stored[0], ['e1', number]);
  assert.deepEqual(
    stored.map(([id]) => id),
    ['e1', 'e2'],
  );
  assert.equal(tab.data.client, client);
  assert.equal((await tab.loss())?.events, 0);
  assert.deepEqual(
    tab.notices.map(({ type }) => type),
    ['lost'],
  );
});

it('operations of a session that the remote has wait until it is fetched again, under the same birth', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  const { birth } = tab;
  await lose(local);
  const operations = await tab.data.read((transaction) => transaction.outbox.of(KEY));
  assert.deepEqual(
    operations.map((operation) => {
      const isThere = isOf(operation, 'create') ? operation.basis.isThere : undefined;
      return { kind: operation.write.kind, isThere, birth: operation.basis.birth };
    }),
    [
      { kind: 'create', isThere: true, birth },
      { kind: 'append', isThere: undefined, birth },
    ],
  );
});

it('handles of sessions that a tab has read stay valid when the sessions are fetched again', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local, [{ birth: 5, created: 7 }]);
  await tab.append('e1');
  await tab.untilMarked();
  await lose(local);
  const givenUp = await tab.data.read((transaction) => transaction.copies.givenUp(OTHER));
  assert.deepEqual(givenUp, { birth: 5, created: 7 });
});

it('a second tab stores what only it holds, and nothing twice', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  second.hear(first);
  // The first tab does not hear of it.
  await second.append('e2');
  await first.untilMarked();
  await lose(local);
  await first.loss();
  assert.deepEqual(
    (await unsent(local)).map(([id]) => id),
    ['e1'],
  );
  await second.loss();
  assert.deepEqual(
    (await unsent(local)).map(([id]) => id),
    ['e1', 'e2'],
  );
  const births = await second.data.read(async (transaction) =>
    (await transaction.outbox.of(KEY)).map(({ basis }) => basis.birth),
  );
  assert.equal(new Set(births).size, 1);
  assert.equal((await second.loss())?.restored.length, 2);
});

it('what a second tab holds comes to the session that was fetched again', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await second.append('e1');
  await second.untilMarked();
  await first.loss();
  await lose(local);
  const birth = await first.data.write(async (transaction) => {
    const record = newRecord(transaction.nextNumber(), 0);
    await transaction.copies.put(KEY, record);
    return record.birth;
  });
  const operations = await second.data.read((transaction) => transaction.outbox.of(KEY));
  assert.deepEqual(
    operations.map(({ write, basis }) => ({ kind: write.kind, birth: basis.birth })),
    [{ kind: 'append', birth }],
  );
});

it('a tab that wakes late does not store again what another one has restored and sent', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  second.hear(first);
  await second.loss();
  await first.untilMarked();
  await lose(local);
  await first.loss();
  await first.sent();
  await second.loss();
  assert.deepEqual(await unsent(local), []);
});

it('a tab that opens after the loss keeps the client, and tells how many unsent events the note had', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  const { client } = tab.data;
  tab.marker.noteSoon({ client, events: 3 });
  await tab.marker.putNote();
  await lose(local);
  const later = new Tab(local);
  assert.equal((await later.loss())?.events, 3);
  assert.equal(later.data.client, client);
  // The tab was open all the time, and has one of them.
  assert.equal((await tab.loss())?.events, 2);
  assert.deepEqual(
    (await unsent(local)).map(([id]) => id),
    ['e1'],
  );
});

it('an acknowledged loss stays acknowledged, and a later loss is told', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  await lose(local);
  await tab.data.write((transaction) => transaction.acknowledgeLoss());
  assert.equal((await new Tab(local).loss())?.isAcknowledged, true);
  await lose(local);
  assert.equal((await tab.loss())?.isAcknowledged, false);
});

it('data that were erased are no loss, also in another tab that holds some', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  second.hear(first);
  await second.loss();
  await first.untilMarked();
  first.data.end();
  await first.data.erase();
  await assert.rejects(second.append('e2'), hasCode('aborted'));
  assert.equal(second.wasErased, true);
  assert.equal(await second.marker.note(), undefined);
  for (const store of CACHE_STORES) assert.deepEqual(await entriesOf(local, store), []);
});

it('a marker is not set for data that were erased meanwhile', async () => {
  const local = new HeldStore();
  const first = new Tab(local.memory);
  await first.append('e1');
  await first.untilMarked();
  const second = new Tab(local);
  const gate = new Gate();
  let transactions = 0;
  // The second transaction of the tab finds out whether the data are still there.
  local.before = () => ((transactions += 1) === 2 ? gate.pass() : undefined);
  await second.loss();
  await until(() => gate.isReached);
  await first.data.erase();
  gate.open();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await second.marker.note(), undefined);
});

it('a change of the note that comes late does not set the marker again', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  await second.loss();
  await first.untilMarked();
  await second.untilMarked();
  await first.data.erase();
  second.marker.noteSoon({ client: second.data.client, events: 1 });
  await second.marker.putNote();
  assert.equal(await second.marker.note(), undefined);
});

it('without a marker, missing data count as erased', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  await tab.marker.whileDeleting(() => Promise.resolve());
  await lose(local);
  await assert.rejects(tab.append('e2'), hasCode('aborted'));
  assert.equal(tab.wasErased, true);
});
