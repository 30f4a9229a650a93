import type { EventCount } from '../../../values/model/values/event_count.js';

/** Above so many events, the next read has all. */
const MOST_COUNTED = 2 ** 20;

/** How a read grows. */
interface Growth {
  /** Default: 4. */
  readonly factor?: number;
  /** How many events were read already, besides the last ones; as many more cost no more. */
  readonly least?: number;
}

/**
 * Returns how many of the last events to read next if `last` were too few to decide a result. All events decide it.
 * Each read has a multiple of the one before, so both the reads and the unused events stay few.
 */
export function nextLast(last: EventCount, { factor = 4, least = 0 }: Growth = {}): EventCount {
  return last === 'all' || last > MOST_COUNTED ? 'all' : Math.max(last, least) * factor;
}
