import { invalid, invalidValue } from '../errors/invalid.js';
import type { StateShape } from '../state/state_shape.js';
import type { StorageAdapter } from '../storage/adapter.js';
import { AdapterStore } from '../storage/driver/adapter_store.js';
import type { BuiltInAdapter } from '../storage/built_in_adapter.js';
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
): StoredSessionService<S> {
  requireAdapter(storage);
  const core = new ServiceCore(partsOver(storage), options);
  // Not before the options are accepted: a service that does not exist is never closed.
  USERS.set(storage, (USERS.get(storage) ?? 0) + 1);
  return new StoredSessionService<S>(core);
}

/** Returns the parts of a service over an adapter of this package. */
export function partsOverBuiltIn(adapter: BuiltInAdapter): ServiceParts {
  return {
    ...partsOver(adapter, adapter),
    expires: adapter.kind === 'vertexai',
    removesNull: adapter.kind === 'vertexai',
    closing: (timeoutMs) => adapter.closing?.(timeoutMs),
  };
}

function partsOver(storage: StorageAdapter, builtIn?: BuiltInAdapter): ServiceParts {
  return {
    storage: {
      kind: storage.kind ?? 'custom',
      durable: storage.durable ?? true,
    },
    openStore(onConnectionLost) {
      if (builtIn !== undefined) builtIn.onConnectionLost = onConnectionLost;
      return new AdapterStore(storage, builtIn);
    },
    closeStorage: () => closeLast(storage),
    feed: feedOfAdapter(storage),
  };
}

/** By adapter of a caller's own, the number of services that use it and are not closed. */
const USERS = new WeakMap<StorageAdapter, number>();

/** Closes an adapter when the last service over it closes. An adapter of this package has only one service. */
function closeLast(storage: StorageAdapter): void | Promise<void> {
  const others = (USERS.get(storage) ?? 1) - 1;
  USERS.set(storage, others);
  if (others === 0) return storage.close?.();
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
