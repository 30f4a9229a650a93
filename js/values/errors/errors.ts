/**
 * The errors of this package: one class, with a stable `code` for each kind of error.
 *
 * There is no class for each kind, because `instanceof` fails between two copies of the package and
 * between realms (an iframe, `node:vm`). A string compares equal everywhere.
 */
import { defineMember } from '../members.js';

/** Every {@link SessionErrorCode}. */
export const SESSION_ERROR_CODES = [
  /** An argument is missing, of the wrong type or out of range. */
  'invalid_argument',
  /** A session with that id exists; it is unchanged. */
  'already_exists',
  /** The session never existed, was deleted, or was created again since the handle was read. */
  'not_found',
  /**
   * The session has changed since the handle was read. The service's option `stale` is `'reject'`, or the append
   * has an `expectedRevision` or `expectedEvents`. Or a rewind has undone the append's run, or it was cancelled; see
   * `staleReason`.
   */
  'stale_session',
  /** JSON cannot represent a value; `path` leads to it. */
  'unserializable',
  /** A template names keys that the state does not have; see `missing`. */
  'missing_variable',
  /** A template names an artifact, but there is no artifact service. */
  'artifact_service_missing',
  /** The `stateSchema` does not allow a state key or its value. */
  'schema_violation',
  /** A write to the state of a `ReadonlyContext`. */
  'readonly',
  /** Several sessions have the bare id that was given; only the Rust API takes one. */
  'ambiguous',
  /**
   * The storage, or the service behind it, does not support the request. Or an event of `@google/adk` came to a
   * service without `asAdkService`.
   */
  'unsupported',
  /** The service was closed. */
  'closed',
  /** The request's `signal` fired before the commit began; `cause` is the signal's reason. */
  'aborted',
  /** A bug of this package. */
  'internal',
  /** The storage failed for a reason without a code of its own, or returned an invalid result. */
  'storage_failed',
  /** The wasm module could not be loaded. */
  'wasm_unavailable',
  /** A synchronous call in the slim entry came before the wasm module was loaded. */
  'not_loaded',
  /** There is no room left: in the browser's quota, on a database's disk, or in memory. */
  'quota_exceeded',
  /** Others held the database for too long: a tab with an older version, or locks in SQL. */
  'storage_blocked',
  /** The storage is not usable here (missing, private mode, blocked by policy, read-only). */
  'storage_unavailable',
  /** The data was written by a newer version of this package. */
  'storage_newer',
  /** A stored record cannot be read; `record` names it. All other records stay readable. */
  'corrupt_record',
  /** The connection to a database broke. */
  'connection_lost',
  /** A remote service refused the request; see `status` and `body`. */
  'remote',
  /** The agent of a run threw something else than an error of this package; it is the `cause`. */
  'run_failed',
  /** An agent of the server runs in the session. The same call succeeds when that run has ended. */
  'agent_running',
  /** The server runs as many agents as its option `maxRuns` allows. The same call succeeds when some have ended. */
  'too_many_runs',
  /** A run took longer than its server allows, and was cancelled. */
  'timeout',
] as const;

/** The kind of an error as a stable word, for programs to compare. The message is for people. */
export type SessionErrorCode = (typeof SESSION_ERROR_CODES)[number];

/**
 * Why an append is refused with `stale_session`. `other_revision`: the session has another revision than the append
 * requires. `handle_behind`: the session was changed since the handle was read, other than through this handle.
 * `later_events`: events follow the last event of a handle whose revision is not known. `undone`: a rewind has undone
 * the run to which the events belong, since the handle was read. `cancelled`: the run was cancelled since. `answered`:
 * the call that the events answer is answered already. All policies refuse these three.
 */
export type StaleReason =
  'other_revision' | 'handle_behind' | 'later_events' | 'undone' | 'cancelled' | 'answered';

/** A name in a template that has no value. */
export interface MissingVariable {
  /** The name as in the template, with its prefix: `user:name`. */
  readonly name: string;
  /** The position of the placeholder's opening brace in the template, in UTF-16 code units from 0. */
  readonly offset: number;
  /** Similar names in the state, best first; may be empty. */
  readonly suggestions: readonly string[];
}

