import { type TimeUnit, toMilliseconds, unitOf, withTimes } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import { formatPath, type PathSegment } from '../../json/path.js';
import { kindOf } from '../../json/rules.js';
import { MAX_TIMESTAMP } from '../../model/snapshot.js';
import { malformed } from './malformed.js';
import type { RecordedSession } from './recorded_session.js';

/** The parts of a session that have times, in milliseconds. */
export interface TimedSession {
  readonly events: readonly Record<string, unknown>[];
  readonly lastUpdateTime: number;
}

/**
 * Converts the times of a file to milliseconds. A missing `lastUpdateTime` becomes the latest event's time,
 * or 0.
 *
 * @param stated the unit of the file's times; `undefined`: inferred from the numbers
 * @throws SessionError `invalid_argument` with the path of an invalid time, or if the unit cannot be inferred
 */
export function timedSession(
  recorded: RecordedSession,
  stated: TimeUnit | undefined,
): TimedSession {
  const unit = stated ?? unitOfAll(recorded);
  let latest = 0;
  const events = recorded.events.map((event, at) => {
    return withTimes(event, (value, path) => {
      if (path[0] !== 'timestamp') return actionTime(value, unit);
      const time = inMilliseconds(value, unit, ['events', at, ...path]);
      latest = Math.max(latest, time);
      return time;
    });
  });
  const { lastUpdateTime } = recorded;
  if (lastUpdateTime === undefined) return { events, lastUpdateTime: latest };
  return { events, lastUpdateTime: inMilliseconds(lastUpdateTime, unit, ['lastUpdateTime']) };
}

/** An append accepts any JSON value in `actions`, so a value that is not a number is kept as it is. */
function actionTime(value: unknown, unit: TimeUnit): unknown {
  return typeof value === 'number' ? millisecondsOf(value, unit) : value;
}

function millisecondsOf(time: number, unit: TimeUnit): number {
  return unit === 'seconds' ? toMilliseconds(time) : time;
}

function inMilliseconds(value: unknown, unit: TimeUnit, path: readonly PathSegment[]): number {
  if (typeof value !== 'number') throw malformed(path, `must be a number; it is ${kindOf(value)}`);
  const time = millisecondsOf(value, unit);
  if (time >= 0 && time <= MAX_TIMESTAMP) return time;
  throw malformed(
    path,
    `must be a time from 1970 to 9999; it is ${value}, as ${unit} (timeUnit says another unit)`,
  );
}

/** Returns the unit of all times in the file. A file has one unit, so one unambiguous time decides it for all. */
function unitOfAll({ events, lastUpdateTime }: RecordedSession): TimeUnit {
  let told: { unit: TimeUnit; text: string } | undefined;
  let untold: string | undefined;
  const look = (value: unknown, path: readonly PathSegment[]): unknown => {
    // 0 is the same time in both units.
    if (typeof value !== 'number' || value === 0) return value;
    const unit = unitOf(value);
    const text = `${formatPath(path)} is ${value}`;
    if (unit === undefined) untold ??= text;
    else if (told === undefined) told = { unit, text };
    else if (told.unit !== unit) {
      throw unknownUnit(`${told.text}, which looks like ${told.unit}, and ${text}, like ${unit}`);
    }
    return value;
  };
  events.forEach((event, at) =>
    withTimes(event, (time, path) => look(time, ['events', at, ...path])),
  );
  look(lastUpdateTime, ['lastUpdateTime']);
  if (told !== undefined) return told.unit;
  if (untold === undefined) return 'milliseconds';
  throw unknownUnit(`${untold}, which is a time of no session in either`);
}

function unknownUnit(why: string): SessionError {
  return new SessionError(
    'invalid_argument',
    `Whether the file's times are seconds or milliseconds cannot be told: ${why}. ` +
      `State it: timeUnit: 'seconds' or 'milliseconds'.`,
    { key: 'timeUnit' },
  );
}
