import type { EventCount } from '../../model/values/event_count.js';

/** Above so many events, the next read has all. */
const MOST_COUNTED = 2 ** 20;

/**
 * Returns how many of the last events to read next if `last` were too few. Each read has a multiple of the one before, so
 * both the reads and the unused events stay few.
 *
 * @param least how many were read already, besides the last ones; as many more cost no more
 */
export function nextLast(last: EventCount, factor = 4, least = 0): EventCount {
  return last === 'all' || last > MOST_COUNTED ? 'all' : Math.max(last, least) * factor;
}
