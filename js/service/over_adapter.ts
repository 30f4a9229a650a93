import { invalid, invalidValue } from '../errors/invalid.js';
import { memberOf } from '../members/own.js';
import type { StateShape } from '../state/state_shape.js';
import type { StorageAdapter } from '../storage/adapter.js';
import type { AdapterStore } from '../storage/driver/adapter_store.js';
import { feedOfAdapter } from '../watch/shared_feeds.js';
import { ServiceCore } from './service_core.js';
import type { ServiceParts, SessionServiceOptions } from './service_options.js';
import { StoredSessionService } from './stored_session_service.js';

const VERBS = ['create', 'append', 'read', 'list', 'delete'] as const;

/**
 * Makes a service over a caller's adapter. Fails with `invalid_argument` if the adapter lacks a
 * verb.
 */
export function overAdapter<S extends object = StateShape>(
  storage: StorageAdapter,
  options: SessionServiceOptions<S>,
  Store: typeof AdapterStore,
): StoredSessionService<S> {
  requireAdapter(storage);
  const parts = partsOver(storage, () => new Store(storage));
  return new StoredSessionService<S>(new ServiceCore(parts, options));
}

/** Returns the parts of a service over an adapter. */
export function partsOver(
  storage: StorageAdapter,
  openStore: NonNullable<ServiceParts['openStore']>,
): ServiceParts {
  return {
    storage: {
      kind: memberOf(storage, 'kind') ?? 'custom',
      durable: memberOf(storage, 'durable') ?? true,
    },
    openStore,
    closeStorage: closeOnce(storage),
    feed: feedOfAdapter(storage),
  };
}

/** The number of services that use an adapter and are not closed. */
const USERS = new WeakMap<StorageAdapter, number>();

/** Returns a function that closes the adapter when the last service over it closes. */
function closeOnce(storage: StorageAdapter): () => void | Promise<void> {
  USERS.set(storage, (USERS.get(storage) ?? 0) + 1);
  return () => {
    const others = (USERS.get(storage) ?? 1) - 1;
    USERS.set(storage, others);
    if (others === 0) return memberOf(storage, 'close')?.call(storage);
  };
}

function requireAdapter(storage: unknown): asserts storage is StorageAdapter {
  if (typeof storage !== 'object' || storage === null) {
    const names = "'memory', 'indexeddb', 'auto' or an adapter of your own";
    throw invalidValue('storage', `must be ${names}`, storage);
  }
  const missing = VERBS.filter((verb) => typeof (storage as StorageAdapter)[verb] !== 'function');
  if (missing.length === 0) return;
  const verbs = VERBS.join(', ');
  throw invalid(
    'storage',
    `is an adapter that lacks ${missing.join(', ')}: it must have the five verbs ${verbs}`,
  );
}
