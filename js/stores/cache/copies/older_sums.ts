/** The sums of the events that a copy lacks, because they are older. New events do not change them. */
import { addSums, type EventSums, sumsOf } from '../../../core/storage/reads/session_info.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { Copy } from '../records/records.js';

/** Returns a copy that has got some of its older events. */
export function withoutOlder(copy: Copy, events: readonly { readonly text: string }[]): Copy {
  const { olderSums, hasOlder } = copy;
  if (olderSums === undefined || !hasOlder) return { ...copy, olderSums: undefined };
  const sums = olderSums.sums && addSums(olderSums.sums, sumsOfTexts(events), -1);
  return { ...copy, olderSums: { eventCount: olderSums.eventCount - events.length, sums } };
}

/** Returns a copy after an older event was replaced. */
export function withReplacedOlder(copy: Copy): Copy {
  const { olderSums } = copy;
  return { ...copy, olderSums: olderSums && { eventCount: olderSums.eventCount } };
}

/** Returns the sums of events. */
export function sumsOfTexts(events: readonly { readonly text: string }[]): EventSums {
  return sumsOf(events.flatMap(({ text }) => parseEventText(text) ?? []));
}
