// The requests of deleting a long session.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { around } from '../around.js';
import { rows } from '../bare.js';
import { keyOf, numbers, say } from '../events.js';

const BATCH = 5000;

export interface Deletion {
  /** The requests to the store of events, by method, with their arguments. */
  requests: string[];
  /** Records of events before and after; one event of another session remains. */
  records: [number, number];
}

export async function deleteLong(name: string, size: number): Promise<Deletion> {
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
export function recordRequests(store: string): { requests: string[]; stop(): void } {
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
