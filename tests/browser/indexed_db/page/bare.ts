// Direct access to IndexedDB, with which the tests read, damage and lock records.

import type { StoreName } from '../../../../js/stores/indexed_db/layout.js';

/** All that a database holds: by store, its keys and records. */
export type Dump = Record<string, { key: IDBValidKey; value: unknown }[]>;

/** Any record: what it holds is the package's affair. */
export type Row = Record<string, unknown>;

export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('a request failed'));
  });
}

export function completion(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('a transaction aborted'));
  });
}

/** Without `upgrade`, a database that is not there is an error and is not made. */
export function openBare(
  name: string,
  version?: number,
  upgrade?: (database: IDBDatabase, transaction: IDBTransaction) => void,
): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    if (upgrade === undefined) request.transaction?.abort();
    else upgrade(request.result, request.transaction!);
  };
  return answer(request);
}

export function isOpen(database: IDBDatabase): boolean {
  try {
    database.transaction([...database.objectStoreNames]);
    return true;
  } catch {
    return false;
  }
}

/** Runs with a new connection, and closes it afterwards. */
export async function withDatabase<T>(
  name: string,
  run: (database: IDBDatabase) => Promise<T>,
): Promise<T> {
  const database = await openBare(name);
  try {
    return await run(database);
  } finally {
    database.close();
  }
}

export function dump(name: string): Promise<Dump> {
  return withDatabase(name, async (database) => {
    const stores = [...database.objectStoreNames];
    const transaction = database.transaction(stores, 'readonly');
    const all: Dump = {};
    for (const store of stores) {
      const keys = answer(transaction.objectStore(store).getAllKeys());
      const values = answer(transaction.objectStore(store).getAll() as IDBRequest<unknown[]>);
      const found = await Promise.all([keys, values]);
      all[store] = found[0].map((key, place) => ({ key, value: found[1][place] }));
    }
    return all;
  });
}

export function rows(name: string, store: StoreName): Promise<Row[]> {
  return withDatabase(name, (database) =>
    answer(
      database.transaction(store, 'readonly').objectStore(store).getAll() as IDBRequest<Row[]>,
    ),
  );
}

/** Writes records as they are, past every rule. */
export function putRows(name: string, store: StoreName, changed: Row[]): Promise<void> {
  return withDatabase(name, (database) => {
    const transaction = database.transaction(store, 'readwrite');
    for (const row of changed) transaction.objectStore(store).put(row);
    return completion(transaction);
  });
}

/** Deletes all records, so that the next service finds the database as new. */
export function clear(name: string): Promise<void> {
  return withDatabase(name, (database) => {
    const stores = [...database.objectStoreNames];
    const transaction = database.transaction(stores, 'readwrite');
    for (const store of stores) transaction.objectStore(store).clear();
    return completion(transaction);
  });
}

/** Keeps a transaction alive with requests until the returned function is called. */
export function keepAlive(transaction: IDBTransaction, store: StoreName): () => Promise<void> {
  let isHeld = true;
  const next = (): void => {
    if (!isHeld) return;
    transaction.objectStore(store).get(IDBKeyRange.only('nothing')).onsuccess = next;
  };
  next();
  const done = completion(transaction);
  return () => {
    isHeld = false;
    return done;
  };
}
