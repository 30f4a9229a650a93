import { SessionError } from '../../values/errors/errors.js';
import { withoutIdempotencyKey } from '../../values/model/event/metadata.js';
import type { Event } from '../../values/model/event/event.js';
import type { EventRow } from './rows.js';
import { isTooDeep, parseJson } from '../../values/json/parse.js';

/**
 * Characters to parse at once. One long text parses faster than many short ones, up to about this
 * length.
 */
export const BATCH_CHARACTERS = 64 * 1024;

/** Parses texts of one event or of several with commas between them. This package wrote them: none is damaged. */
export function parseTexts(texts: readonly string[]): Event[] {
  const parts = texts.map((text) => JSON.parse(`[${text}]`) as Event[]);
  const events = parts.length === 1 ? parts[0]! : parts.flat();
  for (const event of events) withoutIdempotencyKey(event);
  return events;
}

/**
 * Parses the rows of a read, in order.
 *
 * @param skipCorrupt leaves out events that cannot be read
 * @throws SessionError `corrupt_record` naming the first event that cannot be read
 */
export function parseRows(
  rows: readonly EventRow[],
  sessionId: string,
  skipCorrupt: boolean,
): Event[] {
  const events: Event[] = [];
  for (let position = 0; position < rows.length;) {
    const texts = nextTexts(rows, position);
    const end = position + texts.length;
    const parsed =
      parseBatch(texts) ?? parseOneByOne(rows.slice(position, end), sessionId, skipCorrupt);
    for (const event of parsed) events.push(withoutIdempotencyKey(event));
    position = end;
  }
  return events;
}

/** Returns the texts of the next batch. */
function nextTexts(rows: readonly EventRow[], start: number): string[] {
  const texts: string[] = [];
  for (
    let size = 0, position = start;
    size < BATCH_CHARACTERS && position < rows.length;
    position += 1
  ) {
    const text = rows[position]?.text ?? '';
    texts.push(text);
    size += text.length;
  }
  return texts;
}

/** Returns `undefined` if any text is damaged, even if the joined text would still parse. */
function parseBatch(texts: readonly string[]): Event[] | undefined {
  try {
    if (texts.some(isTooDeep)) return undefined;
    const parsed = JSON.parse(`[${texts.join(',')}]`) as unknown[];
    return parsed.length === texts.length && parsed.every(isEvent) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function parseOneByOne(
  rows: readonly EventRow[],
  sessionId: string,
  skipCorrupt: boolean,
): Event[] {
  const events: Event[] = [];
  for (const row of rows) {
    const event = parseEvent(row, sessionId);
    if (!(event instanceof SessionError)) events.push(event);
    else if (!skipCorrupt) throw event;
  }
  return events;
}

/** Returns one stored event, or the error that says why it cannot be read. */
function parseEvent({ id, text }: EventRow, sessionId: string): Event | SessionError {
  const record = `event ${JSON.stringify(id)} of session ${JSON.stringify(sessionId)}`;
  try {
    const event: unknown = parseJson(text);
    if (isEvent(event)) return event;
    return corruptRecord(record, undefined);
  } catch (cause) {
    return corruptRecord(record, cause);
  }
}

/** Parses one stored text; returns `undefined` if it is damaged. */
export function parseEventText(text: string): Event | undefined {
  try {
    const event: unknown = parseJson(text);
    return isEvent(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

export function isEvent(value: unknown): value is Event {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function corruptRecord(record: string, cause: unknown): SessionError {
  return new SessionError(
    'corrupt_record',
    `The stored ${record} is not the JSON of an event; read the others with config.skipCorrupt.`,
    { record, cause },
  );
}
