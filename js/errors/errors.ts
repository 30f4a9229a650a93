/**
 * The errors of this package: one class, told apart by a stable `code`.
 *
 * A code and not a class per case, because `instanceof` fails between two copies of the package and
 * between realms (an iframe, `node:vm`), while a string compares equal everywhere.
 */
import { defineMember } from '../members/member.js';

/**
 * Every {@link SessionErrorCode}, in the order of the documentation.
 *
 * @example
 * ```ts
 * import { SESSION_ERROR_CODES } from 'adk-session-wasm';
 *
 * const counts = new Map(SESSION_ERROR_CODES.map((code) => [code, 0]));
 * ```
 */
export const SESSION_ERROR_CODES = [
  /** An argument is missing, of the wrong type or out of range. */
  'invalid_argument',
  /** A session of that id exists; it is untouched. */
  'already_exists',
  /** The session was deleted or never existed. */
  'not_found',
  /** Someone else appended first, and the service was told to reject that. */
  'stale_session',
  /** A value that JSON cannot say; `path` leads to it. */
  'unserializable',
  /** A template names keys that the state does not have; see `missing`. */
  'missing_variable',
  /** A template names an artifact and there is no artifact service. */
  'artifact_service_missing',
  /** A state key or value that the `stateSchema` does not allow. */
  'schema_violation',
  /** A write to the state of a `ReadonlyContext`. */
  'readonly',
  /** The request fits more than one thing. */
  'ambiguous',
  /** The storage, or the service behind it, cannot do that. */
  'unsupported',
  /** The service was closed. */
  'closed',
  /** The request's `signal` fired before the commit began; `cause` is its reason. */
  'aborted',
  /** A bug of this package. */
  'internal',
  /** A storage adapter threw, or answered nonsense. */
  'storage_failed',
  /** The wasm module did not load. */
  'wasm_unavailable',
  /** A synchronous call in the slim entry before the wasm module was there. */
  'not_loaded',
  /** The browser gives this site no more room. */
  'quota_exceeded',
  /** Another tab holds an older version of the database open. */
  'storage_blocked',
  /** There is no such storage here (private mode, blocked by policy, missing). */
  'storage_unavailable',
  /** The data was written by a newer version of this package. */
  'storage_newer',
  /** One stored record cannot be read; `record` names it, the rest stays readable. */
  'corrupt_record',
  /** The connection to a database broke. */
  'connection_lost',
  /** A remote service refused; see `status` and `body`. */
  'remote',
] as const;

/**
 * What went wrong, as a stable word: what programs compare, where the message is for people.
 *
 * @example
 * ```ts
 * import type { SessionErrorCode } from 'adk-session-wasm';
 *
 * const retryable: readonly SessionErrorCode[] = ['stale_session', 'connection_lost'];
 * ```
 */
export type SessionErrorCode = (typeof SESSION_ERROR_CODES)[number];

/**
 * A name in a template for which there is no value.
 *
 * @example
 * ```ts
 * import { isSessionError } from 'adk-session-wasm';
 *
 * function explain(error: unknown): string[] {
 *   if (!isSessionError(error, 'missing_variable')) return [];
 *   return (error.missing ?? []).map(({ name, offset }) => `${name} at ${offset}`);
 * }
 * ```
 */
export interface MissingVariable {
  /** As the template has it, prefix included: `user:name`. */
  readonly name: string;
  /** Where the placeholder's brace stands in the template, in UTF-16 code units from 0. */
  readonly offset: number;
  /** Names in the state that look like it, best first; may be empty. */
  readonly suggestions: readonly string[];
}

/**
 * What a {@link SessionError} can tell beside its code and message. All of it is optional, and each
 * field comes with the codes named there.
 *
 * @example
 * ```ts
 * import { SessionError, type SessionErrorFields } from 'adk-session-wasm';
 *
 * const fields: SessionErrorFields = { record: 'event 12 of session s1' };
 * throw new SessionError('corrupt_record', 'Event 12 of session s1 is no JSON.', fields);
 * ```
 */
export interface SessionErrorFields {
  /**
   * `unserializable`: where the value stands, like `cart.items[3].price`. `invalid_argument`: what is wrong
   * in a session file, like `events[3].timestamp`.
   */
  readonly path?: string | undefined;
  /** `schema_violation`, `readonly`, `invalid_argument`: the state key or argument. */
  readonly key?: string | undefined;
  /** `missing_variable`: all of them, in the template's order. */
  readonly missing?: readonly MissingVariable[] | undefined;
  /** `stale_session`: the revision that the handle was read at. */
  readonly expectedRevision?: number | undefined;
  /** `stale_session`: the revision that is stored. */
  readonly actualRevision?: number | undefined;
  /**
   * `stale_session` from a database: what google-adk for Python calls the session's marker, as of when
   * the handle was read, like `2025-03-05T23:46:54.123456`.
   */
  readonly expectedMarker?: string | undefined;
  /** `stale_session` from a database: the marker that is stored, which Python may have set to an earlier time. */
  readonly actualMarker?: string | undefined;
  /** `corrupt_record`: which record. */
  readonly record?: string | undefined;
  /** `remote`: the HTTP status. */
  readonly status?: number | undefined;
  /** `remote`: the beginning of the answer. */
  readonly body?: string | undefined;
  /** Storage codes: the kind or name of the storage. */
  readonly storage?: string | undefined;
  /** What lies underneath. Never printed by `toJSON`, for a driver's error may quote its URL. */
  readonly cause?: unknown;
}

