import { after, type MaybePromise } from '../call/call.js';
import { SessionError } from '../errors/errors.js';
import type { SessionStore, TruncatingRequest, TruncatingStore } from '../storage/session_store.js';
import type { Appended } from '../wasm/protocol.js';
import type { ServiceCore } from './service_core.js';

/**
 * Appends to a session after it has removed the end of its history, for the cache. Watchers of the service get a
 * notice as of any append.
 *
 * @throws SessionError `unsupported` if the storage cannot do that; `stale_session` if the session has another revision
 *   than the request expects
 */
export function replaceEnd(core: ServiceCore, request: TruncatingRequest): MaybePromise<Appended> {
  const { key, events, signal } = request;
  const append = (store: SessionStore) => requireTruncating(store).append(request);
  return after(core.callStore(signal, append), (appended) => {
    // The removal counts as a change too: it is never a mere retry of stored events.
    core.feed.publishAppended(key, appended, events.length + 1);
    return appended;
  });
}

/**
 * Returns the store as one that can remove the end of a history.
 *
 * @throws SessionError `unsupported` if it cannot
 */
export function requireTruncating(store: SessionStore): TruncatingStore {
  if (store.truncates === true) return store as TruncatingStore;
  throw new SessionError(
    'unsupported',
    'The storage cannot replace the end of a history; memory, IndexedDB and SQL databases can.',
  );
}
