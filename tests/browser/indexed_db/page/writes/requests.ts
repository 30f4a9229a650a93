// How many requests writes send to IndexedDB.

import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { around } from '../around.js';
import { keyOf, mark } from '../events.js';

/** Requests by the method that sent them, like `IDBIndex.getKey`. */
export type Counts = Record<string, number>;

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
export async function countReads(
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
