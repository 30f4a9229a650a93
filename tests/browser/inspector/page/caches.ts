// A cache in the inspector's page, and its database.

import type { SessionService } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

import { KEY } from './conversation.js';

export async function openCache(
  url: string,
  local: 'memory' | 'indexeddb',
): Promise<SessionService> {
  const remote = new RemoteSessionService({ url, headers: { 'x-user': 'ada' }, retries: 0 });
  const cache = new CachedSessionService({ remote, local, owner: 'ada' });
  await cache.getOrCreateSession(KEY);
  return cache;
}

/** Deletes the cache's database, once the owner is known outside of it. */
export async function loseDatabase(): Promise<void> {
  while (!(await caches.has('adk-session-wasm:cache:ada'))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const deletion = indexedDB.deleteDatabase('adk-session-wasm cache');
  await new Promise((resolve) => (deletion.onsuccess = resolve));
}

/** Returns the number of records of the cache's database. */
export async function records(): Promise<number> {
  const opening = indexedDB.open('adk-session-wasm cache');
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error ?? new Error('it cannot be opened'));
  });
  const names = [...database.objectStoreNames];
  const transaction = database.transaction(names);
  const counts = names.map((name) => {
    const counting = transaction.objectStore(name).count();
    return new Promise<number>((resolve) => (counting.onsuccess = () => resolve(counting.result)));
  });
  const all = await Promise.all(counts);
  database.close();
  return all.reduce((sum, count) => sum + count, 0);
}
