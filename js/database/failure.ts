import { isSessionError, SessionError, type SessionErrorCode } from '../errors.js';
import type { Engine, Failure } from './engine.js';

const CODES: Readonly<Record<Failure, [code: SessionErrorCode, whatToDo: string]>> = {
  conflict: ['storage_blocked', 'Others held it for too long; try again.'],
  duplicate: ['storage_failed', 'A row of that key is there which it does not find.'],
  full: ['quota_exceeded', 'Nothing was written; make room and try again.'],
  lost: ['connection_lost', 'Try again: an append that was stored after all is not stored twice.'],
  unreachable: ['storage_unavailable', 'Check the address, the access and that the server runs.'],
  other: ['storage_failed', 'Nothing was written.'],
};

/** What SQLite's own numbers are called, where the driver does not say. */
const SQLITE_NAMES: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
};

/** What a driver's error means for the transaction that it ended. */
export function failureOf(engine: Engine, error: unknown): Failure {
  const { code, errcode, message } = Object(error) as {
    code?: unknown;
    errcode?: unknown;
    message?: unknown;
  };
  if (typeof errcode === 'number') {
    const name = SQLITE_NAMES[errcode] ?? SQLITE_NAMES[errcode & 0xff] ?? '';
    return engine.failureOf(name);
  }
  if (typeof code === 'string') return engine.failureOf(code);
  // Drivers give no code to what happens on this side of the connection.
  const said = typeof message === 'string' ? message : '';
  if (/Cannot open database|connection timeout|timeout exceeded/i.test(said)) return 'unreachable';
  return /Connection (?:terminated|ended|closed)|not queryable|connection error/i.test(said)
    ? 'lost'
    : 'other';
}

/** An error with a code, of whatever a driver threw. */
export function databaseError(engine: Engine, error: unknown): SessionError {
  if (isSessionError(error)) return error;
  const [code, whatToDo] = CODES[failureOf(engine, error)];
  const reason = reasonOf(error);
  return new SessionError(code, `The ${engine.kind} database failed: ${reason}. ${whatToDo}`, {
    storage: engine.kind,
    cause: error,
  });
}

/** Node reports a host with several addresses as several errors, under no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(reasonOf).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
