import type { EventCount } from '../../../values/model/values/event_count.js';

/** Above so many events, the next read has all. */
const MOST_COUNTED = 2 ** 20;

/**
 * Returns how many of the last events to read next if `last` were too few to decide a result. All events decide it.
 * Each read has a multiple of the one before, so both the reads and the unused events stay few.
 */
export function nextLast(last: EventCount, factor = 4): EventCount {
  return last === 'all' || last > MOST_COUNTED ? 'all' : last * factor;
}
