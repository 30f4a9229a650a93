/**
 * Converts the rows of a storage adapter to the arrays that the wasm takes. Checks the adapter's
 * answers here, so that an error names the verb and field that was wrong.
 */
import { SessionError } from '../errors/errors.js';
import { kindOf } from '../json/rules.js';
import { isTime } from '../model/snapshot.js';
import type { EventRow, ScopeRow, SessionRow } from './adapter.js';

type SessionTuple = [created: number, revision: number, lastUpdateTime: number, state: string];
type ScopeTuple = [revision: number, state: string];
export type EventTuple = [
  id: string,
  seq: number,
  revision: number,
  timestamp: number,
  text: string,
];
export function nonsense(verb: string, what: string): SessionError {
  return new SessionError(
    'storage_failed',
    `The storage's ${verb} ${what}. Correct the adapter; the suite in adk-session-wasm/testing shows where.`,
  );
}

export function optional<Row, Tuple>(row: Row | undefined | null, tuple: (row: Row) => Tuple) {
  return row === undefined || row === null ? undefined : tuple(row);
}

export function object(verb: string, what: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return;
  throw nonsense(verb, `gave ${what} that is no object but ${kindOf(value)}`);
}

export function list<T>(verb: string, field: string, value: readonly T[]): readonly T[] {
  const given: unknown = value;
  if (Array.isArray(given)) return value;
  throw nonsense(verb, `gave ${field} that are no array but ${kindOf(value)}`);
}

export function text(verb: string, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw nonsense(verb, `gave a ${field} that is no string but ${kindOf(value)}`);
}

/** Returns whether `value` can be a revision or another counter from 0 up: a safe integer. */
export function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function whole(verb: string, field: string, value: unknown): number {
  if (isRevision(value)) return value;
  throw nonsense(verb, `gave a ${field} that is no whole number from 0 up`);
}

export function time(verb: string, field: string, value: unknown): number {
  if (isTime(value)) return value;
  throw nonsense(verb, `gave a ${field} that is no time`);
}

export function sessionTuple(verb: string, row: SessionRow): SessionTuple {
  object(verb, 'a session', row);
  return [
    whole(verb, 'created', row.created),
    whole(verb, 'revision', row.revision),
    time(verb, 'lastUpdateTime', row.lastUpdateTime),
    text(verb, 'state', row.state),
  ];
}

export function scopeTuple(verb: string, row: ScopeRow): ScopeTuple {
  object(verb, 'a state', row);
  return [whole(verb, 'revision', row.revision), text(verb, 'state', row.state)];
}

export function eventTuple(verb: string, row: EventRow): EventTuple {
  object(verb, 'an event', row);
  return [
    text(verb, 'id', row.id),
    whole(verb, 'seq', row.seq),
    whole(verb, 'revision', row.revision),
    time(verb, 'timestamp', row.timestamp),
    text(verb, 'text', row.text),
  ];
}
