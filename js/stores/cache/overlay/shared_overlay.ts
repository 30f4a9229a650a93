/** The states of users and apps as a reader sees them. */
import type { SharedRow } from '../../../core/storage/rows.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { defineMember } from '../../../values/members.js';
import { scopedKey, writeKey } from '../../../values/state/keys.js';
import { REMOVED } from '../../../values/state/scope.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { StateRecord } from '../records/records.js';
import type { Mutation, NumberedWrite, OutboxWrites, SharedWrite } from '../outbox/mutation.js';

/** A change of one key. */
export type KeyChange = readonly [key: string, value: unknown];

/** Deltas, folded in their order: the last value of each key. Keys keep the places that they would have in a state. */
export class DeltaFold {
  readonly #values = new Map<string, { readonly value: unknown; readonly isMoved: boolean }>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  set(key: string, value: unknown): void {
    const earlier = this.#values.get(key);
    // A key that was removed comes back as the last one.
    const isMoved = value !== REMOVED && earlier?.value === REMOVED;
    if (isMoved) this.#values.delete(key);
    this.#values.set(key, { value, isMoved: isMoved || earlier?.isMoved === true });
  }

  clear(): void {
    this.#values.clear();
  }

  /** The changes in the order in which they give the same state as the deltas. */
  get changes(): KeyChange[] {
    return [...this.#values].flatMap(([key, { value, isMoved }]): KeyChange[] =>
      isMoved && value !== REMOVED
        ? [
            [key, REMOVED],
            [key, value],
          ]
        : [[key, value]],
    );
  }
}

/** Lays the unsent mutations over what the remote has said. */
export function overlayState(
  record: StateRecord | undefined,
  writes: readonly NumberedWrite[],
): SharedRow | undefined {
  const last = writes.findLast(({ isRefused }) => !isRefused)?.number;
  if (record === undefined && last === undefined) return undefined;
  const { state, localVersion } = record ?? NO_STATE;
  return { revision: Math.max(localVersion, last ?? 0), state: withWrites(state, writes) };
}

/** Returns a state after mutations. Refused mutations change nothing. */
function withWrites(
  state: string,
  writes: readonly (SharedWrite & Partial<NumberedWrite>)[],
): string {
  if (writes.length === 0) return state;
  const fold = new DeltaFold();
  let wasCleared = false;
  for (const { isRefused, isCleared, values } of writes) {
    if (isRefused === true) continue;
    if (isCleared) fold.clear();
    wasCleared ||= isCleared;
    for (const [key, value] of values) fold.set(key, value);
  }
  const changed = wasCleared ? {} : (JSON.parse(state) as StateShape);
  for (const [key, value] of fold.changes) writeKey(changed, key, value);
  return JSON.stringify(changed);
}

/** Records that mutations were acknowledged. */
export function withAcknowledged(
  record: StateRecord = NO_STATE,
  writes: readonly SharedWrite[],
  localVersion: number,
): StateRecord {
  const state = withWrites(record.state, writes);
  const isCleared = writes.some((write) => write.isCleared);
  return { ...record, state, localVersion, ...(isCleared && { clearedAt: localVersion }) };
}

/**
 * Takes a fetched state.
 *
 * @param began the number at the beginning of the fetch
 * @returns `undefined` if it cannot be told whether the state is newer than the record, because the record has changed
 *   since the fetch began
 */
export function withFetched(
  record: StateRecord = NO_STATE,
  state: string,
  began: number,
  localVersion: number,
): StateRecord | undefined {
  if (began < record.localVersion && state !== record.state) return undefined;
  return { ...record, state, localVersion, isFetched: true };
}

export const NO_STATE: StateRecord = {
  state: '{}',
  localVersion: 0,
  isFetched: false,
  clearedAt: 0,
};

/** Returns what deltas, in their order, change in shared states. */
export function sharedWrites(deltas: readonly StateShape[]): Mutation['shared'] {
  const values = { user: new DeltaFold(), app: new DeltaFold() };
  for (const delta of deltas) {
    for (const [key, value] of Object.entries(delta)) {
      const [scope, name] = scopedKey(key);
      if (scope !== 'session') values[scope].set(name, value);
    }
  }
  const writeOf = ({ changes }: DeltaFold): SharedWrite => ({ isCleared: false, values: changes });
  return {
    ...(!values.user.isEmpty && { user: writeOf(values.user) }),
    ...(!values.app.isEmpty && { app: writeOf(values.app) }),
  };
}

/** Returns the JSON text of the changes of several updates. The last value of a key counts. */
export function joinedDelta(mutations: readonly Mutation<'update'>[]): string {
  const joined: StateShape = {};
  for (const { write } of mutations) {
    for (const [key, value] of Object.entries(JSON.parse(write.delta) as StateShape)) {
      defineMember(joined, key, value);
    }
  }
  return JSON.stringify(joined);
}

/** Returns what a creation changes in shared states. */
export function writesOfCreation({
  state,
  delta,
  sharesState,
  events,
}: OutboxWrites['create']): Mutation['shared'] {
  const own = [JSON.parse(state) as StateShape, ...events.map(({ text }) => parseDelta(text))];
  return sharedWrites([...(sharesState ? own : []), JSON.parse(delta) as StateShape]);
}

/** Returns the delta of an event's text. A damaged event has none; readers of the event get the error. */
export function parseDelta(text: string): StateShape {
  const event = parseEventText(text) as
    { readonly actions?: { readonly stateDelta?: StateShape } | null } | undefined;
  return event?.actions?.stateDelta ?? {};
}
