/** A number of events, or all of a session. */
export type EventCount = number | 'all';

/** Returns whether so many events are at least as many as are needed. */
export function isEnough(count: EventCount, needed: EventCount): boolean {
  return count === 'all' || (needed !== 'all' && count >= needed);
}

/** Returns the larger of two numbers of events. */
export function mostOf(one: EventCount, other: EventCount): EventCount {
  return isEnough(one, other) ? one : other;
}
