/** Compactions of adk-go: they name the events of their range that the summary does not stand for. */
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';

/** A time in microseconds: adk-go compares no further digits, since databases keep no more. */
const microsecond = (time: number): number => Math.floor(time * 1000);

/**
 * Returns events whose compactions have the form of Python, which knows no exceptions: the longest part of the range
 * without an excluded event. The summarised events outside of that part are shown besides the summary. If no part
 * remains, the summary hides nothing: its range ends before it starts.
 *
 * @param timeOf returns the milliseconds of a time of the file; `undefined` if it is none
 */
export function applyExcludedEvents(
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
