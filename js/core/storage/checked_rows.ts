/**
 * Checks the rows that a storage returns, so that an error names the verb and field that was wrong.
 */
import { isTime } from '../../values/model/values/time.js';
import { kindOf } from '../../values/errors/describe.js';
import { SessionError } from '../../values/errors/errors.js';
import type { SharedScope } from '../../values/state/scope.js';
import type { EventRow, SessionRow, SharedRow, SharedRows } from './rows.js';

/** Returns the error for a storage that violates its contract. The violation follows the verb in the message. */
export function contractViolation(verb: string, violation: string): SessionError {
  return new SessionError(
    'storage_failed',
    `The storage's ${verb} ${violation}. Correct it; docs/writing_a_storage.md has the rules.`,
  );
}

/** Checks the row of a session, if there is one. */
export function optionalSession(
  verb: string,
  rows: { readonly session?: SessionRow | undefined },
): SessionRow | undefined {
  const row = rows.session ?? undefined;
  return row === undefined ? undefined : checkedSession(verb, 'session', row);
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

/** @param row the path of the row, or `''` for a field of the result itself */
export function requireString(verb: string, row: string, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw contractViolation(
    verb,
    `gave ${pathOf(row, field)} that is not a string but ${kindOf(value)}`,
  );
}

/** Returns whether `value` can be a revision or another counter from 0 up: a safe integer. */
export function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** @param row see {@link requireString} */
export function requireCounter(verb: string, row: string, field: string, value: unknown): number {
  if (isRevision(value)) return value;
  throw contractViolation(
    verb,
    `gave ${pathOf(row, field)} that is ${shown(value)}, not a whole number from 0 up`,
  );
}

function requireTime(verb: string, row: string, field: string, value: unknown): number {
  if (isTime(value)) return value;
  throw contractViolation(
    verb,
    `gave ${pathOf(row, field)} that is ${shown(value)}, not milliseconds since 1970`,
  );
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(value.slice(0, 40))}`;
  return typeof value === 'number' ? `the number ${value}` : kindOf(value);
}

function pathOf(row: string, field: string): string {
  return row === '' ? field : `${row}.${field}`;
}

/** Reads each member once. @param path the row in the storage's result, such as `sessions[2]` */
export function checkedSession(verb: string, path: string, row: SessionRow): SessionRow {
  requireObject(verb, path, row);
  const { appName, userId, sessionId } = row;
  const createTime = row.createTime ?? undefined;
  return {
    appName,
    userId,
    sessionId,
    created: requireCounter(verb, path, 'created', row.created),
    revision: requireCounter(verb, path, 'revision', row.revision),
    lastUpdateTime: requireTime(verb, path, 'lastUpdateTime', row.lastUpdateTime),
    state: requireString(verb, path, 'state', row.state),
    title: optionalString(verb, path, 'title', row),
    labels: optionalString(verb, path, 'labels', row),
    parent: optionalString(verb, path, 'parent', row),
    createTime:
      createTime === undefined ? undefined : requireTime(verb, path, 'createTime', createTime),
    initialState: optionalString(verb, path, 'initialState', row),
  };
}

/** Returns a member that may be absent or `null`. */
function optionalString(
  verb: string,
  path: string,
  field: 'title' | 'labels' | 'parent' | 'initialState',
  row: SessionRow,
): string | undefined {
  const value = row[field] ?? undefined;
  return value === undefined ? undefined : requireString(verb, path, field, value);
}

export function checkedShared(verb: string, path: string, row: SharedRow): SharedRow {
  requireObject(verb, path, row);
  return {
    revision: requireCounter(verb, path, 'revision', row.revision),
    state: requireString(verb, path, 'state', row.state),
  };
}

/** Checks the row of a shared scope, if there is one. */
export function optionalShared<Scope extends SharedScope>(
  verb: string,
  scope: Scope,
  rows: Pick<SharedRows, Scope>,
): SharedRow | undefined {
  const row = rows[scope] ?? undefined;
  return row === undefined ? undefined : checkedShared(verb, scope, row);
}

/** @param list the name of the list in the storage's result */
export function checkedEvents(verb: string, list: string, rows: readonly EventRow[]): EventRow[] {
  return requireArray(verb, list, rows).map((row, index) => {
    const path = `${list}[${index}]`;
    requireObject(verb, path, row);
    return {
      id: requireString(verb, path, 'id', row.id),
      seq: requireCounter(verb, path, 'seq', row.seq),
      revision: requireCounter(verb, path, 'revision', row.revision),
      timestamp: requireTime(verb, path, 'timestamp', row.timestamp),
      text: requireString(verb, path, 'text', row.text),
    };
  });
}
