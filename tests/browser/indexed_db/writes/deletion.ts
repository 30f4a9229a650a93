// The requests of deleting a long session.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { rows } from '../page/bare.js';
import { keyOf, numbers, say } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { deleteLong };
type Page = typeof inPage;

const EVENTS = 10_000;

export function deletion(context: Context): void {
  it('deleting a session of 10,000 events deletes one range, without counting', async () => {
    await inTab<Page>(context, async (tab) => {
      const { requests, records } = await tab.call('deleteLong', newName(), EVENTS);
      assert.ok(records[0] > 1);
      assert.equal(records[1], 1);
      assert.deepEqual(requests, ['delete of a range']);
    });
  });
}

const BATCH = 5000;

interface Deletion {
  /** The requests to the store of events, by method, with their arguments. */
  requests: string[];
  /** Records of events before and after; one event of another session remains. */
  records: [number, number];
}

async function deleteLong(name: string, size: number): Promise<Deletion> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('long'));
  const ids = numbers(size);
  while (ids.length > 0) {
    const events = ids.splice(0, BATCH).map((id) => say(id));
    await service.appendEvents({ session, events });
  }
  const other = await service.createSession(keyOf('other'));
  await service.appendEvent({ session: other, event: say('stays') });
  const before = (await rows(name, 'events')).length;
  const recorded = recordRequests('events');
  await service.deleteSession(keyOf('long'));
  recorded.stop();
  const after = (await rows(name, 'events')).length;
  await service.close();
  return { requests: recorded.requests, records: [before, after] };
}

/** Records all requests to a store or its indexes from now on. */
function recordRequests(store: string): { requests: string[]; stop(): void } {
  const requests: string[] = [];
  const note = (asked: string, method: string, [query]: unknown[]): void => {
    if (asked !== store || method === 'index') return;
    requests.push(`${method} of ${query instanceof IDBKeyRange ? 'a range' : typeof query}`);
  };
  const stops = [
    ...methodsOf(IDBObjectStore.prototype).map((method) =>
      around(IDBObjectStore.prototype, method, (target, values, proceed) => {
        note(target.name, method, values);
        return proceed(...values);
      }),
    ),
    ...methodsOf(IDBIndex.prototype).map((method) =>
      around(IDBIndex.prototype, method, (target, values, proceed) => {
        note(target.objectStore.name, method, values);
        return proceed(...values);
      }),
    ),
  ];
  return { requests, stop: () => stops.forEach((stop) => stop()) };
}

function methodsOf<T extends object>(prototype: T): (keyof T & string)[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
    .map(([name]) => name as keyof T & string);
}
