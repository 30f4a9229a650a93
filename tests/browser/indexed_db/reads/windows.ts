// Windows of long sessions: which records a read copies from the browser, and which events it parses.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { rows } from '../page/bare.js';
import { idsOf, keyOf, numbers, say } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { readWindows };
type Page = typeof inPage;

/** The events of a session: batches, which lie in page records, and single ones, as they are appended to each other. */
const APPENDS: Record<string, readonly number[]> = {
  'page records alone': [1280],
  'page records, and events with a record each': [700, ...Array<number>(5).fill(1)],
  'batches that are smaller than a page record': Array<number>(40).fill(20),
};

const WINDOWS = [0, 1, 3, 20, 128, 129, 300];

export function windows(context: Context): void {
  for (const [what, appends] of Object.entries(APPENDS)) {
    it(`a window parses only its own events, and copies at most one record more: ${what}`, async () => {
      await inTab<Page>(context, async (tab) => {
        const reads = await tab.call('readWindows', newName(), appends, WINDOWS);
        for (const [number, { ids, all, parsed, copied, needed }] of reads.entries()) {
          const window = WINDOWS[number]!;
          assert.deepEqual(ids, window === 0 ? [] : all.slice(-window));
          assert.equal(parsed, window, `${parsed} events are parsed for a window of ${window}`);
          const counts = `${copied} records for ${window}, which ${needed} hold`;
          assert.ok(copied >= needed && copied <= needed + 1, counts);
        }
      });
    });
  }
}

interface WindowRead {
  readonly ids: string[];
  /** The ids of all events. */
  readonly all: string[];
  /** How many events were parsed. */
  readonly parsed: number;
  /** How many records of events were copied from the browser, and how many hold the events of the window. */
  readonly copied: number;
  readonly needed: number;
}

/** Stores a session, and reads windows of it with a new service. */
async function readWindows(
  name: string,
  appends: readonly number[],
  windows: readonly number[],
): Promise<WindowRead[]> {
  const writer = new IndexedDbSessionService({ name });
  const session = await writer.createSession(keyOf('long'));
  const all = numbers(appends.reduce((sum, count) => sum + count, 0));
  let first = 0;
  for (const count of appends) {
    const events = all.slice(first, first + count).map((id) => say(id));
    await writer.appendEvents({ session, events });
    first += count;
  }
  await writer.close();
  const sizes = (await rows(name, 'events')).map(({ ids }) => (ids as unknown[]).length);
  const reads: WindowRead[] = [];
  const service = new IndexedDbSessionService({ name });
  for (const window of windows) {
    let [copied, parsed] = [0, 0];
    const ends = [
      around(IDBObjectStore.prototype, 'getAll', (store, values, proceed) => {
        const request = proceed(...values) as IDBRequest<unknown[]>;
        const isOfEvents = store.name === 'events';
        if (isOfEvents)
          request.addEventListener('success', () => void (copied += request.result.length));
        return request;
      }),
      around(JSON, 'parse', (_, values, proceed) => {
        const value = proceed(...values);
        if (Array.isArray(value)) parsed += value.length;
        return value;
      }),
    ];
    const config = { numRecentEvents: window };
    const read = await service.getSession({ ...keyOf('long'), config });
    for (const end of ends) end();
    let [needed, held] = [0, 0];
    for (let at = sizes.length; held < window; needed += 1) held += sizes[(at -= 1)] ?? window;
    reads.push({ ids: idsOf(read), all, parsed, copied, needed });
  }
  await service.close();
  return reads;
}
