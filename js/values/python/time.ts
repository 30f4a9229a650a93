/**
 * Converts times between milliseconds, which JavaScript uses, and seconds, which Python uses.
 *
 * Conversions are exact to the microsecond, which is the resolution of Python's clock. They return the
 * nearest double, so a time that is converted to and fro is the same number again. A plain multiplication is
 * not: 1741218414.968405 * 1000 is 1741218414968.4048.
 */
import { MAX_TIMESTAMP } from '../model/values/time.js';
import { isPlainObject } from '../json/rules.js';

/** The unit of a time since 1970. */
export type TimeUnit = 'milliseconds' | 'seconds';

/**
 * Up to this time, in the year 2242, doubles distinguish microseconds, both as seconds and as milliseconds.
 * Later times are converted to the millisecond.
 */
const EXACT_SECONDS = 2 ** 33;

/** Converts milliseconds to seconds. */
export function toSeconds(milliseconds: number): number {
  if (milliseconds >= EXACT_SECONDS * 1e3) return Math.round(milliseconds) / 1e3;
  return microseconds(milliseconds, 1e3) / 1e6;
}

/** Converts seconds to milliseconds. */
export function toMilliseconds(seconds: number): number {
  if (seconds >= EXACT_SECONDS) return Math.round(seconds * 1e3);
  return microseconds(seconds, 1e6) / 1e3;
}

/** Converts milliseconds to seconds, and keeps the digits beyond the microsecond that a double can hold. */
export function toAllSeconds(milliseconds: number): number {
  const seconds = toSeconds(milliseconds);
  return toMilliseconds(seconds) === milliseconds ? seconds : milliseconds / 1e3;
}

/** Converts seconds to milliseconds, and keeps the digits beyond the microsecond that a double can hold. */
export function toAllMilliseconds(seconds: number): number {
  const milliseconds = toMilliseconds(seconds);
  return toSeconds(milliseconds) === seconds ? milliseconds : seconds * 1e3;
}

/** Converts the whole and the fraction separately. A single product is off by one from the year 2041 on. */
function microseconds(time: number, factor: number): number {
  const whole = Math.floor(time);
  return whole * factor + Math.round((time - whole) * factor);
}

/** The years 2001 to 2100. No session is older, and a clock that is ahead may give a later time than now. */
const FIRST_PLAUSIBLE_SECOND = 1e9;
const LAST_PLAUSIBLE_SECOND = 4102444800;

/**
 * Returns the unit of a recorded time, if the number alone tells it.
 *
 * A number beyond the last second of the year 9999 must be milliseconds. A smaller number is taken for
 * seconds if it is a plausible time of a recording; as milliseconds it would lie in January or February of
 * 1970. Any other number may be either; most of these are times made up by tests.
 *
 * @returns `undefined` if the number does not tell the unit
 */
export function unitOf(time: number): TimeUnit | undefined {
  if (time > MAX_TIMESTAMP / 1e3) return 'milliseconds';
  return time >= FIRST_PLAUSIBLE_SECOND && time < LAST_PLAUSIBLE_SECOND ? 'seconds' : undefined;
}

/** Returns the replacement of a time. `path` is the time's place in the event. */
export type TimeConverter = (time: unknown, path: readonly string[]) => unknown;

/**
 * Returns a copy of an event with its times replaced by the results of `turn`. Copies only the objects that
 * hold times.
 *
 * @param event with camelCase names
 */
export function convertTimes(
  event: Readonly<Record<string, unknown>>,
  convertTime: TimeConverter,
): Record<string, unknown> {
  const names = event.isCompacted === true ? COMPACTED_EVENT_TIMES : EVENT_TIMES;
  const converted = convertMembers(event, names, convertTime);
  const { actions } = event;
  if (!isPlainObject(actions) || !isPlainObject(actions.compaction)) return converted;
  const compaction = convertMembers(actions.compaction, COMPACTION_TIMES, (time, path) =>
    convertTime(time, ['actions', 'compaction', ...path]),
  );
  return { ...converted, actions: { ...actions, compaction } };
}

/** Returns a copy of an event with its times in milliseconds instead of seconds. */
export function eventInMilliseconds(
  event: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return convertTimes(event, timeInMilliseconds);
}

/** Converts seconds to milliseconds. A value that is not a number stays as it is. */
export function timeInMilliseconds(time: unknown): unknown {
  return typeof time === 'number' ? toMilliseconds(time) : time;
}

const EVENT_TIMES = ['timestamp'];
/**
 * Times of an event that `@google/adk` compacted from others. In any other event `startTime` and `endTime`
 * are a user's own.
 */
const COMPACTED_EVENT_TIMES = ['timestamp', 'startTime', 'endTime'];
/** Times of a compaction in Python. */
const COMPACTION_TIMES = ['startTimestamp', 'endTimestamp'];

function convertMembers(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
  convertTime: TimeConverter,
): Record<string, unknown> {
  const converted = { ...object };
  for (const name of names) {
    if (Object.hasOwn(object, name)) converted[name] = convertTime(object[name], [name]);
  }
  return converted;
}
