/** Tells the events that an unsent session was created with from later ones. Reads and writes nothing. */
import type { EventSnapshot } from '../../model/event/snapshot.js';
import { isShared } from '../../state/scope.js';
import type { StateShape } from '../../state/state_shape.js';
import type { Creation } from '../records/session_record.js';

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

function withoutShared({ delta }: StateWrite): StateWrite {
  return { delta: Object.fromEntries(Object.entries(delta).filter(([key]) => !isShared(key))) };
}
