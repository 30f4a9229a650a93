/** The states of users and apps as a reader sees them. */
import { defineMember } from '../../members/member.js';
import {
  isTemp,
  REMOVED,
  SHARED_PREFIXES,
  type SharedScope,
  storedScopeOf,
} from '../../state/scope.js';
import { parseEventText } from '../../storage/stored_events.js';
import type { SharedRow } from '../../storage/rows.js';
import type { SharedWrite, StateRecord } from '../records/records.js';
import { DeltaFold } from './delta_fold.js';
import { applyValue, type JsonState } from './json_state.js';

/** What an unsent operation changes in a state. */
export interface NumberedWrite extends SharedWrite {
  readonly number: number;
  /** Whether the remote has refused the operation. */
  readonly isRefused: boolean;
}

export function applyWrite(state: JsonState, { isCleared, values }: SharedWrite): JsonState {
  const changed = isCleared ? {} : state;
  for (const [key, value] of values) applyValue(changed, key, value);
  return changed;
}

/** Lays what has arrived since the last fetch, and the unsent operations, over what the remote has said. */
export function overlayState(
  record: StateRecord | undefined,
  writes: readonly NumberedWrite[],
): SharedRow | undefined {
  const unsent = writes.filter(({ isRefused }) => !isRefused);
  if (record === undefined && unsent.length === 0) return undefined;
  const revision = Math.max(record?.tick ?? 0, ...unsent.slice(-1).map(({ number }) => number));
  const { state = '{}', arrived = [] } = record ?? {};
  if (arrived.length === 0 && unsent.length === 0) return { revision, state };
  let shown = JSON.parse(state) as JsonState;
  for (const [key, value] of arrived) applyValue(shown, key, value);
  for (const write of unsent) shown = applyWrite(shown, write);
  return { revision, state: JSON.stringify(shown) };
}

/** Records that an operation has arrived: its values stay until a fetch that began later. */
export function withArrived(
  record: StateRecord | undefined,
  { isCleared, values }: SharedWrite,
  tick: number,
): StateRecord {
  const before = record ?? EMPTY_STATE;
  const earlier = isCleared ? { ...before, state: '{}', arrived: [], clearedAt: tick } : before;
  let arrived = [...earlier.arrived];
  for (const [key, value] of values) {
    const index = arrived.findLastIndex(([name]) => name === key);
    const isInPlace = index >= 0 && value !== REMOVED && arrived[index]![1] !== REMOVED;
    if (value === REMOVED) arrived = arrived.filter(([name]) => name !== key);
    if (isInPlace) arrived[index] = [key, value, tick];
    else arrived.push([key, value, tick]);
  }
  return { ...earlier, tick, arrived };
}

/**
 * Takes a fetched state, unless a later fetch or a deletion came first.
 *
 * @param began the number at the beginning of the fetch
 * @returns `undefined` if nothing changes
 */
export function withFetched(
  record: StateRecord | undefined,
  state: string,
  began: number,
  tick: number,
): StateRecord | undefined {
  const before = record ?? EMPTY_STATE;
  if (began < before.fetchedAt || began < before.clearedAt) return undefined;
  const arrived = before.arrived.filter(([, , at]) => at > began);
  const isSame = state === before.state && arrived.length === before.arrived.length;
  if (isSame && before.fetchedAt > 0) return undefined;
  return {
    ...before,
    state,
    arrived,
    fetchedAt: Math.max(1, began),
    tick: isSame ? before.tick : tick,
  };
}

const EMPTY_STATE: StateRecord = { state: '{}', tick: 0, fetchedAt: 0, arrived: [], clearedAt: 0 };

/** Splits a JSON object by the scopes of its keys. The keys of the shared scopes lose their prefix. */
export function splitByScope(all: JsonState): {
  readonly session: JsonState;
  readonly user: JsonState;
  readonly app: JsonState;
} {
  const parts = { session: {}, user: {}, app: {} };
  for (const [key, value] of Object.entries(all)) {
    if (isTemp(key)) continue;
    const scope = storedScopeOf(key);
    const name = scope === 'session' ? key : key.slice(SHARED_PREFIXES[scope].length);
    defineMember(parts[scope], name, value);
  }
  return parts;
}

/** Returns what changes of a JSON object, in order, do to shared states. */
export function sharedWrites(
  deltas: readonly JsonState[],
): Partial<Record<SharedScope, SharedWrite>> {
  const values = { user: new DeltaFold(), app: new DeltaFold() };
  for (const delta of deltas) {
    for (const [key, value] of Object.entries(delta)) {
      const scope = storedScopeOf(key);
      if (scope !== 'session') values[scope].set(key.slice(SHARED_PREFIXES[scope].length), value);
    }
  }
  const writeOf = ({ changes }: DeltaFold): SharedWrite => ({ isCleared: false, values: changes });
  return {
    ...(!values.user.isEmpty && { user: writeOf(values.user) }),
    ...(!values.app.isEmpty && { app: writeOf(values.app) }),
  };
}

/** Returns the delta of an event's text. A damaged event has none; readers of the event get the error. */
export function deltaOf(text: string): JsonState {
  const event = parseEventText(text) as
    { readonly actions?: { readonly stateDelta?: JsonState } | null } | undefined;
  return event?.actions?.stateDelta ?? {};
}
