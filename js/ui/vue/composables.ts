import {
  computed,
  getCurrentInstance,
  inject,
  type InjectionKey,
  type MaybeRefOrGetter,
  onMounted,
  provide,
  type ShallowRef,
  shallowRef,
  toValue,
  watch,
  type WritableComputedRef,
} from 'vue';
import type { CacheStatus } from '../../service/cache/index.js';
import { reportUncaught } from '../../core/call/diagnostics.js';
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
  ShownFile,
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
import { LOADING_ARTIFACT } from '../live/show_artifact.js';
import type { AnyMembers } from '../live/types.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';

/** Which session a composable shows, and what it is created with. What is absent is provided. */
export interface UseSessionOptions<
  S extends object = StateShape,
> extends AnyMembers<CompositeSessionKey> {
  /**
   * The state of the session, if its first message creates it. All components of a session share the last one that was
   * given. Default: what is provided.
   */
  readonly initialState?: Partial<S> | undefined;
}

/** A session as it is now, and its store. */
export interface SessionRefs<S extends object = StateShape> {
  /** The snapshot. It is not made reactive itself: it is replaced by another one, at most once a frame. */
  readonly session: Readonly<ShallowRef<LiveSessionSnapshot<S>>>;
  /** The store. */
  readonly store: Readonly<ShallowRef<LiveSession<S>>>;
}

/** A list of sessions as it is now, and its store. */
export interface SessionsRefs<S extends object = StateShape> {
  /** The snapshot. */
  readonly list: Readonly<ShallowRef<LiveSessionsSnapshot<S>>>;
  /** The store. */
  readonly store: Readonly<ShallowRef<LiveSessions<S>>>;
}

/** The hits of a search as they are now, and its store. */
export interface SearchRefs {
  /** The snapshot. */
  readonly search: Readonly<ShallowRef<LiveSearchSnapshot>>;
  /** The store. */
  readonly store: Readonly<ShallowRef<LiveSearch>>;
}

const PROVIDED: InjectionKey<() => ProvidedSessions> = Symbol('adk-session-wasm');

/**
 * Gives a service, and whose sessions they are, to the composables of the components below.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { provideSessions } from 'adk-session-wasm/vue';
 * import { defineComponent } from 'vue';
 *
 * const service = new InMemorySessionService();
 * export const App = defineComponent(() => {
 *   provideSessions({ service, appName: 'shop', userId: 'ada', sessionId: 's1' });
 *   return () => 'the chat';
 * });
 * ```
 */
export function provideSessions<S extends object = StateShape>(
  provided: MaybeRefOrGetter<ProvidedSessions<S>>,
): void {
  provide(PROVIDED, () => toValue(provided) as unknown as ProvidedSessions);
}

/**
 * Returns a session as it is now, and its store. All components of a service share one store of a session.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useSession } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Chat = defineComponent(() => {
 *   const { session } = useSession();
 *   return () => session.value.events.map(({ id, author }) => h('p', { key: id }, author));
 * });
 * ```
 */
export function useSession<S extends object = StateShape>(
  options: MaybeRefOrGetter<UseSessionOptions<S>> = {},
): SessionRefs<S> {
  const provided = injected<S>();
  const store = computed(() => providedSession(provided(), toValue(options)));
  const loading = LOADING as unknown as LiveSessionSnapshot<S>;
  return { session: follow<LiveSessionSnapshot<S>>(() => store.value, loading), store };
}

/**
 * Returns a list of sessions as it is now, and its store. The app and the user are provided, unless the request has
 * them.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useSessions } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Titles = defineComponent(() => {
 *   const { list } = useSessions({ limit: 20 });
 *   return () => list.value.sessions.map(({ id, title = 'Untitled' }) => h('p', { key: id }, title));
 * });
 * ```
 */
export function useSessions<S extends object = StateShape>(
  request: MaybeRefOrGetter<AnyMembers<LiveSessionsRequest<keyof S & string>>> = {},
): SessionsRefs<S> {
  const provided = injected<S>();
  const store = computed(() => providedSessions(provided(), toValue(request)));
  const loading = LOADING_LIST as unknown as LiveSessionsSnapshot<S>;
  return { list: follow<LiveSessionsSnapshot<S>>(() => store.value, loading), store };
}

/**
 * Returns the hits of a search as they are now, and its store. Without a letter or a digit in the query there are none.
 * Give it what was typed once that has stayed the same for a moment.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useSearch } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Hits = defineComponent(() => {
 *   const { search } = useSearch({ query: 'tea' });
 *   return () => search.value.hits.map(({ sessionId }) => h('p', sessionId));
 * });
 * ```
 */
export function useSearch(
  request: MaybeRefOrGetter<AnyMembers<LiveSearchRequest> & Pick<LiveSearchRequest, 'query'>>,
): SearchRefs {
  const provided = injected();
  const store = computed(() => providedSearch(provided(), toValue(request)));
  return { search: follow(() => store.value, LOADING_SEARCH), store };
}

/**
 * Returns a version of a file as a page shows it: see `ShownArtifact` of `adk-session-wasm/live`. Its URL is revoked when
 * another file is shown, or the component is unmounted.
 *
 * @param file a file of a message, from `filesOf`; without `version`, the newest version of any file of the session
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useArtifact } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Picture = defineComponent({
 *   props: { name: { type: String, required: true }, version: Number },
 *   setup(props) {
 *     const artifact = useArtifact(() => props);
 *     return () => h('img', { src: artifact.value.url, alt: props.name });
 *   },
 * });
 * ```
 */
