/** The writes of a copy: which belong to its creation, and its state after them. Reads and writes nothing. */
import type { EventSnapshot } from '../../model/event/snapshot.js';
import { isShared, REMOVED } from '../../state/scope.js';
import type { StateShape } from '../../state/state_shape.js';
import type { Creation } from '../records/session_record.js';

/** A write of an event of the copy that the remote has not confirmed. */
export interface UnsentEvent extends EventSnapshot {
  /** The local revision of the write. */
  readonly writtenAt: number;
  /** Whether it stands for earlier versions of an event that was written again. */
  readonly isEarlier?: boolean;
}

export interface RebaseParts {
  /** The remote's events that the copy gets, in the remote's order. */
  readonly remote: readonly EventSnapshot[];
  /** The remote's state with those events, with `user:` and `app:` keys. */
  readonly remoteState: StateShape;
  readonly unsent: readonly EventSnapshot[];
  /** The state of the copy, with `user:` and `app:` keys. */
  readonly localState: StateShape;
  /** The `user:` and `app:` keys that unsent changes elsewhere have written. They keep their local values. */
  readonly pinned: ReadonlySet<string>;
  /** Whether two JSON texts are equal as values. */
  readonly isSame: (one: string, other: string) => boolean;
}

export interface Rebased {
  /** The remote's events, then the unsent ones. */
  readonly events: readonly EventSnapshot[];
  /** How many of the events, at the end, are unsent. */
  readonly unsentCount: number;
  /** A JSON object: the change from the state of the copy to the new state. */
  readonly delta: string;
}

/**
 * Puts the remote's events first and the unsent ones behind, and their deltas on top of the remote's state. An unsent
 * event that the remote has, because only the answer was lost, is no longer unsent.
 */
export function rebase(parts: RebaseParts): Rebased {
  const { remote, unsent, localState, isSame } = parts;
  const texts = new Map(remote.map(({ id, text }) => [id, text]));
  const newest = new Map(unsent.map(({ id, text }) => [id, text]));
  const stillUnsent = unsent.filter(({ id }) => {
    const stored = texts.get(id);
    return stored === undefined || !isSame(stored, newest.get(id)!);
  });
  const state = targetState(parts, stillUnsent);
  return {
    events: [...remote, ...stillUnsent],
    unsentCount: stillUnsent.length,
    delta: JSON.stringify(difference(localState, state)),
  };
}

/**
 * Returns the state of a copy after the outbox has changed its unsent writes. Shared keys keep their local values,
 * except those that the change writes.
 *
 * @param base the state before the writes; its shared keys are ignored
 * @param writes the unsent writes after the change, in order
 * @param changed the shared keys that the change writes
 */
export function stateAfterEdit(
  localState: StateShape,
  base: StateShape,
  writes: readonly Pick<EventSnapshot, 'delta'>[],
  changed: ReadonlySet<string>,
): StateShape {
  const state = copyOf({});
  for (const [key, value] of Object.entries(base)) if (!isShared(key)) state[key] = value;
  for (const [key, value] of Object.entries(localState)) if (isShared(key)) state[key] = value;
  for (const { delta } of writes) {
    for (const [key, value] of Object.entries(delta)) {
      if (!isShared(key) || changed.has(key)) put(state, key, value);
    }
  }
  return state;
}

function targetState(
  { remoteState, localState, pinned }: RebaseParts,
  unsent: readonly EventSnapshot[],
): StateShape {
  const state = copyOf(remoteState);
  for (const { delta } of unsent) {
    for (const [key, value] of Object.entries(delta)) put(state, key, value);
  }
  // Last: what has written them elsewhere may be newer than these events.
  for (const key of pinned) {
    put(state, key, Object.hasOwn(localState, key) ? localState[key] : REMOVED);
  }
  return state;
}

/** Returns what the versions of an event have written, without the keys that other events have written since. */
export function lastWrittenBy(
  eventId: string,
  writes: readonly Pick<EventSnapshot, 'id' | 'delta'>[],
): StateShape {
  const last = copyOf({});
  for (const { id, delta } of writes) {
    if (id === eventId) Object.assign(last, delta);
    else for (const key in delta) delete last[key];
  }
  return last;
}

/** Returns the delta that makes one state of another. Values are compared by their JSON texts. */
export function difference(from: StateShape, to: StateShape): StateShape {
  const delta = copyOf({});
  for (const [key, value] of Object.entries(to)) {
    const isSame = Object.hasOwn(from, key) && JSON.stringify(from[key]) === JSON.stringify(value);
    if (!isSame) delta[key] = value;
  }
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) delta[key] = REMOVED;
  return delta;
}

/** The part of a write that changes the state. */
type StateWrite = Pick<EventSnapshot, 'delta'>;

/** Splits the writes of a copy: first those of the events that it was created with, then the later ones. */
export function splitByCreation<Write extends Pick<EventSnapshot, 'id'>>(
  writes: readonly Write[],
  { events: count, dropped = [] }: Pick<Creation, 'events' | 'dropped'>,
): { readonly first: readonly Write[]; readonly later: readonly Write[] } {
  const ids = new Set(writes.slice(0, count).map(({ id }) => id));
  // An event is recorded as dropped before it is removed, so the copy may still have it.
  const end = count - dropped.filter((id) => !ids.has(id)).length;
  return { first: writes.slice(0, end), later: writes.slice(end) };
}

/**
 * Returns everything that has written the state, in order: the creation, and the writes. With `sharedState: 'keep'`,
 * the shared keys of the initial state and of the first events are left out: the creation does not write them.
 *
 * @param creation `undefined` if the remote has the session, or if the record of its creation is lost
 */
export function stateWrites(
  writes: readonly (StateWrite & Pick<EventSnapshot, 'id'>)[],
  creation: Creation | undefined,
): readonly StateWrite[] {
  if (creation === undefined) return writes;
  const { sharesState } = creation;
  const { first, later } = splitByCreation(writes, creation);
  const [state, delta] = [creation.state, creation.delta].map((text) => {
    return { delta: JSON.parse(text) as StateShape };
  }) as [StateWrite, StateWrite];
  const creationWrites = [state, ...first];
  return [...(sharesState ? creationWrites : creationWrites.map(withoutShared)), delta, ...later];
}

/** Returns the shared keys that events write. */
export function sharedKeysOf(events: readonly Pick<EventSnapshot, 'delta'>[]): Set<string> {
  return new Set(events.flatMap(({ delta }) => Object.keys(delta).filter(isShared)));
}

/** Without a prototype, so that `__proto__` is an ordinary key. */
function copyOf(state: StateShape): StateShape {
  return Object.assign(Object.create(null) as StateShape, state);
}

function put(state: StateShape, key: string, value: unknown): void {
  if (value === REMOVED) delete state[key];
  else state[key] = value;
}

function withoutShared({ delta }: StateWrite): StateWrite {
  return { delta: Object.fromEntries(Object.entries(delta).filter(([key]) => !isShared(key))) };
}
