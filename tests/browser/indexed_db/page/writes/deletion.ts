// The requests of deleting a long session.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { around } from '../around.js';
import { rows } from '../bare.js';
import { APP, keyOf, numbers, say } from '../events.js';

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

/**
 * Makes too many sessions while the lock of all tabs' retentions is held, as by another tab.
 *
 * @returns the number of sessions before and after the lock is released; nothing if the browser has no locks
 */
export async function retainAfterAnother(
  name: string,
): Promise<[before: number, after: number] | undefined> {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined) return undefined;
  let release = (): void => undefined;
  await new Promise<void>((resolve) => {
    void locks.request('adk-session-wasm retention', () => {
      resolve();
      return new Promise<void>((released) => (release = released));
    });
  });
  const service = new IndexedDbSessionService({ name, retention: { maxSessions: 1 } });
  for (const id of ['a', 'b', 'c']) await service.createSession(keyOf(id));
  const count = async (): Promise<number> =>
    (await service.listSessions({ appName: APP })).sessions.length;
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
  for (let times = 0; times < 10; times += 1) await pause();
  const before = await count();
  release();
  for (let times = 0; times < 200 && (await count()) > 1; times += 1) await pause();
  const after = await count();
  await service.close();
  return [before, after];
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
