import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import type { CacheStatus } from '../../service/cache/index.js';
import { SessionError } from '../../values/errors/errors.js';
import type {
  LiveSearch,
  LiveSearchRequest,
  LiveSearchSnapshot,
  LiveSession,
  LiveSessions,
  LiveSessionsRequest,
  LiveSessionSnapshot,
  LiveSessionsSnapshot,
  LiveStore,
  ProvidedSessions,
  ShownArtifact,
  UnsentEntry,
} from '../live/index.js';
import {
  NOTHING_UNSENT,
  ONLINE,
  sharedStatus,
  sharedUnsent,
} from '../live/components/cache_stores.js';
import {
  LOADING,
  LOADING_LIST,
  firstSnapshot,
  providedKey,
  providedSearch,
  providedSession,
  providedSessions,
  showProvided,
} from '../live/components/provided.js';
import { LOADING_SEARCH } from '../live/live_search.js';
import { LOADING_ARTIFACT, type ShownFile } from '../live/show_artifact.js';
import type { AnyMembers } from '../live/types.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';

/** What the hooks below a {@link SessionProvider} use. A member that a hook is given wins. */
export interface SessionProviderProps<S extends object = StateShape> extends ProvidedSessions<S> {
  /** The components that use the hooks. */
  readonly children?: ReactNode;
}

/** Which session a hook shows. The provider gives what is absent. */
export interface UseSessionOptions<
  S extends object = StateShape,
> extends AnyMembers<CompositeSessionKey> {
  /**
   * The state of the session, if its first message creates it. All components of a session share the last one that was
   * given. Default: what is provided.
   */
  readonly initialState?: Partial<S> | undefined;
  /**
   * Suspends until the session has been read, and throws the error of the first read. On the server, the fallback of
   * the nearest `Suspense` is rendered. Default `false`: the status is `loading`, on the server too.
   */
  readonly suspense?: boolean | undefined;
}

/** The request of {@link useSessions}. The provider gives the app and the user, unless the request does. */
export type UseSessionsRequest<K extends string = string> = AnyMembers<LiveSessionsRequest<K>>;

/**
 * Stores a value of the state: a value, or a function that computes it from the stored one, so that nothing is lost
 * between tabs. `undefined` removes the key. Rejects as `updateState` of the service.
 */
export type SetSessionState<Value> = (
  value: Value | undefined | ((stored: Value | undefined) => Value | undefined),
) => Promise<void>;

/** What {@link useSession} returns. */
export interface UseSessionResult<S extends object = StateShape> {
  /** The session as it is now. */
  readonly session: LiveSessionSnapshot<S>;
  /** The store of the session: sends messages, and loads older events. */
  readonly store: LiveSession<S>;
}

/** What {@link useSessions} returns. */
export interface UseSessionsResult<S extends object = StateShape> {
  /** The list as it is now. */
  readonly list: LiveSessionsSnapshot<S>;
  /** The store of the list: creates and deletes sessions, and loads more. */
  readonly store: LiveSessions<S>;
}

/** The request of {@link useSearch}. The provider gives the app and the user, unless the request does. */
export type UseSearchRequest = AnyMembers<LiveSearchRequest> & Pick<LiveSearchRequest, 'query'>;

/** What {@link useSearch} returns. */
export interface UseSearchResult {
  /** The hits as they are now. */
  readonly search: LiveSearchSnapshot;
  /** The store of the search: searches again. */
  readonly store: LiveSearch;
}

/** What {@link useSessionState} returns. */
export interface UseSessionStateResult<Value> {
  /** The value as it is now, or the fallback. */
  readonly value: Value;
  /** Stores another value. */
  readonly set: SetSessionState<Value>;
}

/** The provider and the hooks for a state of shape `S`. */
export interface SessionHooks<S extends object = StateShape> {
  /** See {@link SessionProvider}. */
  readonly SessionProvider: (props: SessionProviderProps<S>) => ReactElement;
  /** See {@link useSession}. */
  readonly useSession: (options?: UseSessionOptions<S>) => UseSessionResult<S>;
  /** See {@link useSessions}. */
  readonly useSessions: (request?: UseSessionsRequest<keyof S & string>) => UseSessionsResult<S>;
  /** See {@link useSessionState}. */
  readonly useSessionState: <K extends keyof S & string>(
    key: K,
    fallback: S[K],
    options?: UseSessionOptions<S>,
  ) => UseSessionStateResult<S[K]>;
}

const SessionContext = createContext<SessionProviderProps | undefined>(undefined);

