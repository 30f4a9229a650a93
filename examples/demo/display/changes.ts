/** Splits deltas and states by scope, for display. */

import { State } from 'adk-session-wasm';

/** The scope of a key. */
export type Scope = 'session' | 'user' | 'app' | 'temp';

/** The scopes in display order. */
export const SCOPES: readonly Scope[] = ['session', 'user', 'app', 'temp'];

/** A key of a state, and its value. */
export interface Entry {
  readonly scope: Scope;
  /** Without the prefix. */
  readonly name: string;
  readonly value: unknown;
}

/** The change of a key by an event. */
export interface Change extends Entry {
  readonly kind: 'set' | 'changed' | 'removed';
}

const PREFIXES: readonly [prefix: string, scope: Scope][] = [
  [State.USER_PREFIX, 'user'],
  [State.APP_PREFIX, 'app'],
  [State.TEMP_PREFIX, 'temp'],
];

function toEntry(key: string, value: unknown): Entry {
  for (const [prefix, scope] of PREFIXES) {
    if (key.startsWith(prefix)) return { scope, name: key.slice(prefix.length), value };
  }
  return { scope: 'session', name: key, value };
}

function sortByScope<E extends Entry>(entries: readonly E[]): E[] {
  return SCOPES.flatMap((scope) => entries.filter((toEntry) => toEntry.scope === scope));
}

/** Returns the entries of a state, ordered by scope. */
export function entriesOf(state: Readonly<Record<string, unknown>>): Entry[] {
  return sortByScope(Object.entries(state).map(([key, value]) => toEntry(key, value)));
}

/**
 * Applies a delta to a state, and returns the changes, ordered by scope. Setting a key to its current
 * value is not a change.
 */
export function applyDelta(
  delta: Readonly<Record<string, unknown>>,
  state: Map<string, unknown>,
): Change[] {
  const changes: Change[] = [];
  for (const [key, value] of Object.entries(delta)) {
    const before = state.get(key);
    const existed = state.has(key);
    if (value === State.REMOVED || value === undefined) {
      state.delete(key);
      if (existed) changes.push({ ...toEntry(key, before), kind: 'removed' });
    } else {
      state.set(key, value);
      const isSame = existed && printJson(before) === printJson(value);
      if (!isSame) changes.push({ ...toEntry(key, value), kind: existed ? 'changed' : 'set' });
    }
  }
  return sortByScope(changes);
}

/** Prints a value as JSON on one line. A `temp:` value may be anything, even a function. */
export function printJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? `(${typeof value})`;
  } catch {
    return `(${typeof value})`;
  }
}
