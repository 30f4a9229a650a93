import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { keyText } from '../../../values/model/values/ids.js';
import { type LiveSearch, type LiveSearchRequest, LiveSearchStore } from '../live_search.js';
import { LiveSessionStore } from '../live_session.js';
import { LiveSessionsStore } from '../live_sessions.js';
import type { ReadingStore } from '../reading_store.js';
import { NO_RUNS } from '../store_runs.js';
import type {
  LiveSessionSnapshot,
  LiveSessionsSnapshot,
  LiveSessionOptions,
  LiveSessions,
  LiveSessionsRequest,
  LiveSession,
  AnyMembers,
  ProvidedSessions,
} from '../types.js';

/** The snapshot of a session before anything has been read, and on a server. */
export const LOADING: LiveSessionSnapshot = {
  status: 'loading',
  error: undefined,
  events: [],
  pages: [],
  summarised: new Set(),
  hasOlder: false,
  isLoadingOlder: false,
  ...NO_RUNS,
  // Inherits nothing: the id of an event may be `toString`.
  unsent: Object.create(null) as LiveSessionSnapshot['unsent'],
  refused: [],
  turns: Object.create(null) as LiveSessionSnapshot['turns'],
  state: {},
  scopes: { session: {}, user: {}, app: {} },
  lastUpdateTime: 0,
};

/** The snapshot of a list before anything has been read, and on a server. */
export const LOADING_LIST: LiveSessionsSnapshot = {
  status: 'loading',
  error: undefined,
  sessions: [],
  hasMore: false,
};

// The stores that the components of a page share.
//
// A store stays while it is used: it has subscribers, it reads, or it holds something that a new store would lack. A
// component subscribes some time after its render, so an unused store also stays for a while. After that it is found
// only while the program still refers to it, for example to send the rest of an answer.

/**
 * Milliseconds for which a store with a snapshot stays after its last use. A suspended React boundary renders all of
 * its components again after each load, and they subscribe only when the last store is loaded. A load may take a
 * minute.
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
  const name = JSON.stringify([keyText(key), options.window, options.view, options.turns]);
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

/** By store: the last initial state of a component. It counts also for the components that have none. */
const ownStates = new WeakMap<object, object>();

/**
 * Returns the store of a session that all components share.
 *
 * @param options the session; the provider has the members that are absent
 * @param places where a session id can be given, for the error
 * @throws SessionError `invalid_argument` without a session id
 */
export function providedSession<S extends object>(
  provided: ProvidedSessions<S>,
  options: AnyMembers<CompositeSessionKey> & Pick<ProvidedSessions<S>, 'initialState'>,
  places: string,
): LiveSession<S> {
  const key = providedKey(provided, options, places);
  const { service, window, view, turns } = provided;
  const store = sharedSession(service, key, { window, view, turns });
  if (options.initialState !== undefined) ownStates.set(store, options.initialState);
  store.agent = provided.run;
  store.initialState = ownStates.get(store) ?? provided.initialState;
  return store;
}

/** Returns the key of the session that a component shows. @throws SessionError `invalid_argument` without a session id */
export function providedKey<S extends object>(
  provided: ProvidedSessions<S>,
  options: AnyMembers<CompositeSessionKey>,
  places: string,
): CompositeSessionKey {
  const { appName, userId, sessionId } = withDefaults<ProvidedSessions<S>>(provided, options);
  if (sessionId !== undefined) return { appName, userId, sessionId };
  const message = `sessionId is missing; give it to ${places}.`;
  throw new SessionError('invalid_argument', message, { key: 'sessionId' });
}

/** Returns the store of a list that all components share. The provided app and user are its own by default. */
export function providedSessions<S extends object>(
  { service, appName, userId }: ProvidedSessions<S>,
  request: AnyMembers<LiveSessionsRequest<keyof S & string>>,
): LiveSessions<S> {
  const names: LiveSessionsRequest<keyof S & string> = { appName, userId };
  return sharedSessions(service, withDefaults(names, request));
}

/** Returns the store of a search that all components share. The provided app and user are its own by default. */
export function providedSearch<S extends object>(
  { service, appName, userId }: ProvidedSessions<S>,
  request: AnyMembers<LiveSearchRequest> & Pick<LiveSearchRequest, 'query'>,
): LiveSearch {
  const names: LiveSearchRequest = { appName, userId, query: '' };
  const whole = withDefaults(names, request);
  const members = Object.entries(whole).sort(([one], [other]) => (one < other ? -1 : 1));
  const name = JSON.stringify(['search', members]);
  return shared(service, name, () => new LiveSearchStore(service, whole));
}

/** A member that is `undefined` counts as absent: a list of an unknown user would otherwise be that of all users. */
function withDefaults<Names extends object>(defaults: Names, given: AnyMembers<Names>): Names {
  const own = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(own) };
}
