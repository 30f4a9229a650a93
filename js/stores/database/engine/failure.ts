import {
  isSessionError,
  SessionError,
  type SessionErrorCode,
  markUnwritten,
} from '../../../values/errors/errors.js';
import { reasonOf } from '../../../values/errors/describe.js';
import type { Engine, Failure } from './engine.js';

const STORED_ONCE = 'Try again: an append that was stored after all is not stored twice.';

/** The code of each failure and the advice in its message, for a server; and for a file, if that differs. */
const CODES: Readonly<
  Record<Failure, [code: SessionErrorCode, ofServer: string, ofFile?: string]>
> = {
  conflict: ['storage_blocked', 'Others held it for too long; try again.'],
  slow: [
    'storage_blocked',
    'Nothing was written; others held it, or the server is slow. Try again.',
  ],
  duplicate: ['storage_failed', 'A row with that key exists, but no query finds it.'],
  full: [
    'quota_exceeded',
    "Nothing was written; make room on the server's disk, or delete sessions, and try again.",
    'Nothing was written; make room on the disk, delete sessions, or end programs that read the file, and try again.',
  ],
  tooLarge: [
    'quota_exceeded',
    'Nothing was written: it is larger than the server takes. Store less at once, or raise max_allowed_packet on MariaDB.',
  ],
  lost: ['connection_lost', 'Nothing was written; try again.', `Check the disk. ${STORED_ONCE}`],
  commitLost: [
    'connection_lost',
    `It may be stored, since the commit was sent. ${STORED_ONCE}`,
    `Check the disk. ${STORED_ONCE}`,
  ],
  readonly: [
    'storage_unavailable',
    'Nothing was written: this server only reads. Give the address of the one that writes.',
    'Nothing was written: the file, or its folder, may only be read.',
  ],
  unreachable: [
    'storage_unavailable',
    'Check the address, the access and that the server runs.',
    'Check the path, and who may read and write the file and its folder.',
  ],
  exhausted: [
    'storage_blocked',
    'Nothing was written: all connections are in use. Allow more of them, or a longer timeoutMs, and try again.',
  ],
  untrusted: [
    'storage_unavailable',
    'Name the authority of its certificate: driverOptions: { ssl: { ca } }; the host must be one that it names.',
  ],
  noTls: ['storage_unavailable', 'Switch TLS on in the server, or ask for none.'],
  unsupported: ['storage_failed', 'Nothing was written; the server may be too old.'],
  other: ['storage_failed', 'Nothing was written.'],
};

/** A failure for which no driver has a code. */
export class OwnFailure extends Error {
  readonly failure: Failure;

  constructor(message: string, failure: Failure, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Maps codes to failures by the codes' first characters. The longest matching entry decides. */
export function failures(table: Readonly<Partial<Record<Failure, string>>>) {
  const known = Object.entries(table).flatMap(([failure, codes]) =>
    codes.split(' ').map((code): [string, Failure] => [code, failure as Failure]),
  );
  known.sort(([one], [other]) => other.length - one.length);
  return (code: string): Failure => known.find(([start]) => code.startsWith(start))?.[1] ?? 'other';
}

/** Node's codes when the server cannot be reached, and when the connection breaks. */
export const UNREACHABLE =
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ENOENT';
export const LOST = 'ECONNRESET EPIPE';

/** Node's codes for a certificate that is not trusted. */
export const UNTRUSTED =
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_ CERT_ ERR_TLS_CERT_ALTNAME_INVALID';

/** Returns the kind of failure that a driver's error means. */
export function failureKind(engine: Engine, error: unknown): Failure {
  if (error instanceof OwnFailure) return error.failure;
  const code = engine.errors.codeOf(error);
  if (code !== undefined) {
    const failure = engine.errors.failureOfCode(code);
    return failure === 'other' && engine.errors.closesConnection(error) ? 'lost' : failure;
  }
  const { message } = Object(error) as { message?: unknown };
  // Drivers give no code to failures on this side of the connection.
  const text = typeof message === 'string' ? message : '';
  if (/does not support SSL/i.test(text)) return 'noTls';
  if (/timeout exceeded when trying to connect|No connections available|Queue limit/i.test(text)) {
    return 'exhausted';
  }
  if (/Cannot open database|connection timeout/i.test(text)) return 'unreachable';
  return /Connection (?:terminated|ended|closed)|not queryable|connection error|closed state|timeout/i.test(
    text,
  )
    ? 'lost'
    : 'other';
}

/**
 * Whether the engine itself answered with this error and still runs. Nothing of the transaction was then
 * written, even if its commit had been sent.
 */
export function isRefusal(engine: Engine, error: unknown): boolean {
  if (isSessionError(error) || failureKind(engine, error) === 'lost') return false;
  return engine.errors.refusalCode.test(String(engine.errors.codeOf(error)));
}

/**
 * Returns the failure of a write whose commit was sent. The write may be stored unless the engine refused it.
 *
 * @param isBroken whether the connection was broken after the error. The server may have crashed with it, and
 *   written the commit before. The error alone does not tell: a server may translate its severity.
 */
export function commitFailure(engine: Engine, error: unknown, isBroken: boolean): unknown {
  const mayBeCrash =
    isBroken && engine.errors.crashCode?.test(String(engine.errors.codeOf(error))) === true;
  if (isRefusal(engine, error) && !mayBeCrash) return error;
  return new OwnFailure(driverReason(error), 'commitLost', error);
}

/** Converts a driver's error to a `SessionError`. */
export function databaseError(engine: Engine, error: unknown): SessionError {
  if (isSessionError(error)) return error;
  const failure = failureKind(engine, error);
  const [code, ofServer, ofFile = ofServer] = CODES[failure];
  const whatToDo = engine.isFile ? ofFile : ofServer;
  const message = `The ${engine.name} database failed: ${driverReason(error)}. ${whatToDo}`;
  const made = new SessionError(code, message, { storage: engine.kind, cause: error });
  if (failure === 'lost' && !engine.isFile) markUnwritten(made);
  return made;
}

/**
 * Returns what a driver says of a failure. Node reports a host with several addresses as several errors under an
 * empty message.
 */
export function driverReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(driverReason).join('; ');
  }
  return reasonOf(error);
}

/**
 * Makes the error that refuses a database.
 *
 * @param what continues a sentence whose subject is the database
 */
export function refused(
  { kind, name }: Engine,
  what: string,
  code: SessionErrorCode = 'storage_unavailable',
): SessionError {
  return new SessionError(code, `The ${name} database ${what}.`, { storage: kind });
}

/** The code in the error of a driver that calls it so. */
export function textCode(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
