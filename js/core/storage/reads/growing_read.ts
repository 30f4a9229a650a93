import { after, type MaybePromise } from '../../call/call.js';
import type { EventCount } from '../../../values/model/values/event_count.js';

/** Above so many events, the next read has all. */
const MOST_COUNTED = 2 ** 20;

/** What a read has decided. */
export interface Decision<T> {
  readonly result: T;
}

export function decided<T>(result: T): Decision<T> {
  return { result };
}

/** How a read grows. */
interface Growth {
  /** Default: 4. */
  readonly factor?: number;
  /** How many events were read already, besides the last ones; as many more cost no more. */
  readonly least?: number;
}

/**
 * Reads more and more of the last events, until they decide the result.
 *
 * @param first how many of the last events the first attempt reads
 * @param attempt returns `undefined` if the events do not decide it. All events do
 */
export function growingRead<T>(
  first: EventCount,
  attempt: (last: EventCount) => MaybePromise<Decision<T> | undefined>,
  growth: Growth = {},
): MaybePromise<T> {
  return after(attempt(first), (decision) =>
    decision === undefined
      ? growingRead(nextLast(first, growth), attempt, growth)
      : decision.result,
  );
}

/**
 * Returns how many of the last events to read next if `last` were too few. Each read has a multiple of the one before, so
 * both the reads and the unused events stay few.
 */
export function nextLast(last: EventCount, { factor = 4, least = 0 }: Growth = {}): EventCount {
  return last === 'all' || last > MOST_COUNTED ? 'all' : Math.max(last, least) * factor;
}