/**
 * Gives a service, and whose sessions they are, to the hooks below it.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { SessionProvider } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * const service = new InMemorySessionService();
 * const app = createElement(SessionProvider, { service, appName: 'shop', userId: 'ada', sessionId: 's1' });
 * ```
 */
export function SessionProvider(props: SessionProviderProps): ReactElement {
  const { children, ...provided } = props;
  const { service, appName, userId, sessionId, window, view, turns, run, initialState } = provided;
  const value = useMemo(
    () => ({ service, appName, userId, sessionId, window, view, turns, run, initialState }),
    [service, appName, userId, sessionId, window, view, turns, run, initialState],
  );
  return createElement(SessionContext.Provider, { value }, children);
}

/**
 * Returns a session as it is now, and its store. All components of a service share one store of a session. The
 * component is rendered again after changes, at most once a frame.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useSession } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * export function Chat() {
 *   const { session, store } = useSession();
 *   const send = () => void store.send({ author: 'user', content: { parts: [{ text: 'hi' }] } });
 *   const lines = [...session.events, ...session.drafts].map(({ id, author }) => createElement('li', { key: id }, author));
 *   return createElement('ul', { onClick: send }, lines);
 * }
 * ```
 */
export function useSession(options: UseSessionOptions = {}): UseSessionResult {
  const store = useSessionStore(options);
  return { session: useStore(store, LOADING, (snapshot) => snapshot, options.suspense), store };
}

/**
 * Returns a list of sessions as it is now, and its store.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useSessions } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * export function Titles() {
 *   const { list } = useSessions({ limit: 20 });
 *   return list.sessions.map(({ id, title = 'Untitled' }) => createElement('p', { key: id }, title));
 * }
 * ```
 */
export function useSessions(request: UseSessionsRequest = {}): UseSessionsResult {
  const store = providedSessions(useProvider(), request);
  return { list: useStore(store, LOADING_LIST, (snapshot) => snapshot), store };
}

/**
 * Returns the hits of a search as they are now, and its store. Without a letter or a digit in the query there are none.
 * Give it what was typed once that has stayed the same for a moment.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useSearch } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * export function Hits({ query }: { query: string }) {
 *   const { search } = useSearch({ query });
 *   return search.hits.map(({ sessionId, eventId = 'title', snippet }) =>
 *     createElement('p', { key: sessionId + eventId }, snippet.map(({ text }) => text).join('')),
 *   );
 * }
 * ```
 */
export function useSearch(request: UseSearchRequest): UseSearchResult {
  const store = providedSearch(useProvider(), request);
  return { search: useStore(store, LOADING_SEARCH, (snapshot) => snapshot), store };
}

/**
 * Returns a version of a file as a page shows it: see {@link ShownArtifact}. Its URL is revoked when the component shows
 * another file, or none any more.
 *
 * @param file a file of a message, from `filesOf`; without `version`, the newest version of any file of the session
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { filesOf } from 'adk-session-wasm';
 * import { useArtifact, useSession } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * function Picture({ name, version }: { name: string; version: number }) {
 *   const { url } = useArtifact({ name, version });
 *   return createElement('img', { src: url, alt: name });
 * }
 *
 * export function Pictures() {
 *   const { session } = useSession();
 *   const files = session.events.flatMap((event) => filesOf(event));
 *   return files.map(({ name, version }) => createElement(Picture, { key: `${version} ${name}`, name, version }));
 * }
 * ```
 */
export function useArtifact(
  { name: filename, version }: ShownFile,
  options: AnyMembers<CompositeSessionKey> = {},
): ShownArtifact {
  const provided = useProvider();
  const { service } = provided;
  const { appName, userId, sessionId } = providedKey(provided, options);
  const [artifact, setArtifact] = useState(LOADING_ARTIFACT);
  useEffect(
    () => showProvided(service, { appName, userId, sessionId, filename, version }, setArtifact),
    [service, appName, userId, sessionId, filename, version],
  );
  return artifact;
}

/**
 * Returns a value of the state as it is now, or the fallback if it is absent, and a function that stores another one.
 * The component is rendered again only if the value changes.
 *
 * The component keeps the first fallback that it was given for the key of a session, so that `[]` is the same array at
 * each render.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useSessionState } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * export function Theme() {
 *   const { value, set } = useSessionState('user:theme', 'light');
 *   return createElement('button', { onClick: () => void set('dark') }, String(value));
 * }
 * ```
 */
