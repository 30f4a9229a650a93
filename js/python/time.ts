/**
 * Times in milliseconds, as JavaScript has them, and in seconds, as Python does.
 *
 * Conversions are exact to the microsecond, which is as fine as Python's clock is, and give the number
 * that stands nearest to it, so that a time which went to and fro is the same number again:
 * 1741218414.968405 * 1000 alone is 1741218414968.4048.
 */
import { isPlainObject } from '../json/rules.js';
import { MAX_TIMESTAMP } from '../model/snapshot.js';

/**
 * What times are counted in, since 1970.
 *
 * @example
 * ```ts
 * import type { TimeUnit } from 'adk-session-wasm/files';
 *
 * const ofPython: TimeUnit = 'seconds';
 * ```
 */
export type TimeUnit = 'milliseconds' | 'seconds';

/**
 * Until here, in the year 2242, doubles tell microseconds apart, both as seconds and as milliseconds.
 * Later times are converted to the millisecond.
 */
const EXACT_SECONDS = 2 ** 33;

/**
 * Milliseconds as seconds.
 *
 * @example
 * ```ts
 * toSeconds(1741218414968.405); // 1741218414.968405
 * ```
 */
export function toSeconds(milliseconds: number): number {
  if (milliseconds >= EXACT_SECONDS * 1e3) return Math.round(milliseconds) / 1e3;
  return microseconds(milliseconds, 1e3) / 1e6;
}

/**
 * Seconds as milliseconds.
 *
 * @example
 * ```ts
 * toMilliseconds(1741218414.968405); // 1741218414968.405
 * ```
 */
export function toMilliseconds(seconds: number): number {
  if (seconds >= EXACT_SECONDS) return Math.round(seconds * 1e3);
  return microseconds(seconds, 1e6) / 1e3;
}

/** Of whole and fraction apart, since a product of both is off by one from the year 2041 on. */
function microseconds(time: number, inOne: number): number {
  const whole = Math.floor(time);
  return whole * inOne + Math.round((time - whole) * inOne);
}

/** The years 2001 to 2100: no session is older, and whoever has a clock that is ahead may say so. */
const FIRST_SECOND = 1e9;
const LAST_SECOND = 4102444800;

/**
 * Which unit a recorded time is in, if that can be told from the number alone.
 *
 * More than the last second of the year 9999 is no seconds. Less is the time of a recording if it is
 * seconds, and January or February of 1970 if it is milliseconds. What is left may be either: times
 * that a test has made up, mostly.
 *
 * @returns `undefined` if it cannot be told
 *
 * @example
 * ```ts
 * unitOf(1.7e9); // 'seconds'
 * unitOf(1.7e12); // 'milliseconds'
 * unitOf(1000); // undefined
 * ```
 */
export function unitOf(time: number): TimeUnit | undefined {
  if (time > MAX_TIMESTAMP / 1e3) return 'milliseconds';
  return time >= FIRST_SECOND && time < LAST_SECOND ? 'seconds' : undefined;
}

/** Gives what shall stand in the place of a time, which is at `path`, counted from the event. */
export type TurnTime = (time: unknown, path: readonly string[]) => unknown;

/**
 * An event with its times turned, in a copy of what holds them.
 *
 * @param event with the names of our types
 *
 * @example
 * ```ts
 * const event = { timestamp: 1000, actions: {} };
 * withTimes(event, (time) => (typeof time === 'number' ? toSeconds(time) : time));
 * ```
 */
export function withTimes(
  event: Readonly<Record<string, unknown>>,
  turn: TurnTime,
): Record<string, unknown> {
  const names = event.isCompacted === true ? COMPACTED_EVENT_TIMES : EVENT_TIMES;
  const turned = turnedMembers(event, names, turn);
  const { actions } = event;
  if (!isPlainObject(actions) || !isPlainObject(actions.compaction)) return turned;
  const compaction = turnedMembers(actions.compaction, COMPACTION_TIMES, (time, path) =>
    turn(time, ['actions', 'compaction', ...path]),
  );
  return { ...turned, actions: { ...actions, compaction } };
}

const EVENT_TIMES = ['timestamp'];
/** Of an event that `@google/adk` made of others. On any other they are fields of somebody's own. */
const COMPACTED_EVENT_TIMES = ['timestamp', 'startTime', 'endTime'];
/** The same in Python. */
const COMPACTION_TIMES = ['startTimestamp', 'endTimestamp'];

function turnedMembers(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
  turn: TurnTime,
): Record<string, unknown> {
  const turned = { ...object };
  for (const name of names) {
    if (Object.hasOwn(object, name)) turned[name] = turn(object[name], [name]);
  }
  return turned;
}
