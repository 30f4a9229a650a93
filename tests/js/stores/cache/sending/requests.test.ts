// How many entries of the local storage appends read and store. Each is a request of IndexedDB.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { LocalStore, LocalTransaction } from '../../../../../js/service/cache/index.js';
import type { Mutation } from '../../../../../js/stores/cache/records/records.js';
import { createOffline, event, idsOf, KEY, openCache, Server } from '../fixture.js';
import { entriesOf, HeldStore } from '../held_store.js';

const IDS = Array.from({ length: 20 }, (_, index) => `e${index}`);

/** Stores appends of a session that the remote has, and lets the responses to their requests get lost. */
async function appendsWithoutAnswer(count: number) {
  const server = new Server();
  const { cache, session, local } = await createOffline(server, true);
  const events = IDS.slice(0, count).map((id) => event(id));
  await cache.appendEvents({ session, events });
  server.isOffline = false;
  server.lostResponses = 100;
  await cache.sync().catch(() => undefined);
  server.isOffline = true;
  server.lostResponses = 0;
  return { server, cache, session, local };
}

async function attemptsOf(local: LocalStore): Promise<number[]> {
  const mutations = await entriesOf(local, 'outbox');
  return mutations.map(({ value }) => (value as Mutation).sent.attempts);
}

it('twenty appends that are sent together store one record that they were sent, and two of each event', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvents({ session, events: IDS.map((id) => event(id)) });
  await cache.sync().catch(() => undefined);
  server.isOffline = false;
  const puts = { sessions: 0, events: 0, states: 0, outbox: 0 };
  local.beforePut = (store) => (puts[store] += 1);
  server.requests.length = 0;
  await cache.sync();
  local.beforePut = () => undefined;
  assert.equal(server.requests.filter((request) => request.startsWith('POST')).length, 1);
  assert.equal(puts.outbox, 1);
  assert.equal(puts.events, 2 * IDS.length + 1);
  assert.equal(puts.sessions, 2, 'one for each transaction');
  const { events } = (await server.service.getSession(KEY))!;
  assert.deepEqual(idsOf({ events }), IDS);
  await cache.close();
});

it('appends without an answer are sent together again by another tab, once', async () => {
  const { server, cache, local } = await appendsWithoutAnswer(3);
  await cache.close();
  server.isOffline = false;
  const bodies: string[] = [];
  server.intercept = async (request) => {
    if (request.method === 'POST') bodies.push(await request.text());
    return undefined;
  };
  const { cache: other } = openCache(server, { local });
  const session = (await other.getSession(KEY))!;
  await other.appendEvent({ session, event: event('later') });
  await other.sync();
  const sent = bodies.map((body) => idsOf(JSON.parse(body) as { events: { id: string }[] }));
  assert.deepEqual(sent, [IDS.slice(0, 3), ['later']]);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), [...IDS.slice(0, 3), 'later']);
  assert.deepEqual(await other.outbox.list(), []);
  await other.close();
});

it('appends keep their attempts if the first one of their request is given up', async () => {
  const { cache, local } = await appendsWithoutAnswer(3);
  const [first, ...others] = await attemptsOf(local);
  assert.ok(first !== undefined && first > 0);
  assert.deepEqual(others, [0, 0], 'the record of the first one has them');
  await cache.outbox.drop(KEY, IDS[0]);
  assert.equal((await attemptsOf(local)).at(-1), first);
  await cache.close();
});

/** A view of a storage that notes the entries which each transaction reads one by one, in rounds. */
class RoundsStore extends HeldStore {
  /** By transaction that writes: the number of entries of each round. */
  readonly rounds: number[][] = [];

  override transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    const rounds: number[] = [];
    if (mode === 'readwrite') this.rounds.push(rounds);
    let round: Promise<void> | undefined;
    return super.transaction(mode, (transaction) =>
      work({
        ...transaction,
        get: async (store, key) => {
          if (round === undefined) {
            rounds.push(0);
            round = new Promise((resolve) => setImmediate(resolve));
            void round.then(() => (round = undefined));
          }
          rounds.push(rounds.pop()! + 1);
          await round;
          return transaction.get(store, key);
        },
      }),
    );
  }
}

it('an append with shared keys reads its five entries in one round', async () => {
  const server = new Server();
  const local = new RoundsStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('first', { 'user:a': 1, 'app:b': 1 }) });
  await cache.sync();
  server.isOffline = true;
  local.rounds.length = 0;
  await cache.appendEvent({ session, event: event('second', { 'user:a': 2, 'app:b': 2 }) });
  assert.deepEqual(local.rounds[0], [5]);
  await cache.close();
});
