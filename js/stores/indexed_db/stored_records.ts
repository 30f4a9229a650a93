/**
 * Parses the events of a read from IndexedDB records. A record holds one event, or a page record of
 * many events whose texts are joined by commas. `src/wasm/indexed_db/` writes the records.
 */
import { withoutIdempotencyKey } from '../../values/model/event/metadata.js';
import type { Event } from '../../values/model/event/event.js';
import {
  BATCH_CHARACTERS,
  corruptRecord,
  isEvent,
  parseEventText,
} from '../../core/storage/stored_events.js';
import { type EventsRecord, MARKS } from './layout.js';

/** A record that at least has a text. */
interface ReadableRecord extends EventsRecord {
  readonly text: string;
}

/**
 * Parses the events of records, in order.
 *
 * @param skipCorrupt leaves out events that cannot be read
 * @throws SessionError `corrupt_record` naming the first event that cannot be read
 */
export function parseRecords(
  records: readonly unknown[],
  sessionId: string,
  skipCorrupt: boolean,
): Event[] {
  const events: Event[] = [];
  const batch: ReadableRecord[] = [];
  let size = 0;
  const parse = (): void => {
    const parsed = parseAll(batch) ?? parseOneByOne(batch, sessionId, skipCorrupt);
    for (const event of parsed) events.push(withoutIdempotencyKey(event));
    batch.length = 0;
    size = 0;
  };
  for (const record of records) {
    if (isReadable(record)) {
      batch.push(record);
      size += record.text.length;
      if (size >= BATCH_CHARACTERS) parse();
    } else if (!skipCorrupt) {
      // An earlier record that is damaged as well is reported first.
      parse();
      throw corruptRecord(
        describeRecord(eventIdsOf(record), sessionId),
        new TypeError('Its record is damaged.'),
      );
    }
  }
  parse();
  return events;
}

function isReadable(record: unknown): record is ReadableRecord {
  return typeof (record as EventsRecord | null | undefined)?.text === 'string';
}

/** Returns the number of events in a record; NaN if it is unknown. */
function eventCount({ ids, marks }: EventsRecord): number {
  if (isMarks(marks)) return marks.length / MARKS;
  if (!Array.isArray(ids)) return marks === undefined ? 1 : NaN;
  return Math.max(ids.length, 1);
}

function isMarks(marks: unknown): marks is Float64Array {
  return marks instanceof Float64Array && marks.length > 0 && marks.length % MARKS === 0;
}

/** Returns the ids of a record's events; `undefined` for each that is not known. */
function eventIdsOf(record: unknown): (string | undefined)[] {
  const ids = (record as EventsRecord | null | undefined)?.ids;
  if (!Array.isArray(ids)) return [];
  return ids.map((id: unknown) =>
    typeof id === 'string' ? id.slice(id.indexOf('/') + 1) : undefined,
  );
}

/** Returns `undefined` if any event is damaged. */
function parseAll(records: readonly ReadableRecord[]): Event[] | undefined {
  let count = 0;
  for (const record of records) count += eventCount(record);
  const texts = records.map(({ text }) => text).join(',');
  try {
    const parsed = JSON.parse(`[${texts}]`) as unknown[];
    return parsed.length === count && parsed.every(isEvent) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function parseOneByOne(
  records: readonly ReadableRecord[],
  sessionId: string,
  skipCorrupt: boolean,
): Event[] {
  return records.flatMap((record) => {
    const ids = eventIdsOf(record);
    const events = parseAll([record]) ?? parseDamaged(record, ids);
    const damaged = events.indexOf(undefined);
    if (damaged >= 0 && !skipCorrupt) {
      throw corruptRecord(
        describeRecord(events.length === 1 ? ids : [ids[damaged]], sessionId),
        undefined,
      );
    }
    return events.filter((event) => event !== undefined);
  });
}

/**
 * Parses a damaged record, with `undefined` for each event that cannot be read.
 *
 * Damage that changed the text's length has moved everything after it by the difference. The ids
 * tell an event from a neighbour that was moved to its place.
 */
function parseDamaged(
  { text, marks }: ReadableRecord,
  ids: readonly (string | undefined)[],
): (Event | undefined)[] {
  if (!isMarks(marks)) return [undefined];
  const moved = text.length - marks.at(-1)!;
  return Array.from({ length: marks.length / MARKS }, (_, number) => {
    const [start, end] = [textEnd(marks, number - 1) + 1, textEnd(marks, number)];
    for (const by of moved === 0 ? [0] : [0, moved]) {
      if (!isBoundary(text, start + by - 1) || !isBoundary(text, end + by)) continue;
      const event = parseEventText(text.slice(start + by, end + by));
      if (event === undefined) continue;
      if (event.id === (ids[number] ?? event.id)) return event;
    }
    return undefined;
  });
}

/** Returns whether one event's text may end, and the next one begin, at that character. */
function isBoundary(text: string, at: number): boolean {
  return at === -1 || at === text.length || text[at] === ',';
}

/** Returns the position at which an event's text ends; a comma follows there. */
function textEnd(marks: Float64Array, number: number): number {
  return number < 0 ? -1 : marks[number * MARKS + MARKS - 1]!;
}

/** Names a record by its events, as far as their ids are known. */
function describeRecord(ids: readonly (string | undefined)[], sessionId: string): string {
  const known = ids.filter((id) => id !== undefined).map((id) => JSON.stringify(id));
  const session = `of session ${JSON.stringify(sessionId)}`;
  if (known.length === 0) return `event without a readable id ${session}`;
  if (known.length === 1) return `event ${known[0]} ${session}`;
  return `page of ${ids.length} events, ${known[0]} to ${known.at(-1)}, ${session}`;
}
