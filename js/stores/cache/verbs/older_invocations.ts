import { rewindTargetOf } from '../../../core/history/marks.js';
import type { Event } from '../../../values/model/event/event.js';
import type { SessionView } from '../overlay/session_overlay.js';

/**
 * Returns the invocations that rewinds in a copy name, and that begin before the copy, or may. An invocation may have
 * events before the copy and in it, so the remote tells where it begins. For a rewind of this device that the remote
 * has not answered, it counts whether the copy has events of the invocation.
 *
 * @param events all of the copy
 */
export function olderInvocations(
  events: readonly Event[],
  { copy, overlay }: SessionView,
): string[] {
  const starts = new Map(
    copy?.rewindStarts?.map(({ invocationId, eventId }) => [invocationId, eventId]),
  );
  const ids = new Set(events.map(({ id }) => id));
  const here = new Set<unknown>();
  const older = new Set<string>();
  for (const event of events) {
    here.add(event.invocationId);
    const target = rewindTargetOf(event);
    if (target === undefined) continue;
    const start = starts.get(target);
    const isHere = starts.has(target)
      ? start === undefined || ids.has(start)
      : overlay.events.has(event.id) && here.has(target);
    if (!isHere) older.add(target);
  }
  return [...older];
}
