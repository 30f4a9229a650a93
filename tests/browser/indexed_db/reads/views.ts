// Views of rewound and compacted histories.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { createEvent, type Event, IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import type { Vector } from '../../../interop/history/vectors.js';
import { expectedReads, type Reads, readsOf } from '../../../js/core/history/vector_reads.js';
import { around } from '../page/around.js';
import { idsOf, keyOf } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { readVector, fillMarked, readMarked, readUndone };
type Page = typeof inPage;

export function views(context: Context): void {
  it('each history has the same view whole, by windows, by pages and after a merge', async () => {
    const file = new URL('../../../vectors/history.json', import.meta.url);
    const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];
    await inTab<Page>(context, async (tab) => {
      const name = newName();
      for (const vector of vectors) {
        const reads = await tab.call('readVector', name, vector);
        assert.deepEqual(reads, expectedReads(vector, 'some'), vector.name);
      }
    });
  });

  it('the end of a view is read with the marked events, also of page records and by a later page', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => tab.call('fillMarked', name));
    await inTab<Page>(context, async (tab) => {
      for (const view of ['transcript', 'model'] as const) {
        const { whole, end, older } = await tab.call('readMarked', name, view);
        assert.deepEqual(end.ids, whole.ids.slice(-WINDOW), view);
        assert.deepEqual(older.ids, whole.ids.slice(-2 * WINDOW), view);
        assert.ok(whole.count >= COUNT, `${view}: ${whole.count} events`);
        assert.ok(end.count < COUNT / 2, `${view}: ${end.count} events`);
        if (view === 'transcript') assert.ok(older.count < COUNT / 2, `${older.count} events`);
      }
    });
  });

  it('the end of a view after a rewind far back is read without the undone events', async () => {
    await inTab<Page>(context, async (tab) => {
      for (const view of ['transcript', 'model'] as const) {
        const { end, older } = await tab.call('readUndone', newName(), view);
        const expected = Array.from({ length: COUNT / 4 }, (_, at) => `e${at}`);
        expected.push(`e${COUNT - 1}`);
        assert.deepEqual(end.ids, expected.slice(-WINDOW), view);
        assert.deepEqual(older.ids, expected.slice(-2 * WINDOW), view);
        for (const { count } of [end, older]) assert.ok(count < COUNT / 4, `${view}: ${count}`);
      }
    });
  });
}

const [COUNT, WINDOW] = [6000, 20];

/** Stores a session of page records with a rewind and a compaction among the first, the middle and the last events. */
async function fillMarked(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('marked'));
  const event = (at: number, actions: object = {}): Event =>
    createEvent({
      id: `e${at}`,
      invocationId: `i${Math.floor(at / 4)}`,
      author: at % 4 === 0 ? 'user' : 'bot',
      timestamp: 1000 + at,
      content: { role: at % 4 === 0 ? 'user' : 'model', parts: [{ text: `text ${at}` }] },
      actions: actions as Event['actions'],
    });
  const compactedContent = { role: 'model', parts: [{ text: 'summary' }] };
  const compaction = (end: number) => ({
    compaction: { startTimestamp: 1000 + end - 40, endTimestamp: 1000 + end, compactedContent },
  });
  const events = Array.from({ length: COUNT }, (_, at) => event(at));
  for (const at of [100, COUNT / 2, COUNT - 12]) {
    events[at] = event(at, { rewindBeforeInvocationId: `i${at / 4 - 2}` });
    events[at + 4] = event(at + 4, compaction(at - 10));
  }
  await service.appendEvents({ session, events: events.slice(0, -4) });
  for (const event of events.slice(-4)) await service.appendEvent({ session, event });
  await service.close();
}

interface MarkedRead {
  readonly ids: string[];
  /** How many events the records have that were read. */
  readonly count: number;
}

/** Reads a view of a session of which a rewind has undone three quarters. */
async function readUndone(
  name: string,
  view: 'transcript' | 'model',
): Promise<Record<'end' | 'older', MarkedRead>> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('marked'));
  const events = Array.from({ length: COUNT }, (_, at) => {
    const content = { role: 'user', parts: [{ text: `text ${at}` }] };
    return createEvent({ id: `e${at}`, invocationId: `i${at}`, author: 'user', content });
  });
  const actions = { rewindBeforeInvocationId: `i${COUNT / 4}` } as object as Event['actions'];
  events[COUNT - 2] = createEvent({ ...events[COUNT - 2], actions });
  await service.appendEvents({ session, events });
  await service.close();
  return readMarked(name, view);
}

async function readMarked(
  name: string,
  view: 'transcript' | 'model',
): Promise<Record<'whole' | 'end' | 'older', MarkedRead>> {
  let count = 0;
  const restore = around(IDBObjectStore.prototype, 'getAll', (store, values, proceed) => {
    const request = proceed(...values) as IDBRequest<{ readonly ids?: readonly unknown[] }[]>;
    request.addEventListener('success', () => {
      for (const { ids = [] } of request.result) count += ids.length;
    });
    return request;
  });
  const counted = (ids: string[]): MarkedRead => {
    const read = { ids, count };
    count = 0;
    return read;
  };
  const service = new IndexedDbSessionService({ name });
  try {
    const key = keyOf('marked');
    const config = { numRecentEvents: WINDOW, view };
    const session = await service.getSession({ ...key, config });
    const end = counted(idsOf(session));
    await service.loadOlder(session!, WINDOW);
    const older = counted(idsOf(session));
    const whole = counted(idsOf(await service.getSession({ ...key, config: { view } })));
    return { whole, end, older };
  } finally {
    restore();
    await service.close();
  }
}

async function readVector(name: string, vector: Vector): Promise<Reads> {
  const service = new IndexedDbSessionService({ name });
  const reads = await readsOf(service, vector, 'some');
  await service.close();
  return reads;
}
