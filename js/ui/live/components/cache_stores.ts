/** The stores of what components show of a cache. Over another service, everything counts as sent. */
import type { CacheStatus, OutboxEntry } from '../../../service/cache/index.js';
import { coreOf } from '../../../core/core_of.js';
import type { GivenService } from '../../../core/call/given_service.js';
import { reportUncaught } from '../../../core/call/diagnostics.js';
import type { LiveStore, UnsentEntry } from '../types.js';
import { keepElements } from '../snapshot/keep_elements.js';
import { type Caching, cachingOf, onPending } from '../snapshot/unsent_events.js';

/** The status over a service without a cache, and until a promised service is there. */
export const ONLINE: CacheStatus = Object.freeze({
  isOnline: true,
  isSignedOut: false,
  isSending: false,
  pending: [],
});

export const NOTHING_UNSENT: readonly UnsentEntry[] = [];

/** A part of a live store that shows something of a cache. */
type ShownStore<Snapshot> = Pick<LiveStore<Snapshot>, 'subscribe' | 'getSnapshot'>;

/**
 * Makes a store.
 *
 * @param follow calls `set` with what a cache has now, and with later values, until the returned function is called
 */
function cacheStore<Snapshot>(
  service: GivenService<object>,
  initial: Snapshot,
  follow: (caching: Caching, set: (snapshot: Snapshot) => void) => () => void,
): ShownStore<Snapshot> {
  let snapshot = initial;
  let stop: AbortController | undefined;
  const listeners = new Set<{ readonly listener: (snapshot: Snapshot) => void }>();
  const start = async (signal: AbortSignal): Promise<void> => {
    const caching = cachingOf(await service);
    if (caching === undefined || signal.aborted) return;
    const end = follow(caching, (next) => {
      if (signal.aborted || next === snapshot) return;
      snapshot = next;
      for (const { listener } of [...listeners]) listener(snapshot);
    });
    signal.addEventListener('abort', end);
  };
  return {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      // The same function may subscribe twice.
      const subscription = { listener };
      listeners.add(subscription);
      if (stop === undefined) {
        stop = new AbortController();
        // A service that cannot be opened, or that is closed, is reported by the stores of sessions.
        start(stop.signal).catch(() => undefined);
      }
      listener(snapshot);
      return () => {
        listeners.delete(subscription);
        if (listeners.size > 0) return;
        stop?.abort();
        stop = undefined;
      };
    },
  };
}

function statusStore(service: GivenService<object>): ShownStore<CacheStatus> {
  return cacheStore(service, ONLINE, (caching, set) => {
    set(caching.status);
    return caching.watchStatus(set);
  });
}

function unsentStore(service: GivenService<object>): ShownStore<readonly UnsentEntry[]> {
  let listed: readonly OutboxEntry[] = [];
  /** By the entry that was listed, which stays the same object until it changes. */
  const entries = new WeakMap<OutboxEntry, UnsentEntry>();
  let shown = NOTHING_UNSENT;
  return cacheStore(service, shown, (caching, set) => {
    const { outbox } = caching;
    const entryOf = (entry: OutboxEntry): UnsentEntry => {
      const eventId = entry.error?.eventId;
      const made = entries.get(entry) ?? {
        ...entry,
        retry: () => outbox.retry(entry),
        discard: () => outbox.drop(entry, eventId),
      };
      entries.set(entry, made);
      return made;
    };
    const read = async (): Promise<void> => {
      const before = listed;
      // Errors are no JSON values: another error makes another entry.
      const idOf = ({ key, id, error }: OutboxEntry) =>
        JSON.stringify([key, id, error?.code, error?.message, error?.eventId]);
      listed = keepElements(before, await outbox.list(), idOf);
      if (listed !== before) shown = listed.map(entryOf);
      set(shown);
    };
    let reading: Promise<void> | undefined;
    let isAsked = false;
    const readAll = async (): Promise<void> => {
      do {
        isAsked = false;
        await read();
      } while (isAsked);
    };
    const ask = (): void => {
      isAsked = true;
      reading ??= readAll()
        .catch(reportUncaught)
        .finally(() => (reading = undefined));
    };
    ask();
    const stopWatching = onPending(caching, ask);
    const stopListening = coreOf(caching)?.epochs?.onForgotten(() => {
      listed = [];
      set((shown = NOTHING_UNSENT));
    });
    return () => {
      stopWatching?.();
      stopListening?.();
    };
  });
}

/** Returns a function that makes one store for each service. */
function oneForEach<Store>(
  make: (service: GivenService<object>) => Store,
): (service: GivenService<object>) => Store {
  const stores = new WeakMap<object, Store>();
  return (service) => {
    const store = stores.get(service) ?? make(service);
    stores.set(service, store);
    return store;
  };
}

/** Returns the store of a service's status. All components share it. */
export const sharedStatus = oneForEach(statusStore);

/** Returns the store of what a service has not sent. All components share it. */
export const sharedUnsent = oneForEach(unsentStore);
