// Damages one member of one record in IndexedDB: a session's, a state's, an event's, a page's or the sequence's.

import {
  answer,
  completion,
  type Row,
  withDatabase,
} from '../../../browser/indexed_db/page/bare.js';
import { healthyKey, NONSENSE } from '../../cases/damage.js';
import type { Random } from '../../cases/random.js';

/** The session that no case damages. */
const HEALTHY = [healthyKey.appName, healthyKey.userId, healthyKey.sessionId];

/** Replaces one member, which may be a part of the record's key. */
export function damageRecord(name: string, random: Random): Promise<void> {
  return withDatabase(name, async (database) => {
    const stores = [...database.objectStoreNames];
    const transaction = database.transaction(stores, 'readwrite');
    const done = completion(transaction);
    // The engine may refuse the damage: the record then stays as it is.
    done.catch(() => undefined);
    const healthy = (await answer(transaction.objectStore('sessions').get(HEALTHY))) as Row;
    const store = transaction.objectStore(random.pick(stores));
    const rows = (await answer(store.getAll())) as Row[];
    const row = random.pick(rows.filter((row) => !belongsTo(healthy, row)));
    const key = keyIn(row, store.keyPath);
    row[random.pick(Object.keys(row))] = random.pick(NONSENSE);
    store.delete(key);
    try {
      store.put(row);
    } catch {
      transaction.abort();
    }
    await done.catch(() => undefined);
  });
}

/** Empties a database, so that the next case finds it as new. */
export function clear(name: string): Promise<void> {
  return withDatabase(name, (database) => {
    const stores = [...database.objectStoreNames];
    const transaction = database.transaction(stores, 'readwrite');
    for (const store of stores) transaction.objectStore(store).clear();
    return completion(transaction);
  });
}

/** Whether a record is a session's own, its user's, its app's or one of its events. */
function belongsTo(session: Row, { appName, key, number }: Row): boolean {
  const app = appName ?? (Array.isArray(key) ? (key as unknown[])[0] : undefined);
  return number === session.number || app === session.appName;
}

function keyIn(row: Row, path: string | string[] | null): IDBValidKey {
  if (typeof path === 'string') return row[path] as IDBValidKey;
  return (path ?? []).map((member) => row[member]) as IDBValidKey;
}
