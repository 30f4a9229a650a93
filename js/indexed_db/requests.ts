/**
 * Wraps IndexedDB requests in promises. Inside a transaction, await only its own requests. A request without
 * an answer for `timeout` milliseconds counts as lost.
 */

export function answer<T>(request: IDBRequest<T>, timeout: number): Promise<T> {
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
