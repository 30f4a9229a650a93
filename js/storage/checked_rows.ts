/**
 * Converts the rows of a storage adapter to the arrays that the wasm takes. Checks the adapter's
 * results here, so that an error names the verb and field that was wrong.
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

/** Returns the error for an adapter that violates its contract. The violation follows the verb in the message. */
export function contractViolation(verb: string, violation: string): SessionError {
  return new SessionError(
    'storage_failed',
    `The storage's ${verb} ${violation}. Correct the adapter; the suite in adk-session-wasm/testing shows where.`,
  );
}

export function optionalTuple<Row, Tuple>(row: Row | undefined | null, tuple: (row: Row) => Tuple) {
  return row === undefined || row === null ? undefined : tuple(row);
}

export function requireObject(verb: string, what: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return;
  throw contractViolation(verb, `gave ${what} that is not an object but ${kindOf(value)}`);
}

export function requireArray<T>(verb: string, field: string, value: readonly T[]): readonly T[] {
  const given: unknown = value;
  if (Array.isArray(given)) return value;
  throw contractViolation(verb, `gave ${field} that are not an array but ${kindOf(value)}`);
}

export function requireString(verb: string, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw contractViolation(verb, `gave a ${field} that is not a string but ${kindOf(value)}`);
}

/** Returns whether `value` can be a revision or another counter from 0 up: a safe integer. */
export function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function requireCounter(verb: string, field: string, value: unknown): number {
  if (isRevision(value)) return value;
  throw contractViolation(verb, `gave a ${field} that is not a whole number from 0 up`);
}

export function requireTime(verb: string, field: string, value: unknown): number {
  if (isTime(value)) return value;
  throw contractViolation(verb, `gave a ${field} that is not a time`);
}

export function sessionTuple(verb: string, row: SessionRow): SessionTuple {
  requireObject(verb, 'a session', row);
  return [
    requireCounter(verb, 'created', row.created),
    requireCounter(verb, 'revision', row.revision),
    requireTime(verb, 'lastUpdateTime', row.lastUpdateTime),
    requireString(verb, 'state', row.state),
  ];
}

export function scopeTuple(verb: string, row: ScopeRow): ScopeTuple {
  requireObject(verb, 'a state', row);
  return [requireCounter(verb, 'revision', row.revision), requireString(verb, 'state', row.state)];
}

export function eventTuple(verb: string, row: EventRow): EventTuple {
  requireObject(verb, 'an event', row);
  return [
    requireString(verb, 'id', row.id),
    requireCounter(verb, 'seq', row.seq),
    requireCounter(verb, 'revision', row.revision),
    requireTime(verb, 'timestamp', row.timestamp),
    requireString(verb, 'text', row.text),
  ];
}
