/**
 * The time and fresh ids, as the service's options give them. Checked here, once for all: a stray
 * value would otherwise reach every record.
 */
import { SessionError } from '../errors/errors.js';
import { isId } from '../model/ids.js';
import { kindOf } from '../json/rules.js';
import { isTime, MAX_TIMESTAMP } from '../model/snapshot.js';

/** The clock, in milliseconds; `invalid_argument` where it gives no time. */
export function checkedClock(clock: () => number): () => number {
  return () => {
    let time: unknown;
    // As `ask` does it, without the call: every append asks.
    try {
      time = clock();
    } catch (cause) {
      throw invalid('clock', 'threw', cause);
    }
    if (isTime(time)) return time;
    const shown = typeof time === 'number' ? String(time) : kindOf(time);
    throw invalid('clock', `must give milliseconds from 0 to ${MAX_TIMESTAMP}; it gave ${shown}`);
  };
}

/** The maker of ids; `invalid_argument` where it gives none. */
export function checkedIds(newId: () => string): () => string {
  return () => {
    const id: unknown = ask('newId', newId);
    if (isId(id)) return id;
    const shown = typeof id === 'string' ? JSON.stringify(id.slice(0, 40)) : kindOf(id);
    throw invalid('newId', `must give well-formed text of 1 to 512 bytes; it gave ${shown}`);
  };
}

function ask<T>(option: string, source: () => T): T {
  try {
    return source();
  } catch (cause) {
    throw invalid(option, 'threw', cause);
  }
}

function invalid(option: string, rule: string, cause?: unknown): SessionError {
  return new SessionError('invalid_argument', `The service's ${option} ${rule}.`, {
    key: option,
    cause,
  });
}
