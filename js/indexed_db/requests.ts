import { isSessionError, SessionError } from '../errors/errors.js';

/**
 * Wraps IndexedDB requests in promises. Inside a transaction, await only its own requests. A request without
 * a result for `timeout` milliseconds counts as lost.
 */

export function resultOf<T>(request: IDBRequest<T>, timeout: number): Promise<T> {
  return inTime(timeout, (resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? lost('a request failed'));
  });
}

export function completion(transaction: IDBTransaction, timeout: number): Promise<void> {
  return inTime(timeout, (resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? lost('a transaction was aborted'));
  });
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

/** Runs with a connection of its own, which is closed afterwards. Does not create a missing database. */
export async function withDatabase<T>(
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

function inTime<T>(
  timeout: number,
  begin: (resolve: (value: T) => void, reject: (error: DOMException) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(lost('no answer')), timeout);
    const settle = <V>(tell: (value: V) => void) => {
      return (value: V) => {
        clearTimeout(late);
        tell(value);
      };
    };
    begin(settle(resolve), settle(reject));
  });
}