export function useSessionState<Value>(
  key: string,
  fallback: Value,
  options: UseSessionOptions = {},
): UseSessionStateResult<Value> {
  const store = useSessionStore(options);
  const first = useFirst(fallback, store, key);
  const valueIn = (state: Readonly<StateShape>) =>
    (Object.hasOwn(state, key) ? state[key] : undefined) as Value | undefined;
  const value = useStore(store, LOADING, ({ state }) => valueIn(state), options.suspense);
  const set = useCallback<SetSessionState<Value>>(
    (next) =>
      store.updateState(
        next instanceof Function ? (state) => ({ [key]: next(valueIn(state)) }) : { [key]: next },
      ),
    [store, key],
  );
  return { value: value === undefined ? first : value, set };
}

/** Returns the first value that the component gave for a key of a store. */
function useFirst<Value>(value: Value, store: LiveSession, key: string): Value {
  const [first, setFirst] = useState({ value, store, key });
  if (first.store === store && first.key === key) return first.value;
  // React renders the component again at once.
  setFirst({ value, store, key });
  return value;
}

/**
 * Returns what the provider's `CachedSessionService` is doing: whether it is online, whether its remote wants another
 * login, and how much waits. Over another service the status is always online, and nothing waits.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useCacheStatus } from 'adk-session-wasm/react';
 *
 * export function Connection() {
 *   const { isOnline, isSignedOut, pending } = useCacheStatus();
 *   if (isSignedOut) return 'Please sign in again.';
 *   return isOnline ? null : `Offline. ${pending.length} conversations wait.`;
 * }
 * ```
 */
export function useCacheStatus(): CacheStatus {
  const { subscribe, getSnapshot } = sharedStatus(useProvider().service);
  return useSyncExternalStore(subscribe, getSnapshot, () => ONLINE);
}

/**
 * Returns what the provider's `CachedSessionService` has not sent, in all sessions: what waits, and what its remote
 * refused. Over another service there is nothing.
 *
 * @throws SessionError `invalid_argument` without a provider
 *
 * @example
 * ```ts
 * import { useUnsent } from 'adk-session-wasm/react';
 * import { createElement } from 'react';
 *
 * export function Refused() {
 *   const refused = useUnsent().filter(({ error }) => error !== undefined);
 *   return refused.map(({ key, error, retry, discard }) =>
 *     createElement('p', { key: JSON.stringify(key) }, [
 *       error?.message,
 *       createElement('button', { key: 'retry', onClick: () => void retry() }, 'Retry'),
 *       createElement('button', { key: 'discard', onClick: () => void discard() }, 'Discard'),
 *     ]),
 *   );
 * }
 * ```
 */
export function useUnsent(): readonly UnsentEntry[] {
  const { subscribe, getSnapshot } = sharedUnsent(useProvider().service);
  return useSyncExternalStore(subscribe, getSnapshot, () => NOTHING_UNSENT);
}

/**
 * Returns the provider and the hooks, typed by the shape of the state. They are the same functions for every shape.
 *
 * @example
 * ```ts
 * import { createSessionHooks } from 'adk-session-wasm/react';
 *
 * interface Shop {
 *   cart: string[];
 *   'user:theme': 'light' | 'dark';
 * }
 * export const { SessionProvider, useSession, useSessionState } = createSessionHooks<Shop>();
 *
 * export function useTheme(): 'light' | 'dark' {
 *   return useSessionState('user:theme', 'light').value;
 * }
 * ```
 */
export function createSessionHooks<S extends object>(): SessionHooks<S> {
  const hooks: unknown = { SessionProvider, useSession, useSessions, useSessionState };
  return hooks as SessionHooks<S>;
}

function useProvider(): SessionProviderProps {
  const provided = useContext(SessionContext);
  if (provided !== undefined) return provided;
  throw new SessionError(
    'invalid_argument',
    'The hook has no service; render its component below a SessionProvider.',
  );
}

function useSessionStore(options: UseSessionOptions): LiveSession {
  return providedSession(useProvider(), options);
}

/** @param loading the snapshot of the server and of hydration, unless a name is not known */
function useStore<Snapshot extends { readonly status: string; readonly error: unknown }, Value>(
  store: LiveStore<Snapshot>,
  loading: Snapshot,
  select: (snapshot: Snapshot) => Value,
  suspense = false,
): Value {
  const first = firstSnapshot(store, loading);
  const value = useSyncExternalStore(
    store.subscribe,
    () => select(store.getSnapshot()),
    // Without a snapshot of the server, React renders the fallback there.
    suspense && first === loading ? undefined : () => select(first),
  );
  const { status, error } = store.getSnapshot();
  // React waits for a thrown promise. Its `use` is not in React 18.
  // eslint-disable-next-line @typescript-eslint/only-throw-error
  if (suspense && status === 'loading') throw store.load();
  if (suspense && status === 'failed') throw error;
  return value;
}
