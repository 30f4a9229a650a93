/** The times of session files, and the compactions of adk-go. */
import { SessionError } from '../../values/errors/errors.js';
import {
  formatPath,
  type PathSegment,
  isPlainObject,
  type JsonObject,
} from '../../values/json/rules.js';
import { MAX_TIMESTAMP } from '../../values/model/values/time.js';
import { parseMilliseconds } from '../../values/python/micros.js';
import {
  type TimeUnit,
  toAllMilliseconds,
  unitOf,
  convertTimes,
} from '../../values/python/time.js';
import { describeKind, malformedFile, type RecordedSession } from './recorded_session.js';

/** The parts of a session that have times, in milliseconds. */
export interface SessionTimes {
  readonly events: readonly Record<string, unknown>[];
  readonly lastUpdateTime: number;
}

/**
 * Converts the times of a file to milliseconds. A missing `lastUpdateTime` becomes the latest event's time,
 * or 0. If no event has a time, each gets `lastUpdateTime`.
 *
 * Without a stated unit, the events have one, and `lastUpdateTime` its own: adk-java writes milliseconds in its events,
 * and seconds in `lastUpdateTime`. A number that may be either has the unit of the other.
 *
 * @param statedUnit the unit of the file's times; `undefined`: inferred from the numbers
 * @throws SessionError `invalid_argument` with the path of an invalid time, or if its unit cannot be inferred
 */
export function convertSessionTimes(
  recorded: RecordedSession,
  statedUnit: TimeUnit | undefined,
): SessionTimes {
  const ownUnit = numberUnit(recorded.lastUpdateTime);
  const unit = statedUnit ?? unitOfEvents(recorded, ownUnit);
  const convertNumber = (
    time: number,
    path: readonly PathSegment[],
    timeUnit: TimeUnit | undefined,
  ): number => {
    // 0 is the same time in both units.
    if (timeUnit === undefined && time !== 0) throw unknownUnit(time, path);
    return timeUnit === 'seconds' ? toAllMilliseconds(time) : time;
  };
  const convertRequired = (
    value: unknown,
    path: readonly PathSegment[],
    timeUnit = unit,
  ): number => {
    const time =
      typeof value === 'number' ? convertNumber(value, path, timeUnit) : dateTimeOf(value);
    if (time === undefined)
      throw malformedFile(
        path,
        `must be a number or an RFC 3339 time; it is ${describeKind(value)}`,
      );
    if (time >= 0 && time <= MAX_TIMESTAMP) return time;
    throw malformedFile(
      path,
      `must be a time from 1970 to 9999 in the file's unit; it is ${String(value)}`,
    );
  };
  const { lastUpdateTime } = recorded;
  const convertLast = (path: readonly PathSegment[]): number =>
    convertRequired(lastUpdateTime, path, statedUnit ?? ownUnit ?? unit);
  // The REST of adk-go writes no times of events.
  const hasTimes = recorded.events.some(({ timestamp }) => timestamp !== undefined);
  let latest = 0;
  const events = recorded.events.map((event, at) => {
    return convertTimes(event, (value, place) => {
      const path = ['events', at, ...place];
      if (place[0] === 'timestamp') {
        const time = hasTimes ? convertRequired(value, path) : convertLast(path);
        latest = Math.max(latest, time);
        return time;
      }
      if (typeof value === 'number') return convertNumber(value, path, unit);
      // An append accepts any JSON value here, so a value that is no time is kept as it is.
      return (place[0] === 'actions' ? dateTimeOf(value) : undefined) ?? value;
    });
  });
  const timeOf = (time: unknown): number | undefined =>
    typeof time === 'number' ? convertNumber(time, ['events'], unit) : dateTimeOf(time);
  const applied = applyExcludedEvents(events, timeOf);
  if (lastUpdateTime === undefined) return { events: applied, lastUpdateTime: latest };
  return { events: applied, lastUpdateTime: convertLast(['lastUpdateTime']) };
}

/** Returns the milliseconds of a text such as `2026-11-25T08:30:00.5Z`, which Go writes for a time. */
function dateTimeOf(value: unknown): number | undefined {
  const isDateTime = typeof value === 'string' && /T.*(Z|[+-]\d\d:\d\d)$/.test(value);
  return isDateTime ? parseMilliseconds(value) : undefined;
}

