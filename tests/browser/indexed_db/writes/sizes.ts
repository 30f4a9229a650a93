// Events and states that are large: what a record of the browser holds, and what it does not.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Event, IndexedDbSessionService, type Session } from 'adk-session-wasm';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, newName, withSqliteStore } from '../context.js';
import { rows } from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, numbers, say, mark } from '../page/events.js';
import { around } from '../page/around.js';

/** What the tests call in the page. */
export const inPage = {
  appendLarge,
  appendTooLarge,
  growState,
  createTooLarge,
  replaceByLarge,
  countReads,
};
type Page = typeof inPage;

/** Characters of a page: more of them stand in one record only if they are one event's. */
const PAGE_TEXT = 512 * 1024;

interface Way {
  what: string;
  script: Script;
  count: number;
  length: number;
  isBatch: boolean;
}

/** The number of large events. In Chromium they are together more than one record holds: 133,169,152 bytes. */
const COUNTS: Record<BrowserName, number> = { chromium: 131, firefox: 20, webkit: 20 };

const waysIn = (browserName: BrowserName): Way[] => [
  {
    what: 'events of 1.05 MB, appended one by one',
    script: 'latin',
    count: COUNTS[browserName],
    length: 1_050_000,
    isBatch: false,
  },
  {
    what: 'events of 600,000 Korean letters, appended one by one',
    script: 'korean',
    count: COUNTS[browserName],
    length: 600_000,
    isBatch: false,
  },
  {
    what: 'events of 1.05 MB, appended as a batch',
    script: 'latin',
    count: COUNTS[browserName],
    length: 1_050_000,
    isBatch: true,
  },
  {
    what: 'events of 20 kB, appended one by one',
    script: 'latin',
    count: 600,
    length: 20_000,
    isBatch: false,
  },
];

export function sizes(given: Context, browserName: BrowserName): void {
  // Its records have the lower limit.
  const context = browserName === 'chromium' ? withSqliteStore(given) : given;

  for (const { what, script, count, length, isBatch } of waysIn(browserName)) {
    it(`IndexedDB stores ${count} ${what}, and reads them completely`, async () => {
      await inTab<Page>(context, async (tab) => {
        const values = [newName(), script, count, length, isBatch] as const;
        const { acknowledged, held } = await tab.call('appendLarge', ...values);
        assert.deepEqual(held.events, acknowledged);
        assert.deepEqual(held.keys, acknowledged);
        assert.equal(held.areWhole, true);
        assert.deepEqual(held.latest, acknowledged.slice(-3));
        assert.ok(held.longestPage <= PAGE_TEXT, `${held.longestPage} characters in a page`);
      });
    });
  }

  for (const what of Object.keys(TOO_LARGE) as TooLarge[]) {
    it(`IndexedDB refuses an append whose ${what} exceeds a record's limit, and continues`, async () => {
      await inTab<Page>(context, async (tab) => {
        const refused = await tab.call('appendTooLarge', newName(), what);
        assertRefused(refused, /event "big"/);
        assert.deepEqual(refused.events, ['after']);
        assert.deepEqual(refused.keys, ['after']);
      });
    });
  }

  for (const [prefix, owner] of [
    ['', /session "large"/],
    ['app:', /app "shop"/],
  ] as const) {
    it(`IndexedDB refuses an append that makes the state of ${prefix || 'session:'} exceed a record's limit`, async () => {
      await inTab<Page>(context, async (tab) => {
        const refused = await tab.call('growState', newName(), prefix);
        assertRefused(refused, owner);
        assert.deepEqual(refused.events, ['after']);
        assert.deepEqual(refused.keys.sort(), ['after', `${prefix}one`].sort());
      });
    });
  }

  it("IndexedDB refuses a session whose state and initial state exceed a record's limit", async () => {
    await inTab<Page>(context, async (tab) => {
      const { failed, stored } = await tab.call('createTooLarge', newName());
      assert.equal(failed.code, 'quota_exceeded');
      assert.match(failed.message, /session "large"/);
      assert.equal(stored, 0);
    });
  });

  it('IndexedDB refuses an append that makes the state of a scope exceed what a session can show', async () => {
    await inTab<Page>(context, async (tab) => {
      // Fewer characters than a record holds, and more bytes than the core takes.
      const refused = await tab.call('growState', newName(), 'user:', 'korean');
      assertRefused(refused, /171 MB/);
      assert.deepEqual(refused.events, ['after']);
      assert.deepEqual(refused.keys.sort(), ['after', 'user:one']);
    });
  });

  it('an event in a page can be replaced by a large one, which splits the page', async () => {
    await inTab<Page>(context, async (tab) => {
      const { before, held, appended } = await tab.call('replaceByLarge', newName());
      assert.deepEqual(held.events, before);
      assert.equal(held.areWhole, true);
      assert.ok(held.longestPage <= PAGE_TEXT, `${held.longestPage} characters in a page`);
      assert.deepEqual(appended, [...before, 'after']);
    });
  });

  it('a batch needs as many requests in any session, and its retry reads each page once', async () => {
    await inTab<Page>(context, async (tab) => {
      const { appended, retried } = await tab.call('countReads', newName(), 12, 500);
      // The first one also opens the database.
      const [, second, ...later] = appended;
      for (const counts of later) assert.deepEqual(counts, second);
      for (const counts of retried) assert.deepEqual(counts, retried[0]);
      // 500 events lie in four pages of at most 128.
      assert.equal(retried[0]?.['IDBObjectStore.getAll'], 4);
    });
  });
}

