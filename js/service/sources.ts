/**
 * The clock and the id generator that the service's options give. Their results are checked here,
 * since an invalid value would otherwise reach every record.
 */
import { isTime, MAX_TIMESTAMP } from '../values/model/values/time.js';
import { isId } from '../values/model/values/ids.js';
import { requireFunction } from '../values/errors/option_values.js';
import { describeValue } from '../values/errors/describe.js';
import { invalid } from '../values/errors/invalid.js';

/**
 * Returns a clock in milliseconds that fails with `invalid_argument` if the given clock returns no
 * valid time.
 */
export function checkedClock(clock: () => number): () => number {
  return checked('clock', clock, isTime, `milliseconds from 0 to ${MAX_TIMESTAMP}`);
}

/**
 * Returns an id generator that fails with `invalid_argument` if the given one returns no valid id.
 */
export function checkedIds(newId: () => string): () => string {
  return checked('newId', newId, isId, 'well-formed text of 1 to 512 bytes');
}

function checked<T>(
  option: string,
  source: () => unknown,
  isValid: (value: unknown) => value is T,
  rule: string,
): () => T {
  requireFunction(option, source);
  return () => {
    let value: unknown;
    try {
      value = source();
    } catch (cause) {
      throw invalid(option, 'threw', cause);
    }
    if (isValid(value)) return value;
    throw invalid(option, `must give ${rule}; it gave ${describeValue(value)}`);
  };
}
