/** Rows of the tables as rows of the seam, and back. */
import type { EventRow, ScopeRow, SessionRow, StorageKey } from '../storage/adapter.js';
import { SessionError } from '../errors.js';
import { fromEventData } from './event_data.js';
import type { StoredTime } from './layout.js';
import { asJson } from './numbers.js';
import { parseMilliseconds, parseTime } from './times.js';

/** The columns of a session and of the row that we keep beside it, if there is one. */
export interface SessionColumns {
  state: string;
  create_time: StoredTime;
  update_time: StoredTime;
  kept_time: StoredTime | null;
  last_update_time: StoredTime | null;
}

/** The columns of an event. */
export interface EventColumns {
  id: string;
  invocation_id: string;
  timestamp: StoredTime;
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
    state: asJson(columns.state),
  };
}

export function scopeRow(state: string, updateTime: unknown): ScopeRow {
  return { revision: revisionOf(updateTime, 'a state'), state: asJson(state) };
}

export function eventRow(columns: EventColumns): EventRow {
  const { id, invocation_id: invocationId, event_data: eventData } = columns;
  const seq = revisionOf(columns.timestamp, `event ${JSON.stringify(id)}`);
  const event = fromEventData({ id, invocationId, eventData, timeMicros: seq });
  return { id, seq, revision: event.revision ?? seq, timestamp: event.timestamp, text: event.text };
}
