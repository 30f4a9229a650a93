import type { StorageCall } from '../model/diagnostic.js';
import { after, type MaybePromise } from '../call/call.js';
import type { StorageKey } from './rows.js';
import { type Floor, NOT_DELETED, type SessionStore } from './session_store.js';

/** How often a session is read again that has changed before it was deleted. */
const MAX_ATTEMPTS = 100;

/**
 * Deletes a session if it is the one that was created at a revision: reads it, and deletes it if it has not changed.
 *
 * @returns the floor, or {@link NOT_DELETED}
 */
export function deleteCreated(
  store: Pick<SessionStore, 'get' | 'deleteUnchanged'>,
  key: Required<StorageKey>,
  created: number,
  call: StorageCall,
  attempts = MAX_ATTEMPTS,
): MaybePromise<Floor> {
  return after(store.get(key, 0, undefined, call), (session) => {
    if (session?.[0] !== created || attempts === 0) return NOT_DELETED;
    const [, revision, , , , , labels] = session;
    const { signal, onRetry } = call;
    const deleted = store.deleteUnchanged({ key, revision, labels, signal, onRetry });
    return after(deleted, (deleted) =>
      deleted === undefined
        ? deleteCreated(store, key, created, call, attempts - 1)
        : deleted.floor,
    );
  });
}
