import { MAX_TIMESTAMP } from '../../model/values/time.js';
import { type TimeUnit, toAllMilliseconds, unitOf, convertTimes } from '../../python/time.js';
import { parseMilliseconds } from '../../python/micros.js';
import { SessionError } from '../../errors/errors.js';
import { formatPath, type PathSegment } from '../../json/path.js';
import { describeKind, malformedFile } from './malformed_file.js';
import type { RecordedSession } from './recorded_session.js';

/** The parts of a session that have times, in milliseconds. */
export interface SessionTimes {
  readonly events: readonly Record<string, unknown>[];
  readonly lastUpdateTime: number;
}

/**
 * Converts the times of a file to milliseconds. A missing `lastUpdateTime` becomes the latest event's time,
 * or 0. If no event has a time, each gets `lastUpdateTime`.
 *
 * @param statedUnit the unit of the file's times; `undefined`: inferred from the numbers
 * @throws SessionError `invalid_argument` with the path of an invalid time, or if the unit cannot be inferred
 */
export function convertSessionTimes(
  recorded: RecordedSession,
  statedUnit: TimeUnit | undefined,
): SessionTimes {
  const units = statedUnit === undefined ? inferUnits(recorded) : unitForAll(statedUnit);
  // The REST of adk-go writes no times of events.
  const hasTimes = recorded.events.some(({ timestamp }) => timestamp !== undefined);
  let latest = 0;
  const events = recorded.events.map((event, at) => {
    return convertTimes(event, (value, path) => {
      if (path[0] !== 'timestamp') return convertActionTime(value, units.events);
      const given = hasTimes ? value : recorded.lastUpdateTime;
      const time = convertRequired(given, units.events, ['events', at, ...path]);
      latest = Math.max(latest, time);
      return time;
    });
  });
  const { lastUpdateTime } = recorded;
  if (lastUpdateTime === undefined) return { events, lastUpdateTime: latest };
  return {
    events,
    lastUpdateTime: convertRequired(lastUpdateTime, units.lastUpdateTime, ['lastUpdateTime']),
  };
}

/** An append accepts any JSON value in `actions`, so a value that is not a number is kept as it is. */
function convertActionTime(value: unknown, unit: TimeUnit): unknown {
  return typeof value === 'number' ? convertTime(value, unit) : value;
}

function convertTime(time: number, unit: TimeUnit): number {
  return unit === 'seconds' ? toAllMilliseconds(time) : time;
}

function convertRequired(value: unknown, unit: TimeUnit, path: readonly PathSegment[]): number {
  const time = typeof value === 'number' ? convertTime(value, unit) : dateTimeOf(value);
  if (time === undefined)
    throw malformedFile(path, `must be a number or an RFC 3339 time; it is ${describeKind(value)}`);
  if (time >= 0 && time <= MAX_TIMESTAMP) return time;
  throw malformedFile(
    path,
    `must be a time from 1970 to 9999; it is ${String(value)} ${unit}; state another timeUnit`,
  );
}

/** Returns the milliseconds of a text such as `2026-11-25T08:30:00.5Z`, which Go writes for a time. */
function dateTimeOf(value: unknown): number | undefined {
  const isDateTime = typeof value === 'string' && /T.*(Z|[+-]\d\d:\d\d)$/.test(value);
  return isDateTime ? parseMilliseconds(value) : undefined;
}

/** The units of a file's times. They differ only in a file of adk-java. */
interface FileUnits {
  readonly events: TimeUnit;
  readonly lastUpdateTime: TimeUnit;
}

function unitForAll(unit: TimeUnit): FileUnits {
  return { events: unit, lastUpdateTime: unit };
}

/**
 * Returns the units of the file's times. One unambiguous time decides the unit for all. Only adk-java writes two
 * units: milliseconds in its events, and seconds in `lastUpdateTime`.
 */
function inferUnits({ events, lastUpdateTime }: RecordedSession): FileUnits {
  let unitFound: { unit: TimeUnit; text: string } | undefined;
  let undecided: string | undefined;
  const inspect = (value: unknown, path: readonly PathSegment[]): unknown => {
    // 0 is the same time in both units.
    if (typeof value !== 'number' || value === 0) return value;
    const unit = unitOf(value);
    const text = `${formatPath(path)} is ${value}`;
    if (unit === undefined) undecided ??= text;
    else if (unitFound === undefined) unitFound = { unit, text };
    else if (unitFound.unit !== unit) {
      throw unknownUnit(
        `${unitFound.text}, which looks like ${unitFound.unit}, and ${text}, like ${unit}`,
      );
    }
    return value;
  };
  events.forEach((event, at) =>
    convertTimes(event, (time, path) => inspect(time, ['events', at, ...path])),
  );
  const isOfJava =
    unitFound?.unit === 'milliseconds' &&
    typeof lastUpdateTime === 'number' &&
    unitOf(lastUpdateTime) === 'seconds';
  if (isOfJava) return { events: 'milliseconds', lastUpdateTime: 'seconds' };
  inspect(lastUpdateTime, ['lastUpdateTime']);
  if (unitFound !== undefined) return unitForAll(unitFound.unit);
  if (undecided === undefined) return unitForAll('milliseconds');
  throw unknownUnit(`${undecided}, which is implausible in either unit`);
}

function unknownUnit(why: string): SessionError {
  return new SessionError(
    'invalid_argument',
    `The unit of the file's times is ambiguous: ${why}. ` +
      `State it: timeUnit: 'seconds' or 'milliseconds'.`,
    { key: 'timeUnit' },
  );
}
