import { invalid, invalidValue } from '../values/errors/invalid.js';
import type { StateShape } from '../values/state/state_shape.js';
import { checkedStorage } from '../core/storage/driver/checked_storage.js';
import { RowStore } from '../core/storage/driver/row_store.js';
import type { OwnStorage, ReportFailure, StorageFacts } from '../core/storage/store.js';
import type { Storage } from '../core/storage/storage.js';
import { Feed } from '../core/watch/feed.js';
import { ProcessFeed, takeOwnChannel } from '../core/watch/process_feed.js';
import { feedOfStorage } from '../core/watch/shared_feeds.js';
import type { OwnChannel } from '../core/watch/open_channel.js';
import { ServiceCore } from './service_core.js';
import type { ServiceParts, SessionServiceOptions } from './service_options.js';
import { StoredSessionService } from './stored_session_service.js';

/** The options of a service over a storage of the user's own, in addition to those of every service. */
export interface OwnStorageOptions {
  /**
   * Connects the processes that share the storage. Each then tells the others what it changes, at once. The first service
   * over a storage object decides. Default: none.
   */
  channel?: OwnChannel | undefined;
}

const VERBS = ['create', 'append', 'read', 'list', 'delete'] as const;

/**
 * Makes a service over a caller's storage. Fails with `invalid_argument` if the storage lacks a
 * verb.
 */
export function overStorage<S extends object = StateShape>(
  storage: Storage,
  { channel: given, ...options }: SessionServiceOptions<S> & OwnStorageOptions,
): StoredSessionService<S> {
  requireStorage(storage);
  const channel = given === undefined ? undefined : takeOwnChannel(given);
  const parts = partsOver(storage, checkedStorage(storage));
  const closing = storage.closing && parts.closing;
  const closeStorage = () => closeLast(storage);
  const feed = (report: ReportFailure | undefined): Feed =>
    feedOfStorage(storage, () => {
      if (channel === undefined) return new Feed();
      const { secret, ...taken } = channel;
      return new ProcessFeed({ ...taken, readSecret: () => Promise.resolve(secret), report });
    });
  const hasOtherProcesses = channel !== undefined;
  const own = { ...parts, closing, closeStorage, feed, hasOtherProcesses };
  const core = new ServiceCore(own, options);
  // Not before the options are accepted: a service that does not exist is never closed.
  USERS.set(storage, (USERS.get(storage) ?? 0) + 1);
  return new StoredSessionService<S>(core);
}

/** By storage of a caller's own, the number of services that use it and are not closed. */
const USERS = new WeakMap<Storage, number>();

/** Closes a storage when the last service over it closes. */
function closeLast(storage: Storage): void | Promise<void> {
  const others = (USERS.get(storage) ?? 1) - 1;
  USERS.set(storage, others);
  if (others === 0) return storage.close?.();
}

/**
 * Returns the parts of a service over a storage that no other service uses.
 *
 * @param storage or a function that loads it at the first call
 */
export function partsOver(
  facts: StorageFacts,
  storage: OwnStorage | (() => Promise<OwnStorage>),
  Store = RowStore,
) {
  const { kind = 'custom', durable = true, traits } = facts;
  let report: ReportFailure | undefined;
  const store = new Store(storage, traits, (kind, error) => report?.(kind, error));
  return {
    storage: { kind, durable },
    traits,
    openStore(context) {
      report = context.report;
      return store;
    },
    closing: (timeoutMs) => store.closing(timeoutMs),
    closeStorage: () => store.closeStorage(),
  } satisfies ServiceParts;
}

function requireStorage(storage: unknown): asserts storage is Storage {
  if (typeof storage !== 'object' || storage === null) {
    const names = "'memory', 'indexeddb', 'auto' or a storage of your own";
    throw invalidValue('storage', `must be ${names}`, storage);
  }
  const missing = VERBS.filter((verb) => typeof (storage as Storage)[verb] !== 'function');
  if (missing.length === 0) return;
  const verbs = VERBS.join(', ');
  throw invalid('storage', `lacks ${missing.join(', ')}: it must have the five verbs ${verbs}`);
}
