/**
 * The events of a read as they lie in a browser's database: a record holds one event, or of a sealed
 * page many, their texts with commas between them. `src/storage/indexed_db/` writes them.
 */
import type { Event } from '../model/event.js';
import { BATCH, corrupt, isEvent, readEvent } from './stored_events.js';

/** Numbers an event in `marks`: seq, revision, timestamp, end. */
const MARKS = 4;

/** What a record should be. Anything of it may have been damaged. */
interface StoredRecord {
  readonly text?: unknown;
  /** `"<number>/<event id>"` each, where the number is the session's. */
  readonly ids?: unknown;
  /** Of a page. */
  readonly marks?: unknown;
}

/** A record that has a text at least. */
interface ReadableRecord extends StoredRecord {
  readonly text: string;
}

/**
 * The events of records, in order.
 *
 * @param skipCorrupt leave out those that cannot be read
 * @throws SessionError `corrupt_record` naming the first that cannot be read
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
    const parsed = parseTogether(batch) ?? parseSingly(batch, sessionId, skipCorrupt);
    for (const event of parsed) events.push(event);
    batch.length = 0;
    size = 0;
  };
  for (const record of records) {
    if (isReadable(record)) {
      batch.push(record);
      size += record.text.length;
      if (size >= BATCH) parse();
    } else if (!skipCorrupt) {
      // What stands before it is named first, should it be damaged as well.
      parse();
      throw corrupt(nameOf(idsOf(record), sessionId), new TypeError('Its record is damaged.'));
    }
  }
  parse();
  return events;
}

function isReadable(record: unknown): record is ReadableRecord {
  return typeof (record as StoredRecord | null | undefined)?.text === 'string';
}

/** How many events a record holds; NaN if nothing tells. */
function countOf({ ids, marks }: StoredRecord): number {
  if (areMarks(marks)) return marks.length / MARKS;
  if (!Array.isArray(ids)) return marks === undefined ? 1 : NaN;
  return Math.max(ids.length, 1);
}

function areMarks(marks: unknown): marks is Float64Array {
  return marks instanceof Float64Array && marks.length > 0 && marks.length % MARKS === 0;
}

/** The ids of a record's events, as far as they are known. */
function idsOf(record: unknown): (string | undefined)[] {
  const ids = (record as StoredRecord | null | undefined)?.ids;
  if (!Array.isArray(ids)) return [];
  return ids.map((id: unknown) =>
    typeof id === 'string' ? id.slice(id.indexOf('/') + 1) : undefined,
  );
}

/** `undefined` if anything is damaged. */
function parseTogether(records: readonly ReadableRecord[]): Event[] | undefined {
  let count = 0;
  for (const record of records) count += countOf(record);
  const texts = records.map(({ text }) => text).join(',');
  try {
    const parsed = JSON.parse(`[${texts}]`) as unknown[];
    return parsed.length === count && parsed.every(isEvent) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function parseSingly(
  records: readonly ReadableRecord[],
  sessionId: string,
  skipCorrupt: boolean,
): Event[] {
  return records.flatMap((record) => {
    const ids = idsOf(record);
    const events = parseTogether([record]) ?? parseEach(record, ids);
    const damaged = events.indexOf(undefined);
    if (damaged >= 0 && !skipCorrupt) {
      throw corrupt(nameOf(events.length === 1 ? ids : [ids[damaged]], sessionId), undefined);
    }
    return events.filter((event) => event !== undefined);
  });
}

/**
 * The events of a damaged record, with `undefined` for each that cannot be read.
 *
 * Damage that made the text longer or shorter has moved all that stands behind it, by so much. The ids
 * tell an event from its neighbour, which may stand where it was.
 */
function parseEach(
  { text, marks }: ReadableRecord,
  ids: readonly (string | undefined)[],
): (Event | undefined)[] {
  if (!areMarks(marks)) return [undefined];
  const moved = text.length - marks.at(-1)!;
  return Array.from({ length: marks.length / MARKS }, (_, number) => {
    const [start, end] = [endOf(marks, number - 1) + 1, endOf(marks, number)];
    for (const by of moved === 0 ? [0] : [0, moved]) {
      if (!isBorder(text, start + by - 1) || !isBorder(text, end + by)) continue;
      const event = readEvent(text.slice(start + by, end + by));
      if (event === undefined) continue;
      if (event.id === (ids[number] ?? event.id)) return event;
    }
    return undefined;
  });
}

/** Whether an event's text may end before, and another one's begin behind that character. */
function isBorder(text: string, at: number): boolean {
  return at === -1 || at === text.length || text[at] === ',';
}

/** Where an event's text ends; a comma follows. */
function endOf(marks: Float64Array, number: number): number {
  return number < 0 ? -1 : marks[number * MARKS + MARKS - 1]!;
}

/** By its events, as far as their ids are known. */
function nameOf(ids: readonly (string | undefined)[], sessionId: string): string {
  const known = ids.filter((id) => id !== undefined).map((id) => JSON.stringify(id));
  const session = `of session ${JSON.stringify(sessionId)}`;
  if (known.length === 0) return `event without a readable id ${session}`;
  if (known.length === 1) return `event ${known[0]} ${session}`;
  return `page of ${ids.length} events, ${known[0]} to ${known.at(-1)}, ${session}`;
}
