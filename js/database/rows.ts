/** Rows of the tables as rows of the seam, and back. */
import type { EventRow, ScopeRow, SessionRow, StorageKey } from '../storage/adapter.js';
import { SessionError } from '../errors.js';
import { fromEventData } from './event_data.js';
import { parseMilliseconds, parseTime } from './times.js';

/** The columns of a session and of the row that we keep beside it, if there is one. */
export interface SessionColumns {
  state: string;
  create_time: string;
  update_time: string;
  kept_time: string | null;
  last_update_time: string | null;
}

/** The columns of an event. */
export interface EventColumns {
  id: string;
  invocation_id: string;
  timestamp: string;
  event_data: string | null;
}

/** The revision that a time column stands for. */
export function revisionOf(value: unknown, record: string): number {
  const micros = parseTime(value);
  if (micros !== undefined) return micros;
  throw new SessionError('corrupt_record', `The time of ${record} cannot be read.`, { record });
}

export function sessionRow(key: Required<StorageKey>, columns: SessionColumns): SessionRow {
  const record = `session ${JSON.stringify(key.sessionId)}`;
  const revision = revisionOf(columns.update_time, record);
  const isKept = columns.kept_time === columns.update_time;
  const kept = isKept ? parseMilliseconds(columns.last_update_time) : undefined;
  return {
    ...key,
    created: revisionOf(columns.create_time, record),
    revision,
    lastUpdateTime: kept ?? revision / 1000,
    state: jsonText(columns.state),
  };
}

export function scopeRow(state: string, updateTime: unknown): ScopeRow {
  return { revision: revisionOf(updateTime, 'a state'), state: jsonText(state) };
}

export function eventRow(columns: EventColumns): EventRow {
  const { id, invocation_id: invocationId, event_data: eventData } = columns;
  const seq = revisionOf(columns.timestamp, `event ${JSON.stringify(id)}`);
  try {
    const event = fromEventData({ id, invocationId, eventData, timeMicros: seq });
    return { id, seq, revision: event.revision ?? seq, timestamp: event.timestamp, text: event.text };
  } catch {
    // As it is: who reads the text tells which event is damaged, or leaves it out where that is wanted.
    return { id, seq, revision: seq, timestamp: seq / 1000, text: eventData ?? '' };
  }
}

const STRING_OR_NUMBER_WORD = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

/** Python writes what is no JSON: a number that JSON cannot say. It reads as `null`. */
function jsonText(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  return text.replace(STRING_OR_NUMBER_WORD, (word) => (word.startsWith('"') ? word : 'null'));
}
