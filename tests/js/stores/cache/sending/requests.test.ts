// How many entries of the local storage appends read and store. Each is a request of IndexedDB.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type {
  LocalKey,
  LocalStore,
  LocalTransaction,
} from '../../../../../js/service/cache/index.js';
import type { SentRecord } from '../../../../../js/stores/cache/data/sent_records.js';
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

/** What is stored of the sending of the session. */
async function attemptsIn(local: LocalStore) {
  const entries = await entriesOf(local, 'outbox');
  const records = entries.flatMap(({ value }) => ('ranges' in Object(value) ? [value] : []));
  return (records as SentRecord[]).flatMap(({ ranges }) =>
    ranges.map(({ first, last, phase }) => {
      const attempts = phase.is === 'sent' ? phase.attempts : 0;
      return { first, last, attempts };
    }),
  );
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

it('appends that are sent together have one record of their attempts, also if the first one is given up', async () => {
  const { cache, local } = await appendsWithoutAnswer(3);
  const [all, ...others] = await attemptsIn(local);
  assert.ok(all !== undefined && all.attempts > 0);
  assert.deepEqual([all.last - all.first, others], [2, []]);
  await cache.outbox.drop(KEY, IDS[0]);
  const rest = await attemptsIn(local);
  assert.deepEqual(
    rest.map(({ first, last }) => [first, last]),
    [[all.first + 1, all.last]],
  );
  await cache.close();
});

it('a request without an answer stores no text again', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvents({ session, events: IDS.map((id) => event(id)) });
  const texts: LocalKey[] = [];
  local.beforePut = (store, key) => {
    if (store === 'outbox' && key.at(-1) !== 'sent') texts.push(key);
  };
  server.isOffline = false;
  server.lostResponses = 100;
  await assert.rejects(() => cache.sync());
  assert.deepEqual(texts, []);
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
