import { invalidValue } from '../../errors/invalid.js';
import { takeOptions } from '../../call/call.js';

/**
 * Limits the events of reads that ask for no window of their own.
 * A framework asks for the whole session at each turn.
 */
export interface HistoryOptions {
  /**
   * The number of last events, a whole number from 0 up. Earlier events come with them back to a
   * message of the user, so that no turn is cut. If an agent runs by itself for long, these are all
   * events since the last message.
   *
   * The read reaches further back if
   * - a function's response would otherwise lack its call;
   * - a workflow has stopped for an answer, which the next message may be;
   * - a compactor's summary is followed by events that it does not cover.
   *
   * A compactor's summary is not included if it is before all these events.
   */
  numRecentEvents: number;
}

/** Events to read beyond the wanted number. Most turns begin within so many events. */
export const EXTRA_EVENTS = 16;

/** @throws SessionError `invalid_argument` if `numRecentEvents` is not a whole number from 0 up */
export function requireNumRecentEvents(options: unknown): number {
  if (typeof options !== 'object' || options === null) {
    throw invalidValue('history', 'must be an object with numRecentEvents', options);
  }
  const given = takeOptions(options as Partial<HistoryOptions>, 'history.');
  const { numRecentEvents: recent } = given;
  // The number must still be a safe integer after the margin is added.
  if (
    Number.isSafeInteger(recent) &&
    Number.isSafeInteger(recent! + EXTRA_EVENTS) &&
    recent! >= 0
  ) {
    return recent!;
  }
  throw invalidValue('history.numRecentEvents', 'must be a whole number from 0 up', recent);
}