const FIELDS = [
  'path',
  'key',
  'missing',
  'expectedRevision',
  'actualRevision',
  'expectedMarker',
  'actualMarker',
  'record',
  'status',
  'body',
  'storage',
] as const satisfies readonly Exclude<keyof SessionErrorFields, 'cause'>[];

/** From the registry, so that every copy of the package in every realm has the same one. */
const BRAND = Symbol.for('adk-session-wasm.SessionError');

/** What may stand between `scheme://user:` and the host; no white space, so an error stays cheap. */
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/]*):[^\s/]*@/gi;
const HTTP_CREDENTIAL = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;
const QUERY_SECRET =
  /([?&](?:key|api_?key|token|access_token|id_token|password|pwd|secret|client_secret)=)[^\s&#"']+/gi;

/**
 * Takes passwords and keys in URLs, and HTTP credentials, out of `text`. A net below the callers, who should
 * not put them there: drivers quote their connection string in messages that we pass on.
 */
function masked(text: string): string {
  return text
    .replace(URL_PASSWORD, '$1:***@')
    .replace(HTTP_CREDENTIAL, '$1 ***')
    .replace(QUERY_SECRET, '$1***');
}

/**
 * What every method of this package throws or rejects with.
 *
 * `code` is stable; the message says what was wrong with which key and what to do, and may change.
 * Passwords and keys in URLs, and HTTP credentials, are masked in `message` and `body`.
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
  // `declare`: a field of its own would be an enumerable `name` on every error, and `undefined`
  // members for all that a code does not have.
  declare readonly name: 'SessionError' | 'StateSchemaError';
  /** What went wrong. */
  declare readonly code: SessionErrorCode;
  declare readonly path?: string;
  declare readonly key?: string;
  declare readonly missing?: readonly MissingVariable[];
  declare readonly expectedRevision?: number;
  declare readonly actualRevision?: number;
  declare readonly expectedMarker?: string;
  declare readonly actualMarker?: string;
  declare readonly record?: string;
  declare readonly status?: number;
  declare readonly body?: string;
  declare readonly storage?: string;

  static {
    const hidden = { enumerable: false, configurable: true, writable: true };
    Object.defineProperty(this.prototype, 'name', { ...hidden, value: 'SessionError' });
    Object.defineProperty(this.prototype, BRAND, { ...hidden, value: true });
  }

  /**
   * @param code what went wrong
   * @param message what was wrong with which key, and what to do
   * @param fields what programs want to know beside it; `undefined` members are left out
   */
  constructor(code: SessionErrorCode, message: string, fields: SessionErrorFields = {}) {
    // Without a prototype: a member that somebody put on `Object.prototype` is not told.
    const given = Object.assign(Object.create(null) as SessionErrorFields, fields);
    super(masked(message), given.cause === undefined ? undefined : { cause: given.cause });
    defineMember(this, 'code', code);
    for (const field of FIELDS) {
      const value = given[field];
      if (value === undefined) continue;
      defineMember(this, field, field === 'body' ? masked(String(given.body)) : value);
    }
  }

  /**
   * What `JSON.stringify` prints: name, code, message and the fields.
   *
   * Without it the message would be missing, as it is not enumerable. Stack and cause stay out: a
   * log or an HTTP answer that holds them tells strangers about the machine.
   */
  toJSON(): Record<string, unknown> {
    const { name, code, message } = this;
    const plain: Record<string, unknown> = { name, code, message };
    // By name, since engines add members of their own to errors (Safari: `line`, `sourceURL`).
    for (const field of FIELDS) {
      if (Object.hasOwn(this, field)) defineMember(plain, field, this[field]);
    }
    return plain;
  }
}

/**
 * A state key or value that the `stateSchema` does not allow; nothing was written. The code is
 * `schema_violation`, and the name is what `@google/adk`'s `isStateSchemaError` looks at.
 *
 * @example
 * ```ts
 * import { StateSchemaError } from 'adk-session-wasm';
 *
 * throw new StateSchemaError('State key "colour" is not declared in the schema.', { key: 'colour' });
 * ```
 */
export class StateSchemaError extends SessionError {
  declare readonly name: 'StateSchemaError';
  declare readonly code: 'schema_violation';

  static {
    const value = 'StateSchemaError';
    const hidden = { enumerable: false, configurable: true, writable: true };
    Object.defineProperty(this.prototype, 'name', { ...hidden, value });
  }

  constructor(message: string, fields: SessionErrorFields = {}) {
    super('schema_violation', message, fields);
  }
}

/**
 * Whether `value` is an error of this package, also one of another copy of it or another realm,
 * where `instanceof` fails.
 *
 * @param value anything; never throws
 * @param code if given, only an error with this code counts
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
): value is SessionError & { readonly code: C };
export function isSessionError(value: unknown, code?: SessionErrorCode): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const error = value as { [BRAND]?: unknown; code?: unknown };
    if (error[BRAND] !== true || typeof error.code !== 'string') return false;
    return code === undefined || error.code === code;
  } catch {
    // A revoked proxy, or a getter that throws: no error of ours.
    return false;
  }
}
