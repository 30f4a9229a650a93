/**
 * The words of the sessions of a database, in a database of its own beside it. It is there once somebody has searched.
 * Each operation opens and closes it, so that no page keeps another from deleting it.
 */
import { SessionError } from '../../values/errors/errors.js';
import { messageOf } from '../../values/errors/describe.js';
import { withTransactions } from './worker_freeze.js';

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
export async function withWords<T>(
  name: string,
  creates: boolean,
  work: WordRequests<T>,
): Promise<T | undefined> {
  const database = nameOf(name);
  return withTransactions(database, () => requestWords(database, creates, work)).catch(fail);
}

/** Makes the requests of a transaction, and returns the last one. */
type WordRequests<T> = (transaction: IDBTransaction) => IDBRequest<T> | undefined;

function requestWords<T>(
  name: string,
  creates: boolean,
  work: WordRequests<T>,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, 1);
    let isAbsent = false;
    opening.onupgradeneeded = () => {
      isAbsent = !creates;
      if (isAbsent) opening.transaction?.abort();
      else for (const store of WORD_STORES) opening.result.createObjectStore(store);
    };
    opening.onerror = () => (isAbsent ? resolve(undefined) : reject(opening.error!));
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(WORD_STORES, 'readwrite');
      const request = work(transaction);
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(transaction.error!);
      database.close();
    };
  });
}

function fail(error: unknown): never {
  const message = `The words of the searches failed: ${messageOf(error)}`;
  throw new SessionError('storage_failed', message, { cause: error });
}

/** Erases the words of a session, or of all sessions of a user. */
export function eraseWords(name: string, key: WordKey): Promise<undefined> {
  return withWords(name, false, (transaction) => {
    for (const store of WORD_STORES) transaction.objectStore(store).delete(keysOf(key));
    return undefined;
  });
}

/**
 * Deletes the database of the words. If another page has it open just now, it is deleted once that page has closed it.
 *
 * @throws SessionError `storage_failed`
 */
export async function deleteWords(name: string): Promise<void> {
  const deleted = new Promise<void>((resolve, reject) => {
    const deletion = indexedDB.deleteDatabase(nameOf(name));
    deletion.onsuccess = deletion.onblocked = () => resolve();
    deletion.onerror = () => reject(deletion.error!);
  });
  return deleted.catch(fail);
}
