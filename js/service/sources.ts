/**
 * The clock and the id generator that the service's options give. Their results are checked here,
 * since an invalid value would otherwise reach every record.
 */
import { isTime, MAX_TIMESTAMP } from '../model/values/time.js';
import { isId } from '../model/values/ids.js';
import { requireFunction } from '../errors/option_values.js';
import { describeValue } from '../errors/describe.js';
import { invalid } from '../errors/invalid.js';

/**
 * Returns a clock in milliseconds that fails with `invalid_argument` if the given clock returns no
 * valid time.
 */
export function checkedClock(clock: () => number): () => number {
  requireFunction('clock', clock);
  return () => {
    let time: unknown;
    // Like `ask`, but without its call, because every append reads the clock.
    try {
      time = clock();
    } catch (cause) {
      throw invalid('clock', 'threw', cause);
    }
    if (isTime(time)) return time;
    throw invalid(
      'clock',
      `must give milliseconds from 0 to ${MAX_TIMESTAMP}; it gave ${describeValue(time)}`,
    );
  };
}

/**
 * Returns an id generator that fails with `invalid_argument` if the given one returns no valid id.
 */
export function checkedIds(newId: () => string): () => string {
  requireFunction('newId', newId);
  return () => {
    const id: unknown = ask('newId', newId);
    if (isId(id)) return id;
    throw invalid(
      'newId',
      `must give well-formed text of 1 to 512 bytes; it gave ${describeValue(id)}`,
    );
  };
}

function ask<T>(option: string, source: () => T): T {
  try {
    return source();
  } catch (cause) {
    throw invalid(option, 'threw', cause);
  }
}
