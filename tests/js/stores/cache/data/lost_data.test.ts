// Local data that the browser has lost, as tabs find out one after the other.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';

import { MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { carryOut } from '../../../../../js/stores/cache/data/carry_out.js';
import { LocalData } from '../../../../../js/stores/cache/data/local_data.js';
import {
  CACHE_STORES,
  type LocalStore,
} from '../../../../../js/stores/cache/local_store/local_store.js';
import { OwnerFlag } from '../../../../../js/stores/cache/local_store/owner_flag.js';
import { nameOf } from '../../../../../js/stores/cache/records/cache_key.js';
import { newRecord } from '../../../../../js/stores/cache/records/records.js';
import {
  eventOf,
  FRESH,
  isOfEvent,
  type Mutation,
} from '../../../../../js/stores/cache/outbox/mutation.js';
import type { Notice } from '../../../../../js/index.js';
import { hasCode, KEY, until } from '../fixture.js';
import { entriesOf, Gate, HeldStore } from '../held_store.js';
import { fakeCaches } from './fake_caches.js';

let restoreCaches: () => void;
beforeEach(() => (restoreCaches = fakeCaches()));
afterEach(() => restoreCaches());

const OTHER = { ...KEY, sessionId: 's2' };

/** A tab, which holds the mutations that it has written, and those that others have told of. */
class Tab {
  readonly data: LocalData;
  readonly flag = new OwnerFlag('ada');
  readonly held = new Map<string, readonly Mutation[]>();
  readonly notices: Notice[] = [];
  wasForgotten = false;
  localId = 0;

  constructor(
    local: LocalStore,
    sessions: { readonly localId: number; readonly created: number }[] = [],
  ) {
    this.data = new LocalData({
      store: local,
      owner: 'ada',
      flag: this.flag,
      onForgotten: () => (this.wasForgotten = true),
    });
    this.data.onCommit(({ mutations, notices }) => {
      for (const [name, all] of mutations) this.held.set(name, all);
      this.notices.push(...notices);
    });
    const held = sessions.map((session) => ({ key: OTHER, ...session }));
    this.data.hold(() => ({ mutations: [...this.held.values()], sessions: held }));
    this.data.mayBegin();
  }

  /** Appends to a session that the remote has. Returns the number of the mutation. */
  append(id: string): Promise<number> {
    return this.data.write(async (transaction) => {
      const record = (await transaction.copies.get(KEY)) ?? newRecord(transaction.nextNumber(), 0);
      await transaction.copies.put(KEY, record);
      this.localId = record.localId;
      const number = transaction.nextNumber();
      const event = { id, text: '{}', timestamp: 1 };
      const mutation: Mutation<'append'> = {
        number,
        write: { kind: 'append', key: KEY, events: [event] },
        numbers: [{ seq: number, localVersion: number }],
        localId: record.localId,
        time: 1,
        needsSession: false,
        phase: FRESH,
        replaces: 'nothing',
        shared: {},
      };
      await carryOut(transaction, KEY, { type: 'added', mutations: [mutation] });
      return number;
    });
  }

  /** Removes what was sent. */
  async sent(): Promise<void> {
    await this.data.write(async (transaction) => {
      const numbers = (await transaction.outbox.of(KEY)).map(({ number }) => number);
      await carryOut(transaction, KEY, { type: 'claimed', numbers, attempts: 1 });
      await carryOut(transaction, KEY, { type: 'stored', numbers });
    });
  }

  /** Hears of the mutations of another tab. */
  hear(other: Tab): void {
    const name = nameOf(KEY);
    this.held.set(name, other.held.get(name)!);
  }

  loss() {
    return this.data.read(({ owner }) => owner.loss);
  }

  async untilMarked(): Promise<void> {
    await until(async () => (await this.flag.note()) !== undefined);
  }
}

/** Deletes everything, as the browser does. */
async function lose(local: LocalStore): Promise<void> {
  await local.transaction('readwrite', async (transaction) => {
    for (const store of CACHE_STORES) await transaction.delete(store, [], ['\uffff']);
  });
}

/** The ids of the unsent events that are stored, and the numbers of their mutations. */
async function unsent(local: LocalStore): Promise<(readonly [id: string, number: number])[]> {
  const entries = await entriesOf(local, 'outbox');
  return entries.flatMap(({ value }) => {
    const mutation = value as Mutation;
    return isOfEvent(mutation) ? [[eventOf(mutation).id, mutation.number] as const] : [];
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
  assert.equal(tab.wasForgotten, false);
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

it('mutations of a session that the remote has wait until it is fetched again, under the same local id', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  const { localId } = tab;
  await lose(local);
  const mutations = await tab.data.read((transaction) => transaction.outbox.of(KEY));
  assert.deepEqual(
    mutations.map((mutation) => {
      const { write, creation, localId } = mutation;
      return { kind: write.kind, creation, localId };
    }),
    [
      { kind: 'create', creation: 'provisional', localId },
      { kind: 'append', creation: undefined, localId },
    ],
  );
});

it('handles of sessions that a tab has read stay valid when the sessions are fetched again', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local, [{ localId: 5, created: 7 }]);
  await tab.append('e1');
  await tab.untilMarked();
  await lose(local);
  const evicted = await tab.data.read((transaction) => transaction.copies.evicted(OTHER));
  assert.deepEqual(evicted, { localId: 5, created: 7 });
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
  const localIds = await second.data.read(async (transaction) =>
    (await transaction.outbox.of(KEY)).map(({ localId }) => localId),
  );
  assert.equal(new Set(localIds).size, 1);
  assert.equal((await second.loss())?.restored.length, 2);
});

it('what a second tab holds comes to the session that was fetched again', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await second.append('e1');
  await second.untilMarked();
  await first.loss();
  await lose(local);
  const localId = await first.data.write(async (transaction) => {
    const record = newRecord(transaction.nextNumber(), 0);
    await transaction.copies.put(KEY, record);
    return record.localId;
  });
  const mutations = await second.data.read((transaction) => transaction.outbox.of(KEY));
  assert.deepEqual(
    mutations.map(({ write, localId }) => ({ kind: write.kind, localId })),
    [{ kind: 'append', localId }],
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
  tab.flag.noteSoon({ client, events: 3 });
  await tab.flag.putNote();
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

it('data that were forgotten are no loss, also in another tab that holds some', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  second.hear(first);
  await second.loss();
  await first.untilMarked();
  first.data.end();
  await first.data.forget();
  await assert.rejects(second.append('e2'), hasCode('aborted'));
  assert.equal(second.wasForgotten, true);
  assert.equal(await second.flag.note(), undefined);
  for (const store of CACHE_STORES) assert.deepEqual(await entriesOf(local, store), []);
});

it('a flag is not set for data that were forgotten meanwhile', async () => {
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
  await first.data.forget();
  gate.open();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await second.flag.note(), undefined);
});

it('a change of the note that comes late does not set the flag again', async () => {
  const local = new MemoryLocalStore();
  const [first, second] = [new Tab(local), new Tab(local)];
  await first.append('e1');
  await second.loss();
  await first.untilMarked();
  await second.untilMarked();
  await first.data.forget();
  second.flag.noteSoon({ client: second.data.client, events: 1 });
  await second.flag.putNote();
  assert.equal(await second.flag.note(), undefined);
});

it('without a flag, missing data count as forgotten', async () => {
  const local = new MemoryLocalStore();
  const tab = new Tab(local);
  await tab.append('e1');
  await tab.untilMarked();
  await tab.flag.whileDeleting(() => Promise.resolve());
  await lose(local);
  await assert.rejects(tab.append('e2'), hasCode('aborted'));
  assert.equal(tab.wasForgotten, true);
});