/**
 * Returns the unit of the events' times; `undefined` if no number tells it. No file has seconds in its events and
 * milliseconds in `lastUpdateTime`. Otherwise the latest event tells: milliseconds of 1970 look like seconds of today.
 *
 * @param ownUnit that of `lastUpdateTime`, as far as its number tells
 */
function unitOfEvents(
  { events }: RecordedSession,
  ownUnit: TimeUnit | undefined,
): TimeUnit | undefined {
  if (ownUnit === 'milliseconds') return ownUnit;
  let latest = 0;
  for (const { timestamp } of events) {
    if (typeof timestamp === 'number' && timestamp > latest) latest = timestamp;
  }
  return unitOf(latest) ?? ownUnit;
}

function numberUnit(time: unknown): TimeUnit | undefined {
  return typeof time === 'number' ? unitOf(time) : undefined;
}

function unknownUnit(time: number, path: readonly PathSegment[]): SessionError {
  return new SessionError(
    'invalid_argument',
    `The unit of the file's times is ambiguous: ${formatPath(path)} is ${time}. ` +
      `State it: timeUnit: 'seconds' or 'milliseconds'.`,
    { key: 'timeUnit' },
  );
}

// Compactions of adk-go: they name the events of their range that the summary leaves out.

/** A time in microseconds: adk-go compares no further digits, since databases keep no more. */
const microsecond = (time: number): number => Math.floor(time * 1000);

/**
 * Returns events whose compactions have the form of Python, which knows no exceptions: the longest part of the range
 * without an excluded event. The summarised events outside of that part are shown besides the summary. If no part
 * remains, the summary hides nothing: its range ends before it starts.
 *
 * @param timeOf returns the milliseconds of a time of the file; `undefined` if it is none
 */
function applyExcludedEvents(
  events: readonly JsonObject[],
  timeOf: (time: unknown) => number | undefined,
): JsonObject[] {
  return events.map((event) => {
    const { actions } = event;
    if (!isPlainObject(actions) || !isPlainObject(actions.compaction)) return event;
    const { excludedEvents, ...compaction } = actions.compaction;
    if (!Array.isArray(excludedEvents)) return event;
    const excluded = new Set(excludedEvents.map((reference) => nameOf(reference, timeOf)));
    const isExcluded = ({ invocationId, timestamp }: JsonObject): boolean =>
      excluded.has(nameOf({ invocationId, timestamp }, (time) => time as number));
    const range = longestRange(events, compaction, isExcluded);
    return { ...event, actions: { ...actions, compaction: { ...compaction, ...range } } };
  });
}

function nameOf(
  reference: unknown,
  timeOf: (time: unknown) => number | undefined,
): string | undefined {
  if (!isPlainObject(reference)) return undefined;
  const time = timeOf(reference.timestamp);
  return time === undefined
    ? undefined
    : JSON.stringify([reference.invocationId, microsecond(time)]);
}

/** The times of the first and the last event of a range. */
interface Range {
  readonly startTimestamp: number;
  readonly endTimestamp: number;
}

function longestRange(
  events: readonly JsonObject[],
  { startTimestamp: start, endTimestamp: end }: JsonObject,
  isExcluded: (event: JsonObject) => boolean,
): Range | undefined {
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  const covered = events
    .map((event) => ({ time: event.timestamp as number, isExcluded: isExcluded(event) }))
    .filter(({ time }) => time >= start && time <= end);
  if (!covered.some(({ isExcluded }) => isExcluded)) return undefined;
  // Events of one time are hidden together, so one excluded event keeps them all.
  const borders = new Set(covered.filter(({ isExcluded }) => isExcluded).map(({ time }) => time));
  let longest: number[] = [];
  let part: number[] = [];
  for (const { time } of covered.sort((one, other) => one.time - other.time)) {
    part = borders.has(time) ? [] : [...part, time];
    if (part.length > longest.length) longest = part;
  }
  return {
    startTimestamp: longest[0] ?? end + 1,
    endTimestamp: longest.at(-1) ?? end,
  };
}