function assertRefused({ failed, handle }: RefusalResult, name: RegExp): void {
  assert.equal(failed.code, 'quota_exceeded');
  assert.match(failed.message, name);
  assert.equal(handle[1], handle[0], 'the handle is as it was');
}

/** The first letter of a script, and how many follow it. Browsers keep a letter in one byte, or in two. */
const SCRIPTS = { latin: [35, 57], korean: [0xac00, 11172] } as const;

type Script = keyof typeof SCRIPTS;

const PIECE = 100_000;

/** Random letters: Chromium compresses records, and would hold any number of equal ones. */
function textOf(script: Script, length: number): string {
  const [first, count] = SCRIPTS[script];
  let piece = '';
  while (piece.length < PIECE) {
    const numbers = crypto.getRandomValues(new Uint16Array(10_000));
    piece += String.fromCharCode(...numbers.map((number) => first + (number % count)));
  }
  return piece.repeat(Math.ceil(length / PIECE)).slice(0, length);
}

/** The records of a session. */
interface Held {
  /** Ids of its events, and whether each has its whole text. */
  events: string[];
  areWhole: boolean;
  /** Ids of the last three, read as a window. */
  latest: string[];
  /** Keys of its state. */
  keys: string[];
  /** Characters of the longest text that a record of many events has. */
  longestPage: number;
}

function large(id: string, text: string): Event {
  return say(id, { [id]: id }, text);
}

async function look(service: IndexedDbSessionService, name: string, text: string): Promise<Held> {
  const session = await service.getSession(keyOf('large'));
  const isWhole = ({ content }: Event) => content?.parts?.[0]?.text === text;
  const config = { numRecentEvents: 3 };
  const latest = idsOf(await service.getSession({ ...keyOf('large'), config }));
  const texts = (await rows(name, 'events'))
    .filter(({ ids }) => (ids as string[]).length > 1)
    .map(({ text }) => (text as string).length);
  return {
    events: idsOf(session),
    areWhole: session?.events.every(isWhole) ?? false,
    latest,
    keys: Object.keys(session?.state ?? {}),
    longestPage: Math.max(0, ...texts),
  };
}

/** Appends so many events of so many letters, one by one or as one batch, and reads them with a new service. */
async function appendLarge(
  name: string,
  script: Script,
  count: number,
  length: number,
  isBatch: boolean,
): Promise<{ acknowledged: string[]; held: Held }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const ids = numbers(count);
  const text = textOf(script, length);
  if (isBatch) {
    await service.appendEvents({ session, events: ids.map((id) => large(id, text)) });
  } else {
    for (const id of ids) {
      await service.appendEvent({ session, event: large(id, text) });
      // The handle would hold all of them.
      session.events.length = 0;
    }
  }
  await service.close();
  const reader = new IndexedDbSessionService({ name });
  const held = await look(reader, name, text);
  await reader.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return { acknowledged: ids, held };
}

interface RefusalResult {
  failed: Failure;
  /** The handle as JSON, before and after. */
  handle: [string, string];
  /** Ids of the stored events, and the keys of the merged state, after one more append. */
  events: string[];
  keys: string[];
}

/** Data that is too large for any record. */
const TOO_LARGE = {
  event: (session: Session) => ({ session, events: [large('big', textOf('latin', 134_000_000))] }),
  'last event of a batch': (session: Session) => ({
    session,
    events: [say('small', { small: 1 }), large('big', textOf('latin', 134_000_000))],
  }),
  'Korean event': (session: Session) => ({
    session,
    events: [large('big', textOf('korean', 67_000_000))],
  }),
};

