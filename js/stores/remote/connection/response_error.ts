/** Makes the errors of responses. */
import {
  SessionError,
  sessionErrorOf,
  type SessionErrorCode,
} from '../../../values/errors/errors.js';
import {
  type HttpServer,
  jsonIn,
  MAX_SHOWN_BODY,
  noteRepetition,
  remoteError,
  TRANSIENT,
} from '../../http/http_errors.js';
import { isPlainObject } from '../../../values/json/rules.js';

/** The server, as errors name it. */
export const SERVER: HttpServer = { name: 'The session server', storage: 'remote' };

/** `adk api_server`, as errors name it. */
export const API_SERVER: HttpServer = {
  ...SERVER,
  hintInPage:
    'The server may also have failed: a failure of adk api_server has no CORS headers; see its log.',
};

/** The codes of responses that are the same on this side of the connection. */
const KEPT_CODES: readonly unknown[] = [
  'invalid_argument',
  'already_exists',
  'not_found',
  'stale_session',
  'unserializable',
  'schema_violation',
  'ambiguous',
  'artifact_service_missing',
  'agent_running',
  'too_many_runs',
  'unsupported',
  'storage_failed',
  'quota_exceeded',
  'storage_blocked',
  'storage_unavailable',
  'storage_newer',
  'corrupt_record',
  'connection_lost',
  'run_failed',
] satisfies SessionErrorCode[];

/** What to do about a status that has no code. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Log in again, or check what getAccessToken returns.',
  403: 'The authorize of the server decides about it; it names the rights of a request.',
  404: 'Check the url: it ends with the basePath of the handler.',
};

/** Returns what the code of a response is on this side of the connection. */
function translate(code: unknown, status: number): SessionErrorCode {
  // Another signal than the caller's ended the request: the server's time limit. Status 409: the message was cancelled.
  if (code === 'aborted') return status === 409 ? code : 'connection_lost';
  if (code === 'closed') return 'storage_unavailable';
  return KEPT_CODES.includes(code) ? (code as SessionErrorCode) : 'remote';
}

/**
 * Makes the error for a response with an error status: with its `code` and fields if it has them.
 *
 * @param answer the body without credentials
 */
export function refusalOf(status: number, headers: Headers, answer: string): SessionError {
  const json = jsonIn(answer);
  const { detail, code, ...fields } = isPlainObject(json) ? json : {};
  const reason = typeof detail === 'string' ? detail.slice(0, MAX_SHOWN_BODY) : '';
  const known = code ?? codeOf(status, reason);
  const translated = translate(known, status);
  const message =
    reason && translated === known && status < 500
      ? reason
      : `${SERVER.name} refused with status ${status}: ${reason || 'no reason given.'}`;
  const advice = translated === 'remote' ? ADVICE[status] : undefined;
  const said = message.trim();
  const text = advice === undefined ? said : `${said.replace(/\.?$/, '.')} ${advice}`;
  const error = sessionErrorOf(translated, text, {
    ...(known !== undefined && fields),
    status,
    ...(translated === 'remote' && { body: answer.slice(0, MAX_SHOWN_BODY) }),
    ...(status >= 500 && { storage: SERVER.storage }),
  });
  // Status 500 with a code does not pass. `too_many_runs` is not repeated here: its caller waits for a run to end,
  // without a time limit.
  const isFinal = (status === 500 && known !== undefined) || translated === 'too_many_runs';
  // A redirection leads to the login page of a network.
  const isTransient = status < 400 || (TRANSIENT.includes(status) && !isFinal);
  noteRepetition(error, headers.get('retry-after'), isTransient);
  return error;
}

/** Returns the code of an error that `adk api_server` and the handler send without one. */
function codeOf(status: number, detail: string): SessionErrorCode | undefined {
  if (status === 404 && /^(Session|Artifact.*) not found/.test(detail)) return 'not_found';
  if (status === 409 && detail.startsWith('Session already exists')) return 'already_exists';
  return undefined;
}

/**
 * Makes the error for a response that is not of the protocol: another server, or incomplete.
 *
 * @param isWrite whether the change may be stored
 */
export function malformedResponse(status: number, text: string, isWrite: boolean): SessionError {
  const message = `${SERVER.name} responded with something else than it should; check the url and proxies.`;
  if (isWrite) {
    const advice = 'The change may be stored; a stored event is not stored twice.';
    return new SessionError('connection_lost', `${message} ${advice}`, { storage: SERVER.storage });
  }
  const error = remoteError(SERVER, message, status, text);
  noteRepetition(error, null, true);
  return error;
}

/** Makes the error for a response that the handler has not sent: a proxy or the login page of a network did. */
export function foreignResponse(status: number, headers: Headers): SessionError {
  const message = `Something before the session server answered with status ${status}; log in to the network, or try again.`;
  const error = new SessionError('connection_lost', message, { storage: SERVER.storage });
  noteRepetition(error, headers.get('retry-after'), true);
  return error;
}