const FIELDS = [
  'path',
  'key',
  'missing',
  'staleReason',
  'expectedRevision',
  'actualRevision',
  'actualEvents',
  'mutation',
  'record',
  'status',
  'body',
  'storage',
] as const satisfies readonly (keyof SessionError)[];

/** The optional members of a {@link SessionError}. */
export type SessionErrorFields = {
  // Over `keyof`, because the members then keep their documentation.
  readonly [Field in keyof Pick<SessionError, (typeof FIELDS)[number]>]?:
    SessionError[Field] | undefined;
} & {
  /** The underlying error. `toJSON` never prints it, because a driver's error may quote its URL. */
  readonly cause?: unknown;
};

/** From the symbol registry, so that every copy of the package in every realm has the same symbol. */
const BRAND = Symbol.for('adk-session-wasm.SessionError');

/** Each secret, behind the text that announces it. */
const SECRETS = [
  // The password of a URL. Digits before a `/` are a port. The limit keeps the search cheap.
  /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/]*:)(?:(?!\d+\/)[^\s"'<>]{0,100}|[^\s/]*)(?=@)/gi,
  /\b(bearer\s+|basic\s+|x-goog-api-key\W{1,4})[\w.~+/=-]{8,}/gi,
  /([?&][\w-]{0,20}(?:key|token|password|pwd|secret)=)[^\s&#"']+/gi,
];

/**
 * Masks passwords and keys in URLs, and HTTP credentials. Callers should not put them into
 * messages, but drivers quote their connection string in messages that we pass on.
 */
function maskSecrets(text: string): string {
  return SECRETS.reduce((masked, secret) => masked.replace(secret, '$1***'), text);
}

/**
 * The error that every method of this package throws or rejects with.
 *
 * `code` is stable. The message says what was wrong with which key and what to do; its words may
 * change. Passwords and keys in URLs, and HTTP credentials, are masked in `message` and `body`.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, isSessionError } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * try {
 *   await service.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
 * } catch (error) {
 *   if (!isSessionError(error, 'already_exists')) throw error;
 * }
 * ```
 */
export class SessionError extends Error {
  // `declare`, because real fields would give every error an enumerable `name`, and `undefined`
  // members for all fields that its code does not have.
  /** `'SessionError'`, or `'StateSchemaError'` for `schema_violation`. */
  declare readonly name: 'SessionError' | 'StateSchemaError';
  /** The kind of the error. */
  declare readonly code: SessionErrorCode;
  /**
   * `unserializable`: the path of the value, like `cart.items[3].price`. `invalid_argument`: the
   * path of the invalid value in a session file, like `events[3].timestamp`.
   */
  declare readonly path?: string;
  /** `schema_violation`, `readonly`, `invalid_argument`: the state key or argument. */
  declare readonly key?: string;
  /**
   * `missing_variable`: all missing names, in the template's order. `connection_lost`: `'events'` if a copy lacks the
   * older events that the call needs.
   */
  declare readonly missing?: readonly MissingVariable[] | 'events';
  /** `stale_session` of a handle's append: why it is refused. Absent with `actualEvents`, and from `adk api_server`. */
  declare readonly staleReason?: StaleReason;
  /** `stale_session` with a `staleReason`: the revision that the caller knows. */
  declare readonly expectedRevision?: number;
  /** `stale_session` with a `staleReason`: the stored revision. */
  declare readonly actualRevision?: number;
  /**
   * `stale_session` of an append with `expectedEvents`: the stored revisions of the events that were expected
   * otherwise; `null` for one that is not stored.
   */
  declare readonly actualEvents?: Readonly<Record<string, number | null>>;
  /**
   * `not_found` of a write with a `MutationId`: the storage has applied it before. Its session was deleted since.
   */
  declare readonly mutation?: 'applied';
  /** `corrupt_record`: the name of the record. */
  declare readonly record?: string;
  /** The HTTP status of the answer, if the error comes from one. */
  declare readonly status?: number;
  /** `remote`: the beginning of the response body. */
  declare readonly body?: string;
  /** Storage codes: the kind or name of the storage. */
  declare readonly storage?: string;

  static {
    const hiddenProperty = { enumerable: false, configurable: true, writable: true };
    Object.defineProperty(this.prototype, 'name', { ...hiddenProperty, value: 'SessionError' });
    Object.defineProperty(this.prototype, BRAND, { ...hiddenProperty, value: true });
  }

  /**
   * @param code the kind of the error
   * @param message what was wrong with which key, and what to do
   * @param fields details for programs; `undefined` members are left out
   */
  constructor(code: SessionErrorCode, message: string, fields: SessionErrorFields = {}) {
    super(maskSecrets(message), fields.cause === undefined ? undefined : { cause: fields.cause });
    defineMember(this, 'code', code);
    for (const field of FIELDS) {
      const value = fields[field];
      if (value === undefined) continue;
      defineMember(this, field, field === 'body' ? maskSecrets(String(fields.body)) : value);
    }
  }

  /**
   * Returns what `JSON.stringify` prints: name, code, message and the fields.
   *
   * Without this method the message would be missing, as it is not enumerable. Stack and cause are
   * left out, because logs and HTTP responses would tell strangers about the machine.
   */
  toJSON(): Record<string, unknown> {
    const { name, code, message } = this;
    return { name, code, message, ...fieldsOf(this) };
  }
}

/** Returns the optional members that an error has. */
export function fieldsOf(error: SessionError): Omit<SessionErrorFields, 'cause'> {
  const fields = {};
  // By name, since JavaScript engines add members of their own to errors (Safari: `line`, `sourceURL`).
  for (const field of FIELDS) {
    if (Object.hasOwn(error, field)) defineMember(fields, field, error[field]);
  }
  return fields;
}

/**
 * The error for a state key or value that the `stateSchema` does not allow; nothing was written.
 * Its code is `schema_violation`. `isStateSchemaError` of `@google/adk` checks its `name`.
 *
 * @example
 * ```ts
 * import { StateSchemaError } from 'adk-session-wasm';
 *
 * const error = new StateSchemaError('State key "colour" is not declared.', { key: 'colour' });
 * ```
 */
export class StateSchemaError extends SessionError {
  /** `'StateSchemaError'`, which `isStateSchemaError` of `@google/adk` checks. */
  declare readonly name: 'StateSchemaError';
  /** The kind of the error. */
  declare readonly code: 'schema_violation';

  static {
    const value = 'StateSchemaError';
    const hiddenProperty = { enumerable: false, configurable: true, writable: true };
    Object.defineProperty(this.prototype, 'name', { ...hiddenProperty, value });
  }

  constructor(message: string, fields: SessionErrorFields = {}) {
    super('schema_violation', message, fields);
  }
}

/** Returns an error of the class that its code has. For codes that come from elsewhere. */
export function sessionErrorOf(
  code: SessionErrorCode,
  message: string,
  fields?: SessionErrorFields,
): SessionError {
  if (code === 'schema_violation') return new StateSchemaError(message, fields);
  return new SessionError(code, message, fields);
}

/**
 * Returns whether `value` is an error of this package. Also recognises errors of another copy of
 * the package or of another realm, where `instanceof` fails.
 *
 * With a `code`, only an error with this code counts.
 *
 * @param value anything; never throws
 *
 * @example
 * ```ts
 * import { isSessionError } from 'adk-session-wasm';
 *
 * function wasDeleted(error: unknown): boolean {
 *   return isSessionError(error, 'not_found');
 * }
 * ```
 */
export function isSessionError(value: unknown): value is SessionError;
export function isSessionError<C extends SessionErrorCode>(
  value: unknown,
  code: C,
): value is SessionError & {
  /** The code that was asked for. */
  readonly code: C;
  /** As errors with that code have it. */
  readonly missing?: C extends 'connection_lost' ? 'events' : readonly MissingVariable[];
};
export function isSessionError(value: unknown, code?: SessionErrorCode): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const error = value as { [BRAND]?: unknown; code?: unknown };
    if (error[BRAND] !== true || typeof error.code !== 'string') return false;
    return code === undefined || error.code === code;
  } catch {
    // A revoked proxy, or a getter that throws.
    return false;
  }
}

/** The `connection_lost` errors of writes whose commit was not sent. */
const unwritten = new WeakSet<SessionError>();

/** Notes that nothing was written, although the connection was lost. */
export function markUnwritten(error: SessionError): void {
  unwritten.add(error);
}

/** Returns whether a write that failed with this error may be stored. */
export function mayBeWritten(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') && !unwritten.has(error);
}
