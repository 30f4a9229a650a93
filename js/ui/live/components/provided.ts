import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { keyText } from '../../../values/model/values/ids.js';
import {
  type LiveSearch,
  type LiveSearchRequest,
  type LiveSearchSnapshot,
  LiveSearchStore,
  LOADING_SEARCH,
} from '../live_search.js';
import { LiveSessionStore } from '../live_session.js';
import { LiveSessionsStore } from '../live_sessions.js';
import type { ReadingStore } from '../reading_store.js';
import {
  LOADING_ARTIFACT,
  showArtifact,
  type ShownArtifact,
  type ShownFileRequest,
} from '../show_artifact.js';
import { NO_RUNS } from '../store_runs.js';
import type {
  LiveSessionSnapshot,
  LiveSessionsSnapshot,
  LiveSessionOptions,
  LiveSessions,
  LiveSessionsRequest,
  LiveSession,
  LiveStore,
  AnyMembers,
  ProvidedSessions,
} from '../types.js';
import { UnnamedStore } from './unnamed.js';

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

/**
 * Returns the snapshot of a server and of hydration. An {@link UnnamedStore} never loads.
 *
 * @param loading the snapshot before anything has been read
 */
export function firstSnapshot<Snapshot>(
  store: Pick<LiveStore<Snapshot>, 'getSnapshot'>,
  loading: Snapshot,
): Snapshot {
  return store instanceof UnnamedStore ? (store.getSnapshot() as Snapshot) : loading;
}

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

const USER_NAMES = ['appName', 'userId'] as const;
const SESSION_NAMES = [...USER_NAMES, 'sessionId'] as const;

/**
 * Returns the store of a session that all components share. The session is missing while one of its names is not known.
 *
 * @param options the session; the provider has the members that are absent
 */
export function providedSession<S extends object>(
  provided: ProvidedSessions<S>,
  options: AnyMembers<CompositeSessionKey> & Pick<ProvidedSessions<S>, 'initialState'>,
): LiveSession<S> {
  const { service, window, view, turns } = provided;
  const key = providedKey(provided, options);
  const missing = missingName(key, SESSION_NAMES);
  if (missing !== undefined) {
    const snapshot = { ...LOADING, status: 'missing' } as unknown as LiveSessionSnapshot<S>;
    return unnamed('session', missing, snapshot);
  }
  const store = sharedSession(service, key as CompositeSessionKey, { window, view, turns });
  if (options.initialState !== undefined) ownStates.set(store, options.initialState);
  store.agent = provided.run;
  store.initialState = ownStates.get(store) ?? provided.initialState;
  return store;
}

/** Returns the names of the session that a component shows, as far as they are known. */
export function providedKey<S extends object>(
  { appName, userId, sessionId }: ProvidedSessions<S>,
  options: AnyMembers<CompositeSessionKey>,
): AnyMembers<CompositeSessionKey> {
  return withDefaults({ appName, userId, sessionId }, options);
}

/** Shows a file, as `showArtifact`. The file is loading while a name of its session is not known. */
export function showProvided<S extends object>(
  service: ProvidedSessions<S>['service'],
  request: AnyMembers<CompositeSessionKey> & Omit<ShownFileRequest, keyof CompositeSessionKey>,
  show: (artifact: ShownArtifact) => void,
): () => void {
  if (missingName(request, SESSION_NAMES) === undefined) {
    return showArtifact(service, request as ShownFileRequest, show);
  }
  show(LOADING_ARTIFACT);
  return () => undefined;
}

/** Returns the store of a list that all components share. The provided app and user are its own by default. */
export function providedSessions<S extends object>(
  { service, appName, userId }: ProvidedSessions<S>,
  request: AnyMembers<LiveSessionsRequest<keyof S & string>>,
): LiveSessions<S> {
  const whole = withDefaults<typeof request>({ appName, userId }, request);
  const missing = missingName(whole, USER_NAMES);
  if (missing !== undefined) {
    const snapshot = { ...LOADING_LIST, status: 'ready' } as unknown as LiveSessionsSnapshot<S>;
    return unnamed('list', missing, snapshot);
  }
  return sharedSessions(service, whole as LiveSessionsRequest<keyof S & string>);
}

/** Returns the store of a search that all components share. The provided app and user are its own by default. */
export function providedSearch<S extends object>(
  { service, appName, userId }: ProvidedSessions<S>,
  request: AnyMembers<LiveSearchRequest> & Pick<LiveSearchRequest, 'query'>,
): LiveSearch {
  const whole = withDefaults<typeof request>({ appName, userId, query: '' }, request);
  const missing = missingName(whole, USER_NAMES);
  if (missing !== undefined) {
    const snapshot: LiveSearchSnapshot = { ...LOADING_SEARCH, status: 'ready', isComplete: true };
    return unnamed('search', missing, snapshot);
  }
  const members = Object.entries(whole).sort(([one], [other]) => (one < other ? -1 : 1));
  const name = JSON.stringify(['search', members]);
  return shared(service, name, () => new LiveSearchStore(service, whole as LiveSearchRequest));
}

/** A member that is `undefined` counts as absent: a list of an unknown user would otherwise be that of all users. */
function withDefaults<Names extends object>(defaults: Names, given: AnyMembers<Names>): Names {
  const own = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(own) };
}

/** Returns the first name that is not known. */
function missingName<Name extends string>(
  given: Partial<Readonly<Record<Name, string | undefined>>>,
  names: readonly Name[],
): Name | undefined {
  return names.find((name) => given[name] === undefined);
}

/** The stores of components with an unknown name. They belong to no service. */
const unnamedStores = new Map<string, unknown>();

/** Returns the store that all components share while a name is missing. The first snapshot stays. */
function unnamed<Snapshot>(
  kind: 'session' | 'list' | 'search',
  missing: string,
  snapshot: Snapshot,
): UnnamedStore<Snapshot> {
  const name = `${kind} ${missing}`;
  const known = unnamedStores.get(name) as UnnamedStore<Snapshot> | undefined;
  const store = known ?? new UnnamedStore(missing, snapshot);
  unnamedStores.set(name, store);
  return store;
}
