// A constraint of the database itself, violated in the middle of an append.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { dump } from '../page/bare.js';
import { APP, type Failure, failure, idsOf, keyOf, mark, numbers } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { failInBatch, failInGroup };
type Page = typeof inPage;

const GROUP = 9;

export function atomicity(context: Context): void {
  for (const [what, size] of [
    ['of few events', 8],
    ['that fills pages', 300],
  ] as const) {
    it(`a batch ${what} that violates a constraint halfway changes no store`, async () => {
      await inTab<Page>(context, async (tab) => {
        const result = await tab.call('failInBatch', newName(), size);
        assert.ok(result.strikes.length > 0, 'the browser aborted a transaction');
        assert.equal(result.failed.code, 'corrupt_record');
        assert.equal(result.database[1], result.database[0]);
        assert.equal(result.handle[1], result.handle[0]);
        assert.deepEqual(result.events, result.wanted, 'the same batch goes through afterwards');
      });
    });
  }

  it('an append that violates a constraint within a group fails alone', async () => {
    await inTab<Page>(context, async (tab) => {
      const { strikes, codes, events, scopes, handles } = await tab.call(
        'failInGroup',
        newName(),
        GROUP,
      );
      assert.ok(
        strikes.some(({ sessions }) => sessions > 1),
        `a transaction of several appends was aborted: ${JSON.stringify(strikes)}`,
      );
      const failing = Math.floor(GROUP / 2);
      for (const [place, code] of codes.entries()) {
        const fails = place === failing;
        assert.equal(code, fails ? 'corrupt_record' : null);
        assert.equal(events[place]!.length, fails ? 0 : 1);
        assert.equal(handles[place]!.length, fails ? 0 : 1);
        assert.deepEqual(scopes[place], fails ? [false, false, false] : [true, true, true]);
      }
    });
  });
}

/** The stored data before and after the append that violates the constraint. */
interface Strike {
  /** How many sessions the transaction wrote. */
  sessions: number;
}

/**
 * From now on, storing the event `id` violates the unique index: right before it, the same transaction stores a record
 * of another session with that entry. So the browser itself aborts the transaction.
 */
export function takeId(id: string): { strikes: Strike[]; stop(): void } {
  const strikes: Strike[] = [];
  const written = new Map<IDBTransaction, { sessions: Set<string>; isStruck: boolean }>();
  const ofTransaction = (transaction: IDBTransaction) => {
    const known = written.get(transaction);
    if (known !== undefined) return known;
    const fresh = { sessions: new Set<string>(), isStruck: false };
    written.set(transaction, fresh);
    transaction.addEventListener('abort', () => {
      if (fresh.isStruck) strikes.push({ sessions: fresh.sessions.size });
    });
    return fresh;
  };
  const watch = (
    store: IDBObjectStore,
    [value]: unknown[],
    proceed: (value: unknown) => unknown,
  ) => {
    const known = ofTransaction(store.transaction);
    if (store.name === 'sessions') known.sessions.add((value as { sessionId: string }).sessionId);
    const entry = store.name === 'events' ? entryOf(value, id) : undefined;
    if (entry !== undefined && !isThief(value)) {
      known.isStruck = true;
      store.put({ number: THIEF, seq: 1, ids: [entry], text: '{}', time: 0, revision: 1 });
    }
    return proceed(value);
  };
  const stops = [
    around(IDBObjectStore.prototype, 'put', watch),
    around(IDBObjectStore.prototype, 'add', watch),
  ];
  return { strikes, stop: () => stops.forEach((stop) => stop()) };
}

/** The number of a session that there never is. */
const THIEF = 2 ** 50;

function isThief(value: unknown): boolean {
  return (value as { number?: unknown }).number === THIEF;
}

/** The entry of the event `id` in the unique index, if the record holds that event. */
function entryOf(value: unknown, id: string): string | undefined {
  const { ids } = value as { ids?: unknown };
  if (!Array.isArray(ids)) return undefined;
  return (ids as string[]).find((entry) => entry.slice(entry.indexOf('/') + 1) === id);
}

interface FailedBatch {
  failed: Failure;
  strikes: Strike[];
  /** The whole database and the handle, as JSON: before and after. */
  database: [string, string];
  handle: [string, string];
  /** After the same batch went through. */
  events: string[];
  wanted: string[];
}

async function failInBatch(name: string, size: number): Promise<FailedBatch> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession({ ...keyOf('one'), state: { a: 1, 'user:b': 2 } });
  const earlier = numbers(5).map((number) => `earlier-${number}`);
  await service.appendEvents({ session, events: earlier.map(mark) });
  const ids = numbers(size).map((number) => `batch-${number}`);
  const events = ids.map(mark);
  const look = async () => [JSON.stringify(await dump(name)), JSON.stringify(session)] as const;
  const before = await look();
  const thief = takeId(ids[Math.floor(size / 2)]!);
  const failed = await failure(() => service.appendEvents({ session, events }));
  thief.stop();
  const after = await look();
  await service.appendEvents({ session, events });
  const read = await service.getSession(keyOf('one'));
  await service.close();
  return {
    failed,
    strikes: thief.strikes,
    database: [before[0], after[0]],
    handle: [before[1], after[1]],
    events: idsOf(read),
    wanted: [...earlier, ...ids],
  };
}

interface FailedGroup {
  strikes: Strike[];
  /** By session: the code that its append failed with, or nothing. */
  codes: (string | null)[];
  /** The stored events of each session, and whether its key of each scope exists. */
  events: string[][];
  scopes: [session: boolean, user: boolean, app: boolean][];
  handles: string[][];
}

/** Appends to several sessions concurrently. The append to the middle one cannot be stored. */
async function failInGroup(name: string, size: number): Promise<FailedGroup> {
  const service = new IndexedDbSessionService({ name });
  const ids = numbers(size).map((number) => `session-${number}`);
  const sessions = await Promise.all(ids.map((id) => service.createSession(keyOf(id))));
  const thief = takeId(`event of ${ids[Math.floor(size / 2)]!}`);
  const codes = await Promise.all(
    sessions.map(async (session) => {
      const append = service.appendEvent({ session, event: mark(`event of ${session.id}`) });
      return append.then(
        () => null,
        async () => (await failure(() => append)).code,
      );
    }),
  );
  thief.stop();
  const read = await Promise.all(ids.map((id) => service.getSession(keyOf(id))));
  const app = await service.getAppState({ appName: APP });
  await service.close();
  return {
    strikes: thief.strikes,
    codes,
    events: read.map(idsOf),
    scopes: read.map((session, place) => {
      const id = `event of ${ids[place]!}`;
      const state = session?.state ?? {};
      return [id in state, `user:${id}` in state, id in app];
    }),
    handles: sessions.map(idsOf),
  };
}
