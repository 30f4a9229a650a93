// One possible content of a storage, in plain TypeScript. Every value is immutable, so that worlds share them.

import { State, type StateShape } from '../../../js/index.js';
import { canonical } from './canonical.js';
import type { SessionName } from '../operation.js';

export interface ModelEvent {
  readonly id: string;
  /** What is stored, as `canonicalEvent` says it. */
  readonly text: string;
  readonly delta: StateShape;
  /** The session's revision when it was appended, and when it was last replaced. */
  readonly seq: number;
  readonly revision: number;
}

export interface ModelSession {
  readonly key: SessionName;
  /** The revision that it was created at, which tells it from an earlier session of the same name. */
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
  /** Of the session's own scope. */
  readonly state: StateShape;
  readonly events: readonly ModelEvent[];
}

/** What a handle must show. */
export interface View {
  readonly name: string;
  readonly created: number;
  readonly revision: number;
  /**
   * The revision of an append of the handle's own whose outcome nobody told it. By `stale: 'reject'` the handle may
   * be stale then or not: appends that were under way together do not make each other stale.
   */
  readonly untold?: number | undefined;
  readonly lastUpdateTime: number;
  readonly events: readonly { readonly id: string; readonly text: string }[];
  readonly state: StateShape;
  /** The revision up to which the handle has every change. */
  readonly told: number;
  /** The revisions of what it has of later changes, by the event's id and by the key. */
  readonly given: { readonly events: Revisions; readonly keys: Revisions };
}

export type Revisions = Readonly<Record<string, number>>;

export interface World {
  readonly sessions: ReadonlyMap<string, ModelSession>;
  /** With the keys' prefixes, by `nameOf` of the user. */
  readonly users: ReadonlyMap<string, StateShape>;
  readonly apps: ReadonlyMap<string, StateShape>;
  /** By the number of the handle. */
  readonly views: ReadonlyMap<number, View>;
  /** The last revision that was given for a session's name, also of a deleted one. */
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

/** A map with one entry changed, or taken out. */
export function changed<K, V>(map: ReadonlyMap<K, V>, key: K, value: V | undefined): Map<K, V> {
  const copy = new Map(map);
  if (value === undefined) copy.delete(key);
  else copy.set(key, value);
  return copy;
}

/** A state with a delta on it; `temp:` keys are left out. */
export function withDelta(state: StateShape, delta: StateShape): StateShape {
  const result = { ...state };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith('temp:')) continue;
    if (value === State.REMOVED) Reflect.deleteProperty(result, key);
    // `__proto__` is a key as any other.
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

/** What a reader of the session sees. */
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

/** The form in which sessions are compared, read ones and those of the model. */
export function textOfSession(
  { appName, userId, sessionId }: SessionName,
  lastUpdateTime: number,
  state: StateShape,
  events: readonly string[],
): string {
  return `${nameOf(appName, userId, sessionId)}@${lastUpdateTime} ${canonical(state)} [${events.join()}]`;
}

/** The state of a user or an app as `getUserState` and `getAppState` show it, without prefixes. */
export function scopeText(state: StateShape | undefined): string {
  const entries = Object.entries(state ?? {}).map(([key, value]) => [key.slice(key.indexOf(':') + 1), value]); // prettier-ignore
  return canonical(Object.fromEntries(entries));
}

/** All that can be read of a world. */
export function worldText(world: World): string {
  const sessions = [...world.sessions.values()].map((session) => sessionText(world, session));
  const users = [...world.users].map(([name, state]) => `${name}:${scopeText(state)}`);
  const apps = [...world.apps].map(([name, state]) => `${name}:${scopeText(state)}`);
  return textOfWorld(sessions, users, apps);
}

/** Scopes without keys count as absent: nobody can tell. */
export function textOfWorld(
  sessions: readonly string[],
  users: readonly string[],
  apps: readonly string[],
): string {
  const scopes = [...users, ...apps].filter((text) => !text.endsWith(':{}'));
  return [...sessions].sort().concat(scopes.sort()).join('\n');
}
