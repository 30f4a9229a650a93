/**
 * Converts rows of the tables to rows of the storage.
 *
 * This file and the verbs write out every object that is made per row or append. Spreading one object into a
 * longer one takes as long as a query.
 */
import type { StoredTime } from '../engine/engine.js';
import type { EventRow, SessionRow, SharedRow, StorageKey } from '../../../core/storage/rows.js';
import { SessionError } from '../../../values/errors/errors.js';
import { fromAdkEventData, fromEventData } from './event_data.js';
import { pythonJsonToJson } from '../../../values/python/numbers.js';
import { parseMilliseconds, parseTime } from '../../../values/python/micros.js';

/** The columns of a session, and of its row in the side table if it has one. */
export interface SessionColumns {
  state: string;
  create_time: StoredTime;
  update_time: StoredTime;
  side_time: StoredTime | null;
  last_update_time: StoredTime | null;
  /** Title, labels and parent are absent in rows that a write decides on: the write leaves them as they are. */
  title?: string | null;
  labels?: string | null;
  parent?: string | null;
  /** Only in rows of a single session. */
  initial_state?: string | null;
}

/** The columns of an event from which nearly all of its fields can be read. */
export interface EventDataColumns {
  id: string;
  event_data: string | null;
}

/** The columns of an event. */
export interface EventColumns extends EventDataColumns {
  invocation_id: string;
  timestamp: StoredTime;
}

/**
 * Reads a time column of a session or a state as a revision.
 *
 * @param what the kind of record that the error names
 * @param id the record's id, if the error should name it
 * @throws SessionError `corrupt_record` if the value is not a time
 */
export function revisionOf(value: unknown, what: string, id?: string): number {
  const micros = parseTime(value);
  if (micros !== undefined) return micros;
  const record = id === undefined ? what : `${what} ${JSON.stringify(id)}`;
  throw new SessionError('corrupt_record', `The time of ${record} cannot be read.`, { record });
}

/** Reads a session. Fails with `corrupt_record` if a time cannot be read. */
export function sessionRow(key: Required<StorageKey>, columns: SessionColumns): SessionRow {
  const revision = revisionOf(columns.update_time, 'session', key.sessionId);
  const isCurrent = columns.side_time === columns.update_time;
  const created = revisionOf(columns.create_time, 'session', key.sessionId);
  const sideTableTime = isCurrent ? parseMilliseconds(columns.last_update_time) : undefined;
  return {
    appName: key.appName,
    userId: key.userId,
    sessionId: key.sessionId,
    created,
    revision,
    lastUpdateTime: sideTableTime ?? revision / 1000,
    state: pythonJsonToJson(columns.state),
    title: columns.title ?? undefined,
    labels: columns.labels ?? undefined,
    parent: columns.parent ?? undefined,
    createTime: created / 1000,
    initialState: columns.initial_state ?? undefined,
  };
}

/** Reads the state of a user or an app. Fails with `corrupt_record` if its time cannot be read. */
export function sharedRow(state: string, updateTime: unknown): SharedRow {
  return { revision: revisionOf(updateTime, 'a state'), state: pythonJsonToJson(state) };
}

/** Reads a state that a query has joined; `undefined` if there is none. Fails as {@link sharedRow}. */
export function joinedState(
  state: string | null,
  updateTime: StoredTime | null,
): SharedRow | undefined {
  return state === null ? undefined : sharedRow(state, updateTime);
}

/** Reads an event. If its time cannot be read, the event counts as written in 1970, and has the time of its JSON. */
export function eventRow(columns: EventColumns): EventRow {
  return rowOfEvent(columns, fromEventData);
}

/** Reads an event of the tables of `@google/adk`'s own service. */
export function adkEventRow(columns: EventColumns): EventRow {
  return rowOfEvent(columns, fromAdkEventData);
}

function rowOfEvent(columns: EventColumns, read: typeof fromEventData): EventRow {
  const { id, invocation_id: invocationId, event_data: eventData } = columns;
  const seq = parseTime(columns.timestamp) ?? 0;
  const event = read({ id, invocationId, eventData, timeMicros: seq });
  return {
    id,
    seq,
    revision: event.revision ?? seq,
    timestamp: event.timestamp,
    text: event.text,
  };
}
