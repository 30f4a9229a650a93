/**
 * The stores that the components of a page share.
 *
 * A store stays while it is used: it has subscribers, it reads, or it holds something that a new store would lack. A
 * component subscribes some time after its render, so an unused store also stays for a while. After that it is found
 * only while the program still refers to it, for example to send the rest of an answer.
 */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { LiveSessionOptions } from '../types/live_session.js';
import type { LiveSessions, LiveSessionsRequest } from '../types/live_sessions.js';
import type { ReadingStore } from '../reading_store.js';
import { LiveSessionStore } from '../live_session.js';
import { LiveSessionsStore } from '../live_sessions.js';
import { sessionName } from '../../../values/model/values/session_name.js';

/**
 * Milliseconds for which a store with a snapshot stays after its last use. A suspended React boundary renders all of its
 * components again after each load, and they subscribe only when the last store is loaded. A load may take a minute.
 */
const UNUSED_MS = 120_000;

/**
 * Milliseconds for which an unused store without a snapshot stays. A server renders such stores and never subscribes.
 */
const UNREAD_MS = 10_000;

/** A store of any session or list. */
type AnyStore = Pick<ReadingStore<never, object>, 'isUsed' | 'isRead' | 'isActive' | 'isForgotten'>;

/** The stores of one service, by name. */
class SharedStores {
  readonly #kept = new Map<string, { readonly store: AnyStore; readonly lastUse: number }>();
  readonly #released = new Map<string, WeakRef<AnyStore>>();
  #nextSweep = 0;

  /** @param name names one kind of store only */
  get<Store extends AnyStore>(name: string, make: () => Store): Store {
    const now = performance.now();
    if (now >= this.#nextSweep) this.#sweep(now);
    const known = this.#kept.get(name)?.store ?? this.#released.get(name)?.deref();
    // A forgotten store stays empty. If nobody subscribes to it any more, the caller gets a new one.
    const isGone = known !== undefined && known.isForgotten && !known.isActive;
    const store = known === undefined || isGone ? make() : known;
    this.#released.delete(name);
    this.#kept.set(name, { store, lastUse: now });
    return store as Store;
  }

  #sweep(now: number): void {
    this.#nextSweep = now + UNREAD_MS;
    for (const [name, { store, lastUse }] of this.#kept) {
      if (store.isUsed) this.#kept.set(name, { store, lastUse: now });
      else if (now - lastUse >= (store.isRead ? UNUSED_MS : UNREAD_MS)) this.#release(name, store);
    }
    for (const [name, store] of this.#released) {
      if (store.deref() === undefined) this.#released.delete(name);
    }
  }

  #release(name: string, store: AnyStore): void {
    this.#kept.delete(name);
    // Some runtimes of servers have no `WeakRef`.
    if (typeof WeakRef === 'function') this.#released.set(name, new WeakRef(store));
  }
}

const storesOfServices = new WeakMap<object, SharedStores>();

function shared<Store extends AnyStore>(service: object, name: string, make: () => Store): Store {
  const known = storesOfServices.get(service);
  if (known !== undefined) return known.get(name, make);
  const stores = new SharedStores();
  // Throws if there is no service, before anything is remembered.
  const store = stores.get(name, make);
  storesOfServices.set(service, stores);
  return store;
}

/** Returns the store of a session that all components share. */
export function sharedSession<S extends object>(
  service: SessionService<S> | Promise<SessionService<S>>,
  key: CompositeSessionKey,
  options: Pick<LiveSessionOptions, 'window' | 'view' | 'turns'> = {},
): LiveSessionStore<S> {
  const name = JSON.stringify([sessionName(key), options.window, options.view, options.turns]);
  return shared(service, name, () => new LiveSessionStore(service, key, options));
}

/** Returns the store of a list that all components share. */
export function sharedSessions<S extends object>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSessionsRequest<keyof S & string>,
): LiveSessions<S> {
  const members = Object.entries(request).sort(([one], [other]) => (one < other ? -1 : 1));
  return shared(service, JSON.stringify(members), () => new LiveSessionsStore(service, request));
}
