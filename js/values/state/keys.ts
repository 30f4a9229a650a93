/**
 * The keys of a state: how a delta changes them, and how their prefixes tell scopes apart. The rules are Rust's too.
 */
import { defineMember } from '../members.js';
import {
  isShared,
  isTemp,
  REMOVED,
  SHARED_PREFIXES,
  STORED_PREFIXES,
  type StoredScope,
  storedScopeOf,
} from './scope.js';
import type { StateShape } from './state_shape.js';

/**
 * Sets or removes a key of a state, as a delta says. Does not throw if the caller has frozen the state meanwhile,
 * because a committed append must not fail.
 */
export function writeKey(state: StateShape, key: string, value: unknown): void {
  if (value === REMOVED || value === undefined) Reflect.deleteProperty(state, key);
  else defineMember(state, key, value);
}

/**
 * Returns the scope whose state stores a key that is not a `temp:` key, and the key's name there, without its prefix.
 */
export function scopedKey(key: string): readonly [scope: StoredScope, name: string] {
  const scope = storedScopeOf(key);
  return [scope, scope === 'session' ? key : key.slice(SHARED_PREFIXES[scope].length)];
}

/** Splits a state or a delta by the scopes of its keys, which lose their prefixes. Leaves out `temp:` keys. */
export function splitByScope(all: Readonly<StateShape>): Record<StoredScope, StateShape> {
  const split: Record<StoredScope, StateShape> = { session: {}, user: {}, app: {} };
  for (const [key, value] of Object.entries(all)) {
    if (isTemp(key)) continue;
    const [scope, name] = scopedKey(key);
    defineMember(split[scope], name, value);
  }
  return split;
}

/** Returns the text of the keys of an initial state that are the session's own. */
export function ownStateText(text: string): string {
  const state = JSON.parse(text) as StateShape;
  const keys = Object.keys(state);
  const ownKeys = keys.filter((key) => !isShared(key) && state[key] !== REMOVED);
  if (ownKeys.length === keys.length) return text;
  const own: StateShape = {};
  for (const key of ownKeys) defineMember(own, key, state[key]);
  return JSON.stringify(own);
}

/** Joins states by scope into one, whose keys have the prefixes of their scopes. */
export function joinScopes(states: Partial<Record<StoredScope, object>>): StateShape {
  const all: StateShape = {};
  for (const [scope, prefix] of STORED_PREFIXES) {
    for (const [key, value] of Object.entries(states[scope] ?? {})) {
      defineMember(all, prefix + key, value);
    }
  }
  return all;
}