type TooLarge = keyof typeof TOO_LARGE;

async function appendTooLarge(name: string, what: TooLarge): Promise<RefusalResult> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const before = JSON.stringify(session);
  const failed = await failure(() => service.appendEvents(TOO_LARGE[what](session)));
  const after = JSON.stringify(session);
  return { failed, handle: [before, after], ...(await goOn(service, session)) };
}

/** Makes a state grow by an event that is small enough, until it is too large for its record or for a scope. */
async function growState(
  name: string,
  prefix: string,
  script: Script = 'latin',
): Promise<RefusalResult> {
  const service = new IndexedDbSessionService({ name });
  const key = (id: string) => `${prefix}${id}`;
  // A session also keeps its initial state.
  const [first, length] = script === 'latin' ? [30_000_000, 37_000_000] : [40_000_000, 20_000_000];
  const state = { [key('one')]: textOf(script, first) };
  const session = await service.createSession({ ...keyOf('large'), state });
  const summary = () => JSON.stringify([idsOf(session), Object.keys(session.state)]);
  const before = summary();
  const event = say('two', { [key('two')]: textOf(script, length) });
  const failed = await failure(() => service.appendEvent({ session, event }));
  return { failed, handle: [before, summary()], ...(await goOn(service, session)) };
}

/** Creates a session whose state and initial state are together too large for its record. Returns what is stored. */
async function createTooLarge(name: string): Promise<{ failed: Failure; stored: number }> {
  const service = new IndexedDbSessionService({ name });
  const state = { one: textOf('latin', 40_000_000) };
  const failed = await failure(() => service.createSession({ ...keyOf('large'), state }));
  await service.close();
  return { failed, stored: (await rows(name, 'sessions')).length };
}

/** The outcome of calls after a refusal. */
async function goOn(
  service: IndexedDbSessionService,
  session: Session,
): Promise<{ events: string[]; keys: string[] }> {
  await service.appendEvent({ session, event: say('after', { after: 1 }) });
  const read = await service.getSession(keyOf('large'));
  await service.close();
  return { events: idsOf(read), keys: Object.keys(read?.state ?? {}) };
}

/** Replaces events of a page by ones that fill it many times over. */
async function replaceByLarge(
  name: string,
): Promise<{ before: string[]; held: Held; appended: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('large'));
  const before = numbers(20);
  await service.appendEvents({ session, events: before.map((id) => large(id, 'short')) });
  const text = textOf('latin', 400_000);
  for (const id of before) {
    await service.appendEvent({ session, event: large(id, text) });
  }
  const held = await look(service, name, text);
  await service.appendEvent({ session, event: say('after') });
  const appended = idsOf(await service.getSession(keyOf('large')));
  await service.close();
  return { before, held, appended };
}

/** Requests by the method that sent them, like `IDBIndex.getKey`. */
type Counts = Record<string, number>;

const METHODS = {
  IDBObjectStore: ['get', 'getKey', 'getAll', 'getAllKeys', 'openCursor', 'count'],
  IDBIndex: ['get', 'getKey', 'getAll', 'getAllKeys', 'openCursor', 'count'],
} as const;

/** The reading requests that `run` sends. */
async function readsOf(run: () => Promise<unknown>): Promise<Counts> {
  const counts: Counts = {};
  const ends = Object.entries(METHODS).flatMap(([type, methods]) =>
    methods.map((method) => {
      const { prototype } = globalThis[type as keyof typeof METHODS];
      return around(prototype, method, (_, values, proceed) => {
        const name = `${type}.${method}`;
        counts[name] = (counts[name] ?? 0) + 1;
        return proceed(...values);
      });
    }),
  );
  await run();
  for (const end of ends) end();
  return counts;
}

/** Appends batches one after the other, then each once more; what each append has read. */
async function countReads(
  name: string,
  batches: number,
  size: number,
): Promise<{ appended: Counts[]; retried: Counts[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('long'));
  const appended: Counts[] = [];
  const retried: Counts[] = [];
  for (const counts of [appended, retried]) {
    for (let batch = 0; batch < batches; batch += 1) {
      counts.push(await readsOf(() => appendBatch(service, session, batch, size)));
    }
  }
  await service.close();
  return { appended, retried };
}

function appendBatch(
  service: IndexedDbSessionService,
  session: Session,
  batch: number,
  size: number,
): Promise<unknown> {
  const ids = Array.from({ length: size }, (_, at) => `${batch}:${at}`);
  const events = ids.map((id) => ({ ...mark('same'), id, timestamp: 1.7e12 }));
  return service.appendEvents({ session, events });
}
