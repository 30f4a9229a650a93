/** Runs of the agent of a server: the request, its events, and the changes of the handle. */
import { requireNotAborted } from '../../core/call/call.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import { TimeLimit } from '../../core/call/time_limit.js';
import { indexOfId, putEvent } from '../../core/handle/event_index.js';
import { rewindTargetOf } from '../../values/model/event/markers.js';
import type { ReadSession } from '../../core/read.js';
import { isSessionError, SessionError, type SessionErrorCode } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import { copyJson } from '../../values/json/copy.js';
import { isPlainObject } from '../../values/json/rules.js';
import { setMember } from '../../values/members.js';
import type { Event } from '../../values/model/event/event.js';
import { isPartial } from '../../values/model/event/stored.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { isTime } from '../../values/model/values/time.js';
import { writeKey } from '../../values/state/keys.js';
import { isTemp } from '../../values/state/scope.js';
import { hasUnstoredWrite } from '../../values/state/write_order.js';
import { innermostMessage, jsonIn, MAX_SHOWN_BODY, timeoutError } from '../http/http_errors.js';
import type { HttpConnection } from './connection/connection.js';
import { SERVER } from './connection/response_error.js';
import { openStream, serverSentEvents } from './connection/server_sent_events.js';
import type { CheckedRun, RunHandle } from './run_request.js';

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
export async function* requestRun(
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

/** The changes of each handle, by its state: two runs may change one handle at once. */
const handleChanges = new KeyedQueue<object>();

/**
 * Brings the events of a run into a handle, in the server's order.
 *
 * The stream lacks the user's message, and events that others store meanwhile. So the stored session is read at the
 * first event and after the last one. In between, an event is added if it can only be the last one; otherwise the
 * session is read again.
 */
class HandleUpdates {
  readonly #handle: RunHandle;
  readonly #read: () => Promise<ReadSession | undefined>;
  /** Whether the handle has the message. */
  #isRead = false;
  /** The ids of events that came from the stream and were not read since. */
  readonly #streamed = new Set<string>();

  /** @param read reads the whole session */
  constructor(handle: RunHandle, read: () => Promise<ReadSession | undefined>) {
    this.#handle = handle;
    this.#read = read;
  }

  /** Gives the handle an event of the stream. */
  add(event: Event): Promise<void> {
    return this.#inTurn(() => this.#add(event));
  }

  /** Gives the handle what the server has. */
  finish(): Promise<void> {
    return this.#inTurn(() => this.#readAll());
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    return handleChanges.run(this.#handle.session.state, change);
  }

  async #add(event: Event): Promise<void> {
    if (!this.#isRead) return this.#readAll();
    if (isPartial(event)) return;
    const { events, given } = this.#handle.session;
    const isKnown = indexOfId(this.#handle.session, event.id) >= 0;
    if (isKnown && !this.#streamed.has(event.id)) return;
    const last = events.at(-1);
    // The server sends an event with artifacts in two parts, with the same id.
    const isLater = last === undefined || event.timestamp > last.timestamp;
    // The delta of a rewind does not give the state.
    const isNext = !isKnown && isLater && rewindTargetOf(event) === undefined;
    if (!isNext) return this.#readAll();
    this.#streamed.add(event.id);
    putEvent(this.#handle.session, event);
    const { stateDelta } = event.actions;
    for (const key of Object.keys(stateDelta)) this.#write(key, copyJson(stateDelta[key]));
    setMember(given, 'lastUpdateTime', event.timestamp);
  }

  async #readAll(): Promise<void> {
    const { session, facts } = this.#handle;
    const { state, events, given, id } = session;
    const read = await this.#read();
    if (read === undefined) throw sessionNotFound(id);
    const { lastUpdateTime, state: stateText } = read;
    this.#isRead = true;
    this.#replaceEvents(this.#window(read.events));
    const stored = JSON.parse(stateText) as Record<string, unknown>;
    for (const key of Object.keys({ ...state, ...stored })) this.#write(key, stored[key]);
    facts.noteFirstEvent(events);
    setMember(given, 'lastUpdateTime', lastUpdateTime);
  }

  /** The handle keeps its own values of `temp:` keys and of writes that are not stored. */
  #write(key: string, value: unknown): void {
    const { state } = this.#handle.session;
    if (!isTemp(key) && !hasUnstoredWrite(state, key)) writeKey(state, key, value);
  }

  /** Returns the events from the handle's first one on, or those after it was read if it has none. */
  #window(all: readonly Event[]): readonly Event[] {
    const { session, facts } = this.#handle;
    const first = session.events[0];
    if (facts.firstEventId === (first?.id ?? '')) return all;
    if (first === undefined) {
      return all.filter(({ timestamp }) => timestamp > session.given.lastUpdateTime);
    }
    const position = all.findIndex(({ id }) => id === first.id);
    return position < 0 ? all : all.slice(position);
  }

  /** Keeps the objects of events that the handle has, except those that the stream may have cut. */
  #replaceEvents(stored: readonly Event[]): void {
    const { events } = this.#handle.session;
    if (!Object.isExtensible(events)) return;
    const known = new Map(events.map((event) => [event.id, event]));
    for (const id of this.#streamed) known.delete(id);
    this.#streamed.clear();
    const current = stored.map((event) => known.get(event.id) ?? event);
    const end = current.findIndex((event, position) => event !== events[position]);
    if (end < 0) {
      events.length = current.length;
      return;
    }
    events.length = end;
    for (const event of current.slice(end)) events.push(event);
  }
}
