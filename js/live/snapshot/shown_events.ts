import type { Event } from '../../model/event/event.js';
import type { Pages } from './event_list.js';

/** The events that a snapshot shows: the stored ones, then those under way or failed. */
export interface ShownEvents {
  readonly stored: Pages;
  readonly unsent: readonly Event[];
  readonly pages: Pages;
  readonly events: readonly Event[];
}

/** Returns `last` if nothing has changed since. */
export function showEvents(
  last: ShownEvents | undefined,
  stored: Pages,
  unsent: readonly Event[],
): ShownEvents {
  if (last?.stored === stored && isSameArray(last.unsent, unsent)) return last;
  const pages = unsent.length === 0 ? stored : [...stored, unsent];
  let events: readonly Event[] | undefined;
  return {
    stored,
    unsent,
    pages,
    // Most snapshots of a long session are never asked for one array of all events.
    get events() {
      return (events ??= ([] as Event[]).concat(...pages));
    },
  };
}

function isSameArray(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, position) => value === other[position]);
}
