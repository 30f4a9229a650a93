import { isTime } from '../../../values/model/values/time.js';
import { requireNotAborted } from '../../../core/call/call.js';
import { TimeLimit } from '../../../core/call/time_limit.js';
import {
  isSessionError,
  SessionError,
  type SessionErrorCode,
} from '../../../values/errors/errors.js';
import { innermostMessage, jsonIn, MAX_SHOWN_BODY, timeoutError } from '../../http/http_errors.js';
import { isPlainObject } from '../../../values/json/rules.js';
import type { Event } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { ReadSession } from '../../../core/read.js';
import type { HttpConnection } from '../connection/connection.js';
import { SERVER } from '../connection/response_error.js';
import { HandleUpdates } from './handle_updates.js';
import type { CheckedRun } from './run_request.js';
import { openStream, serverSentEvents } from '../connection/server_sent_events.js';

/** The server's half of a run. */
export interface RunServer {
  readonly connection: HttpConnection;
  /** Reads the whole session of the run. */
  readonly read: (signal: HostAbortSignal) => Promise<ReadSession | undefined>;
  /** Returns an event of the server in the form of this package. */
  readonly toEvent: (json: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

/**
 * Sends a run, once, and yields its events. The handle has each stored event before it is yielded.
 *
 * @param stopped fires when the caller wants no more events; the run then fails
 * @throws SessionError `remote`, `connection_lost`, `aborted`, `closed`, or the code of the refusal
 */
export async function* runAgent(
  { connection, read, toEvent }: RunServer,
  { body, handle, signal, onAccepted }: CheckedRun,
  stopped: HostAbortSignal,
): AsyncGenerator<Event, void, undefined> {
  const { timeoutMs, closeLimit } = connection.options;
  requireNotAborted(signal);
  closeLimit.signal.throwIfAborted();
  const ended = new TimeLimit(timeoutMs, () => lateRun(timeoutMs));
  ended.follow(stopped);
  ended.follow(closeLimit.signal);
  if (signal !== undefined) ended.follow(signal, () => abortedRun(signal));
  const updates = handle && new HandleUpdates(handle, () => read(ended.signal));
  try {
    const request = { method: 'POST', path: '/run_sse', body } as const;
    const { response, mask } = await openStream(connection, request, ended.signal);
    ended.stopTimer();
    onAccepted?.();
    let failure: SessionError | undefined;
    for await (const data of serverSentEvents(response, ended.signal)) {
      if (data === undefined) continue;
      const json = jsonIn(data);
      failure = failureIn(json, mask);
      if (failure !== undefined) break;
      const event = isPlainObject(json) ? toEvent(json) : undefined;
      if (!isWhole(event)) throw new Error('it sent something else than an event');
      await updates?.add(event);
      yield event;
    }
    ended.signal.throwIfAborted();
    // The failure matters more than that of reading after it.
    await updates?.finish().catch((error: unknown) => {
      throw failure ?? error;
    });
    if (failure !== undefined) throw failure;
  } catch (cause) {
    ended.signal.throwIfAborted();
    throw isSessionError(cause) ? cause : lostRun(innermostMessage(cause), cause);
  } finally {
    ended.end();
    ended.abort();
  }
}

/** Returns whether an event has the members that google-adk always sends. */
function isWhole(event: unknown): event is Event {
  if (!isPlainObject(event) || !isPlainObject(event.actions)) return false;
  const { id, timestamp, actions } = event;
  return typeof id === 'string' && isTime(timestamp) && isPlainObject(actions.stateDelta);
}

/** Codes of exceptions of google-adk that end a run. */
const CODES: Readonly<Record<string, SessionErrorCode>> = {
  StaleSessionError: 'stale_session',
  SessionNotFoundError: 'not_found',
};

/** Returns the error that the server has put into the stream instead of an event, if it is one. */
function failureIn(json: unknown, mask: (text: string) => string): SessionError | undefined {
  if (!isPlainObject(json) || typeof json.error !== 'string') return undefined;
  const { error, error_details: details } = json;
  const type = isPlainObject(details) ? String(details.error_type) : '';
  const code = Object.hasOwn(CODES, type) ? CODES[type]! : 'remote';
  const text = mask(error).slice(0, MAX_SHOWN_BODY);
  const fields = code === 'remote' ? { status: 200, body: text } : {};
  return new SessionError(code, `The run failed: ${text}`, { storage: SERVER.storage, ...fields });
}

const ADVICE =
  'The message and some events may be stored; read the session before you send it again.';

function lostRun(problem: string, cause: unknown): SessionError {
  const message = `${SERVER.name} was lost during the run: ${problem}. ${ADVICE}`;
  return new SessionError('connection_lost', message, { storage: SERVER.storage, cause });
}

function lateRun(timeoutMs: number): SessionError {
  return timeoutError(
    SERVER,
    `${SERVER.name} did not begin the run within ${timeoutMs} ms. ${ADVICE}`,
  );
}

function abortedRun({ reason }: HostAbortSignal): SessionError {
  return new SessionError('aborted', `The run was aborted. ${ADVICE}`, { cause: reason });
}
