import type { CompositeSessionKey } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import type { StateShape } from '../state/state_shape.js';
import type { LiveSession, LiveSessionOptions } from './live_session.js';
import type { LiveSessions, LiveSessionsRequest } from './live_sessions.js';
import type { ReadingStore } from './reading_store.js';
import { WatchedSession } from './watched_session.js';
import { WatchedSessions } from './watched_sessions.js';

/**
 * Returns a store that shows a session as it is now, whoever changes it: this tab, another one, or, where the service
 * reports it, another client of a server. It reads and watches only while it has subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const chat = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' }, { window: 20 });
 * const stop = chat.subscribe(({ status, events }) => console.log(status, events.length));
 * await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'Which tea?' }] } });
 * stop();
 * ```
 */
export function liveSession<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  key: CompositeSessionKey,
  options: LiveSessionOptions<S> = {},
): LiveSession<S> {
  return new WatchedSession(service, key, options);
}

/**
 * Returns a store that lists sessions as they are now, whoever changes them. It reads and watches only while it has
 * subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSessions } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const list = liveSessions(service, { appName: 'shop', userId: 'ada', limit: 20 });
 * const stop = list.subscribe(({ sessions }) => console.log(sessions.map(({ title }) => title)));
 * stop();
 * ```
 */
export function liveSessions<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSessionsRequest<keyof S & string>,
): LiveSessions<S> {
  return new WatchedSessions(service, request);
}

/** The most stores without subscribers that are kept for each service. */
const MAX_IDLE = 20;

/**
 * Milliseconds for which an awaited store is kept in any case, from its last render on. A suspended React boundary
 * renders all of its components again after each load. They subscribe only when the last store is loaded.
 */
const AWAITED_MS = 10_000;

/** A store of any session or list. */
type AnyStore = Pick<ReadingStore<never, object>, 'isActive' | 'isAwaited'>;

interface SharedStore {
  readonly store: AnyStore;
  /** When a component rendered it last, by `performance.now`. */
  readonly lastUse: number;
}

const storesOfServices = new WeakMap<object, Map<string, SharedStore>>();

/**
 * Returns the store of a session that all components share. Between the render of a component and its subscription the
 * store has no subscriber, so the last ones without are kept.
 */
export function sharedSession<S extends object>(
  service: SessionService<S> | Promise<SessionService<S>>,
  key: CompositeSessionKey,
  options: Pick<LiveSessionOptions, 'window' | 'view'> = {},
): WatchedSession<S> {
  const { appName, userId, sessionId } = key;
  const name = JSON.stringify([appName, userId, sessionId, options.window, options.view]);
  return shared(service, name, () => new WatchedSession(service, key, options));
}

/** Returns the store of a list that all components share. */
export function sharedSessions<S extends object>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSessionsRequest<keyof S & string>,
): LiveSessions<S> {
  const members = Object.entries(request).sort(([one], [other]) => (one < other ? -1 : 1));
  return shared(service, JSON.stringify(members), () => new WatchedSessions(service, request));
}

/** @param name names one kind of store only */
function shared<Store extends AnyStore>(service: object, name: string, make: () => Store): Store {
  const stores = storesOfServices.get(service) ?? new Map<string, SharedStore>();
  const known = stores.get(name)?.store;
  // Refuses what is no service.
  const store = known ?? make();
  storesOfServices.set(service, stores);
  const now = performance.now();
  // The last used stands last.
  stores.delete(name);
  stores.set(name, { store, lastUse: now });
  if (known === undefined) {
    const isIdle = ({ store, lastUse }: SharedStore): boolean =>
      !store.isActive && !(store.isAwaited && now - lastUse < AWAITED_MS);
    const idle = [...stores].filter(([, shared]) => isIdle(shared));
    for (const [unused] of idle.slice(0, -MAX_IDLE)) stores.delete(unused);
  }
  return store as Store;
}
