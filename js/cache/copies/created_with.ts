/** What a session whose creation waits was created with, and what was written to it since. Reads and writes nothing. */
import type { EventSnapshot } from '../../model/event/snapshot.js';
import { isShared } from '../../state/scope.js';
import type { StateShape } from '../../state/state_shape.js';
import type { Creation } from '../records/session_record.js';

/** The part of a write that changes the state. */
type StateWrite = Pick<EventSnapshot, 'delta'>;

/** Splits the writes of a copy into those of the events that it was created with, and the later ones. */
export function splitByCreation<Write extends Pick<EventSnapshot, 'id'>>(
  writes: readonly Write[],
  { events: count, dropped = [] }: Pick<Creation, 'events' | 'dropped'>,
): { readonly first: readonly Write[]; readonly later: readonly Write[] } {
  const ids = new Set(writes.slice(0, count).map(({ id }) => id));
  // An event is noted before it is dropped, so it may still be there.
  const end = count - dropped.filter((id) => !ids.has(id)).length;
  return { first: writes.slice(0, end), later: writes.slice(end) };
}

/**
 * Returns what has changed the state since there was none, in order: the creation's own changes, and the writes. A
 * creation with `sharedState: 'keep'` keeps back the shared keys of its state and of its events.
 *
 * @param creation `undefined`: the remote has the session, or its creation is lost
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
  const made = [state, ...first];
  return [...(sharesState ? made : made.map(withoutShared)), delta, ...later];
}

function withoutShared({ delta }: StateWrite): StateWrite {
  return { delta: Object.fromEntries(Object.entries(delta).filter(([key]) => !isShared(key))) };
}
