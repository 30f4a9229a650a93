/**
 * The words of the sessions of a database, in a database of its own beside it. It is there once somebody has searched.
 * Each operation opens and closes it, so that no page keeps another from deleting it.
 */
import { SessionError } from '../../values/errors/errors.js';
import { messageOf } from '../../values/errors/describe.js';

/** The object stores: a record a session by its key, and the keys of the sessions that were added to a memory. */
export const WORD_STORES = ['words', 'marks'] as const;

/** The key of a session, or the beginning of keys. */
export type WordKey = readonly [appName: string, userId: string, sessionId?: string | undefined];

function nameOf(name: string): string {
  return `${name} words`;
}

/** Returns the keys that begin so. An array is greater than any text. */
export function keysOf(key: WordKey): IDBKeyRange {
  const parts = key.filter((part) => part !== undefined);
  return IDBKeyRange.bound(parts, [...parts, []]);
}

/**
 * Runs requests in one transaction.
 *
 * @param creates whether the database is created if there is none. Otherwise nothing is done
 * @returns the result of the last request
 * @throws SessionError `storage_failed`
 */
export function withWords<T>(
  name: string,
  creates: boolean,
  work: (transaction: IDBTransaction) => IDBRequest<T> | undefined,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      const message = `The words of the searches failed: ${messageOf(error)}`;
      reject(new SessionError('storage_failed', message, { cause: error }));
    };
    const opening = indexedDB.open(nameOf(name), 1);
    let isAbsent = false;
    opening.onupgradeneeded = () => {
      isAbsent = !creates;
      if (isAbsent) opening.transaction?.abort();
      else for (const store of WORD_STORES) opening.result.createObjectStore(store);
    };
    opening.onerror = () => (isAbsent ? resolve(undefined) : fail(opening.error));
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(WORD_STORES, 'readwrite');
      const request = work(transaction);
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => fail(transaction.error);
      database.close();
    };
  });
}

/** Erases the words of a session, or of all sessions of a user. */
export function eraseWords(name: string, key: WordKey): Promise<undefined> {
  return withWords(name, false, (transaction) => {
    for (const store of WORD_STORES) transaction.objectStore(store).delete(keysOf(key));
    return undefined;
  });
}

/** Deletes the database of the words. */
export function deleteWords(name: string): Promise<void> {
  return new Promise((resolve) => {
    const deletion = indexedDB.deleteDatabase(nameOf(name));
    // The deletion of the sessions follows. It tells why a browser refuses both.
    deletion.onsuccess = deletion.onerror = () => resolve();
  });
}
