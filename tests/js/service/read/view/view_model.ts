// Where the ends of views begin, computed without the core.
import { callId, responseId } from '../../../../../js/service/read/window.js';
import type { Event } from '../../../../../js/index.js';
import { partsOf } from '../../../../../js/values/model/event/parts.js';

/** Returns the last events of a whole view: at least `count`, if it has as many. */
export function endOf(events: readonly Event[], count: number, view: string): readonly Event[] {
  const start = Math.max(0, events.length - count);
  return events.slice(view === 'model' ? pairedStart(events, start) : start);
}

/**
 * Returns where the end of a view for models may begin so that no response in it lacks its call.
 *
 * @param start where it would begin otherwise; not above the result
 */
export function pairedStart(events: readonly Event[], start: number): number {
  const awaited = new Set<string>();
  let paired = events.length;
  for (let position = events.length - 1; position >= 0; position -= 1) {
    if (position < start && awaited.size === 0) break;
    const parts = partsOf(events[position]);
    for (const part of parts) awaited.add(responseId(part));
    for (const part of parts) awaited.delete(callId(part));
    awaited.delete('');
    paired = position;
  }
  // A response without a call must not widen the window to all events.
  return awaited.size === 0 ? paired : Math.max(0, start);
}
