/**
 * What a handle keeps of rewinds and of the seals of cancelled runs that it has missed. An append moves the handle's
 * revision past them, but a run that they have ended may still go on through the handle. So the appends of this run are
 * sent with the handle's position before the rewind or seal. The core then finds it again, and refuses them.
 */
import type { HandleRecord } from '../../core/handle/handle.js';
import { isFilled } from '../../core/history/marks.js';
import type { Event } from '../../values/model/event/event.js';
import type { Appended } from '../../core/storage/store.js';
import type { HandlePosition } from '../../core/write.js';
import type { EventToStore } from './event_to_store.js';
import type { ObservingHandle } from './waiting_appends.js';

/** Returns the position of a handle for an append of these events. */
export function positionFor(
  { session: { lastEventId }, record }: ObservingHandle,
  events: readonly EventToStore[],
): HandlePosition {
  const { createdRevision: created, revision, missedRewind } = record;
  if (missedRewind !== undefined) {
    const { position, undone } = missedRewind;
    if (events.some((taken) => mayContinue(taken, undone))) return position;
  }
  return Number.isNaN(created)
    ? { kind: 'lastEvent', lastEventId }
    : { kind: 'revision', created, revision, lastEventId };
}

/** Returns whether an event is of one of the invocations, or a summary of `@google/adk`, which names no invocation. */
function mayContinue({ snapshot }: EventToStore, undone: ReadonlySet<string>): boolean {
  // The caller may have changed the event since.
  const { invocationId, isCompacted } = JSON.parse(snapshot.text) as Event & {
    readonly isCompacted?: unknown;
  };
  return isFilled(invocationId) ? undone.has(invocationId) : isCompacted === true;
}

/**
 * Called after the commit of an append.
 *
 * @param position that of the append
 */
export function noteMissedRewind(
  record: HandleRecord,
  position: HandlePosition,
  { undone }: Appended,
): void {
  if (undone === undefined) return;
  // The core tells only the seals after the position. A run that goes on after all is decided by the core.
  const { position: before, undone: earlier } = record.missedRewind ?? { position, undone: [] };
  record.missedRewind = { position: before, undone: new Set([...earlier, ...undone]) };
}