export function useArtifact(
  file: MaybeRefOrGetter<ShownFile>,
  options: MaybeRefOrGetter<AnyMembers<CompositeSessionKey>> = {},
): Readonly<ShallowRef<ShownArtifact>> {
  const provided = injected();
  const store = computed(() => {
    const { service } = provided();
    const key = providedKey(provided(), toValue(options));
    const { name: filename, version } = toValue(file);
    return {
      subscribe: (show: (artifact: ShownArtifact) => void) =>
        showProvided(service, { ...key, filename, version }, show),
      getSnapshot: () => LOADING_ARTIFACT,
    };
  });
  return follow(() => store.value, LOADING_ARTIFACT);
}

/**
 * Returns a value of the state as a ref, or the fallback where it is absent. What is assigned is stored, and is shown
 * at once. If it cannot be stored, the stored value is shown again, and the error is reported as uncaught.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useSessionState } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Theme = defineComponent(() => {
 *   const theme = useSessionState('user:theme', 'light');
 *   return () => h('button', { onClick: () => (theme.value = 'dark') }, theme.value);
 * });
 * ```
 */
export function useSessionState<Value>(
  key: string,
  fallback: Value,
  options: MaybeRefOrGetter<UseSessionOptions> = {},
): WritableComputedRef<Value> {
  const { session, store } = useSession(options);
  const assigned = shallowRef<{ readonly store: LiveSession; readonly value: Value }>();
  const storedValue = (): Value | undefined => {
    // `session` follows in the next frame. Until then it has the value before an assigned one.
    const isFollowing = session.value !== LOADING;
    const { state } = isFollowing ? store.value.getSnapshot() : LOADING;
    return Object.hasOwn(state, key) ? (state[key] as Value) : undefined;
  };
  return computed({
    get() {
      const value = assigned.value?.store === store.value ? assigned.value.value : storedValue();
      return value === undefined ? fallback : value;
    },
    set(value) {
      const mine = (assigned.value = { store: store.value, value });
      const settle = (): void => {
        if (assigned.value === mine) assigned.value = undefined;
      };
      store.value
        .updateState({ [key]: value })
        .catch(reportUncaught)
        .finally(settle);
    },
  });
}

/**
 * Returns what the provided `CachedSessionService` is doing: whether it is online, whether its remote wants another
 * login, and how much waits. Over another service the status is always online, and nothing waits.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useCacheStatus } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Connection = defineComponent(() => {
 *   const status = useCacheStatus();
 *   return () => h('p', status.value.isOnline ? '' : `Offline. ${status.value.pending.length} conversations wait.`);
 * });
 * ```
 */
export function useCacheStatus(): Readonly<ShallowRef<CacheStatus>> {
  const provided = injected();
  const store = computed(() => sharedStatus(provided().service));
  return follow(() => store.value, ONLINE);
}

/**
 * Returns what the provided `CachedSessionService` has not sent, in all sessions: what waits, and what its remote
 * refused. Over another service there is nothing.
 *
 * @throws SessionError `invalid_argument` if nothing is provided
 *
 * @example
 * ```ts
 * import { useUnsent } from 'adk-session-wasm/vue';
 * import { defineComponent, h } from 'vue';
 *
 * export const Refused = defineComponent(() => {
 *   const unsent = useUnsent();
 *   const refused = () => unsent.value.filter(({ error }) => error !== undefined);
 *   return () =>
 *     refused().map(({ key, error, retry, discard }) =>
 *       h('p', { key: JSON.stringify(key) }, [
 *         error?.message,
 *         h('button', { onClick: retry }, 'Retry'),
 *         h('button', { onClick: discard }, 'Discard'),
 *       ]),
 *     );
 * });
 * ```
 */
export function useUnsent(): Readonly<ShallowRef<readonly UnsentEntry[]>> {
  const provided = injected();
  const store = computed(() => sharedUnsent(provided().service));
  return follow(() => store.value, NOTHING_UNSENT);
}

function injected<S extends object>(): () => ProvidedSessions<S> {
  const provided = inject(PROVIDED, undefined);
  if (provided !== undefined) return provided as unknown as () => ProvidedSessions<S>;
  throw new SessionError(
    'invalid_argument',
    'The composable has no service; call provideSessions in a component above.',
  );
}

type Followed<Snapshot> = Pick<LiveStore<Snapshot>, 'subscribe' | 'getSnapshot'>;

/**
 * Follows a store while the component is mounted, or while the effect scope lives. On a server it follows none.
 *
 * @param storeOf returns another store when the names change: its snapshot is shown at once, before Vue calls watchers
 */
function follow<Snapshot>(
  storeOf: () => Followed<Snapshot>,
  loading: Snapshot,
): Readonly<ShallowRef<Snapshot>> {
  const followed = shallowRef<{ store: Followed<Snapshot>; snapshot: Snapshot }>();
  const start = (): void => {
    watch(
      storeOf,
      (store, _, onCleanup) => {
        onCleanup(store.subscribe((snapshot) => (followed.value = { store, snapshot })));
      },
      { immediate: true },
    );
  };
  if (getCurrentInstance() === null) start();
  else onMounted(start);
  return computed(() => {
    const store = storeOf();
    if (followed.value === undefined) return firstSnapshot(store, loading);
    return followed.value.store === store ? followed.value.snapshot : store.getSnapshot();
  });
}
