// One possible content of a storage, in plain TypeScript. Values are immutable, so worlds can share them.

import { State, type StateShape } from '../../../js/index.js';
import { canonical } from './canonical.js';
import type { SessionName } from '../operation.js';

export interface ModelEvent {
  readonly id: string;
  /** The stored event in the form of `canonicalEvent`. */
  readonly text: string;
  readonly delta: StateShape;
  /** The session's revision when it was appended, and when it was last replaced. */
  readonly seq: number;
  readonly revision: number;
}

export interface ModelSession {
  readonly key: SessionName;
  /** The revision of its creation. It differs from that of an earlier session with the same name. */
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
  /** The state of the session scope. */
  readonly state: StateShape;
  readonly events: readonly ModelEvent[];
}

/** The expected content of a handle. */
export interface View {
  readonly name: string;
  readonly created: number;
  readonly revision: number;
  /**
   * The revision of one of the handle's own appends whose outcome is unknown. With `stale: 'reject'`, the handle may then
   * be stale or not: concurrent appends do not make each other stale.
   */
  readonly unacknowledged?: number | undefined;
  readonly lastUpdateTime: number;
  readonly events: readonly { readonly id: string; readonly text: string }[];
  readonly state: StateShape;
  /** The revision up to which the handle has every change. */
  readonly knownUntil: number;
  /** The revisions of later changes that it has, by event id and by key. */
  readonly laterChanges: { readonly events: Revisions; readonly keys: Revisions };
}

export type Revisions = Readonly<Record<string, number>>;

export interface World {
  readonly sessions: ReadonlyMap<string, ModelSession>;
  /** User states with prefixed keys, by `nameOf` of the user. */
  readonly users: ReadonlyMap<string, StateShape>;
  readonly apps: ReadonlyMap<string, StateShape>;
  /** By the number of the handle. */
  readonly views: ReadonlyMap<number, View>;
  /** The last revision of each session name, even of a deleted session. */
  readonly revisions: ReadonlyMap<string, number>;
}

export const EMPTY: World = {
  sessions: new Map(),
  users: new Map(),
  apps: new Map(),
  views: new Map(),
  revisions: new Map(),
};

export const nameOf = (...names: readonly string[]): string => JSON.stringify(names);

export function sessionName({ appName, userId, sessionId }: SessionName): string {
  return nameOf(appName, userId, sessionId);
}

/** A copy of a map with one entry changed or removed. */
export function changed<K, V>(map: ReadonlyMap<K, V>, key: K, value: V | undefined): Map<K, V> {
  const copy = new Map(map);
  if (value === undefined) copy.delete(key);
  else copy.set(key, value);
  return copy;
}

/** A state with a delta applied, without `temp:` keys. */
export function withDelta(state: StateShape, delta: StateShape): StateShape {
  const result = { ...state };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith('temp:')) continue;
    if (value === State.REMOVED) Reflect.deleteProperty(result, key);
    // `__proto__` is an ordinary key.
    else Object.defineProperty(result, key, { value, writable: true, enumerable: true, configurable: true }); // prettier-ignore
  }
  return result;
}

/** The keys of a delta that belong to one scope. */
export function partOf(delta: StateShape, scope: 'session' | 'user' | 'app'): StateShape {
  const entries = Object.entries(delta).filter(([key]) => {
    if (key.startsWith('app:')) return scope === 'app';
    if (key.startsWith('user:')) return scope === 'user';
    return scope === 'session' && !key.startsWith('temp:');
  });
  return Object.fromEntries(entries);
}

/** The state that a reader of the session gets. */
export function mergedState(world: World, session: ModelSession): StateShape {
  const { appName, userId } = session.key;
  return {
    ...session.state,
    ...world.users.get(nameOf(appName, userId)),
    ...world.apps.get(nameOf(appName)),
  };
}

export function sessionText(world: World, session: ModelSession, last = Infinity): string {
  const events = session.events.slice(Math.max(0, session.events.length - last));
  return textOfSession(session.key, session.lastUpdateTime, mergedState(world, session), events.map(({ text }) => text)); // prettier-ignore
}

/** The canonical text of a session, for read sessions and for those of the model. */
export function textOfSession(
  { appName, userId, sessionId }: SessionName,
  lastUpdateTime: number,
  state: StateShape,
  events: readonly string[],
): string {
  return `${nameOf(appName, userId, sessionId)}@${lastUpdateTime} ${canonical(state)} [${events.join()}]`;
}

/** The result of `getUserState` or `getAppState`: a state without prefixes. */
export function scopeText(state: StateShape | undefined): string {
  const entries = Object.entries(state ?? {}).map(([key, value]) => [key.slice(key.indexOf(':') + 1), value]); // prettier-ignore
  return canonical(Object.fromEntries(entries));
}

/** The canonical text of all readable data of a world. */
export function worldText(world: World): string {
  const sessions = [...world.sessions.values()].map((session) => sessionText(world, session));
  const users = [...world.users].map(([name, state]) => `${name}:${scopeText(state)}`);
  const apps = [...world.apps].map(([name, state]) => `${name}:${scopeText(state)}`);
  return textOfWorld(sessions, users, apps);
}

/** A scope without keys counts as absent: a reader cannot distinguish the two. */
export function textOfWorld(
  sessions: readonly string[],
  users: readonly string[],
  apps: readonly string[],
): string {
  const scopes = [...users, ...apps].filter((text) => !text.endsWith(':{}'));
  return [...sessions].sort().concat(scopes.sort()).join('\n');
}
