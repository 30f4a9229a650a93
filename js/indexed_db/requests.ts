import { isSessionError, SessionError } from '../errors/errors.js';
import { followPageHide, whileShown } from './page_hide.js';

/**
 * Wraps IndexedDB requests in promises. Inside a transaction, await only its own requests. A request without
 * a result for `timeout` milliseconds counts as lost.
 */

export function resultOf<T>(request: IDBRequest<T>, timeout: number): Promise<T> {
  return inTime(
    timeout,
    () => request.transaction,
    (resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? lost('a request failed'));
    },
  );
}

export function completion(transaction: IDBTransaction, timeout: number): Promise<void> {
  return inTime(
    timeout,
    () => transaction,
    (resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? lost('a transaction was aborted'));
    },
  );
}

/** Resolves with the connection that a request opens. */
export async function connectionOf(
  request: IDBOpenDBRequest,
  timeout: number,
): Promise<IDBDatabase> {
  try {
    return await resultOf(request, timeout);
  } catch (error) {
    // The connection may still open later. Nobody would close it, and it would block a deletion.
    request.onsuccess = () => request.result.close();
    throw error;
  }
}

/**
 * Runs with a connection of its own, which is closed afterwards. Does not create a missing database. Runs again if the
 * page was in the browser's back/forward cache meanwhile.
 */
export function withDatabase<T>(
  name: string,
  timeout: number,
  run: (database: IDBDatabase) => Promise<T>,
): Promise<T> {
  return whileShown(() => runWithDatabase(name, timeout, run));
}

async function runWithDatabase<T>(
  name: string,
  timeout: number,
  run: (database: IDBDatabase) => Promise<T>,
): Promise<T> {
  const request = indexedDB.open(name);
  // It was deleted meanwhile.
  request.onupgradeneeded = () => request.transaction?.abort();
  const database = await connectionOf(request, timeout);
  database.onversionchange = () => database.close();
  try {
    return await run(database);
  } finally {
    database.close();
  }
}

/**
 * Makes the error for a failed opening. It is never `storage_unavailable`, which would make `'auto'` use memory
 * although the database exists.
 */
export function openingFailure(what: string, cause: unknown): unknown {
  if (isSessionError(cause)) return cause;
  const { name, message } = cause as Error;
  const code = name === 'QuotaExceededError' ? 'quota_exceeded' : 'connection_lost';
  return new SessionError(code, `${what} cannot be opened: ${name}: ${message}`, { cause });
}

/** Makes an error that the package treats as a lost connection, so that a retry is safe. */
export function lost(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}

/** Rejects after `timeout` milliseconds, or when the page is hidden. Only the second case aborts the transaction. */
function inTime<T>(
  timeout: number,
  transactionOf: () => IDBTransaction | null,
  begin: (resolve: (value: T) => void, reject: (error: DOMException) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = <V>(tell: (value: V) => void) => {
      return (value: V) => {
        clearTimeout(late);
        forget();
        tell(value);
      };
    };
    const fail = settle(reject);
    const late = setTimeout(() => fail(lost('no answer')), timeout);
    const forget = followPageHide((isHidden) => {
      if (!isHidden) return;
      fail(lost('the page was left'));
      try {
        transactionOf()?.abort();
      } catch {
        // It has been committed.
      }
    });
    begin(settle(resolve), fail);
  });
}
