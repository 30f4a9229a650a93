/** Errors in words for the person in front of a page. */
import { isSessionError, type SessionErrorCode } from './errors.js';

const ENGLISH = {
  offline: 'You are offline.',
  signedOut: 'Sign in to go on.',
  forbidden: 'You may not do this.',
  notFound: 'This is no longer there.',
  changed: 'This was changed elsewhere. Look at it, and try again.',
  busy: 'An answer is being made. Try again in a moment.',
  late: 'This took too long. Try again.',
  stopped: 'This was stopped.',
  full: 'There is no room left.',
  storage: 'Nothing can be stored here now. Reload the page.',
  refused: 'This cannot be taken as it is.',
  failed: 'The answer could not be made: {reason}',
  unexplained: 'The answer could not be made.',
  other: 'Something went wrong. Try again.',
};

/**
 * The sentences of {@link errorText}. In `failed`, `{reason}` stands for why an answer could not be made. If only a
 * developer can read the reason, the sentence is `unexplained`.
 */
export type ErrorTexts = Readonly<Record<keyof typeof ENGLISH, string>>;

const BY_CODE: Readonly<Partial<Record<SessionErrorCode, keyof ErrorTexts>>> = {
  connection_lost: 'offline',
  not_found: 'notFound',
  already_exists: 'changed',
  stale_session: 'changed',
  agent_running: 'busy',
  too_many_runs: 'busy',
  timeout: 'late',
  aborted: 'stopped',
  quota_exceeded: 'full',
  storage_blocked: 'storage',
  storage_unavailable: 'storage',
  storage_newer: 'storage',
  closed: 'storage',
  invalid_argument: 'refused',
  unserializable: 'refused',
  schema_violation: 'refused',
  readonly: 'forbidden',
  run_failed: 'failed',
};

const BY_STATUS: Readonly<Record<number, keyof ErrorTexts>> = {
  401: 'signedOut',
  403: 'forbidden',
  404: 'notFound',
  409: 'changed',
  413: 'refused',
  429: 'busy',
};

/**
 * Returns a sentence for the person in front of a page. The message of an error is for developers, and may name hosts
 * and files: of messages only the cause of a `run_failed` is printed, which is what the agent threw or what its last
 * event reports.
 *
 * @param error whatever was thrown, or `run.error` and `unsent[id].error` of a live session
 * @param texts sentences in place of the English ones, for another language. Those that are `undefined` stay English
 *
 * @example
 * ```ts
 * import { SessionError } from 'adk-session-wasm';
 * import { errorText } from 'adk-session-wasm/live';
 *
 * const error = new SessionError('connection_lost', 'https://chat.example did not answer.');
 * console.log(errorText(error)); // You are offline.
 * console.log(errorText(error, { offline: 'Keine Verbindung.' })); // Keine Verbindung.
 * ```
 */
export function errorText(error: unknown, texts: Partial<ErrorTexts> = {}): string {
  const textOf = (kind: keyof ErrorTexts): string => texts[kind] ?? ENGLISH[kind];
  if (!isSessionError(error)) return textOf('other');
  const { code, status, cause } = error;
  const kind = BY_CODE[code] ?? BY_STATUS[status ?? 0] ?? 'other';
  if (kind !== 'failed') return textOf(kind);
  const reason = reasonOf(cause);
  return reason === undefined
    ? textOf('unexplained')
    : textOf(kind).replace('{reason}', () => reason);
}

/** Returns why an answer could not be made; `undefined` if only a developer can read it. */
function reasonOf(cause: unknown): string | undefined {
  if (isSessionError(cause)) return undefined;
  const { message = cause } = Object(cause) as { readonly message?: unknown };
  return typeof message === 'string' && message !== '' ? message : undefined;
}
