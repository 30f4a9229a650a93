/** What users are told of a run, and what the stored events alone tell of it. */
import type { RunReport, Draft } from '../../../core/run_report.js';
import { messageOf } from '../../../values/errors/describe.js';
import {
  isSessionError,
  SESSION_ERROR_CODES,
  SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';
import { isPlainObject } from '../../../values/json/rules.js';
import type { Part } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { hasWaitingCall, isAbort, ABORTED } from '../../../values/model/event/waiting.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';

/** The run of a session, or what became of its newest message. */
export interface SessionRun {
  /**
   * `queued`: the message waits for its run. `running`: an agent answers, in this tab, in another one or on the server.
   * `failed`: the agent threw, see `error`. `cancelled`. `unanswered`: the newest message has no answer, and nothing
   * runs: the page was closed, for example. `regenerate` answers again after the last three.
   */
  readonly status: 'queued' | 'running' | 'failed' | 'cancelled' | 'unanswered';
  /** The id of the message. */
  readonly messageId: string;
  /**
   * Why the run failed: a `SessionError`. What the agent or a plugin threw has the code `run_failed`, and is its
   * `cause`; of a run in another tab or on a server the `cause` has at most a `code`.
   */
  readonly error?: unknown;
  /** Whether messages of this page wait until the next `ask` or `retry`, because a run has failed or was cancelled. */
  readonly isPaused?: boolean;
}

/** A run as it is told, with the error as users get it. */
export type Report = Pick<
  RunReport,
  'messageId' | 'invocationId' | 'status' | 'drafts' | 'wholes'
> & {
  readonly error?: SessionRun['error'];
  /** The id under which the message was asked, if the server has stored it under another one. */
  readonly askedAs?: string;
};

/** Returns the newest message of the user. */
export function newestMessage(events: readonly Event[]): Event | undefined {
  return events.findLast((event) => event.author === 'user' && partsOf(event).length > 0);
}

/**
 * Returns whether the newest message was cancelled or has no answer; `undefined` if it has one, or a question is open.
 */
export function storedStatus(events: readonly Event[]): SessionRun | undefined {
  const message = newestMessage(events);
  if (message === undefined) return undefined;
  const { id: messageId, invocationId } = message;
  const later = events.slice(events.indexOf(message) + 1);
  // Another run may have been cancelled behind the message.
  const isOwnAbort = (event: Event): boolean =>
    isAbort(event) && event.invocationId === invocationId;
  if (later.some(isOwnAbort)) return { status: 'cancelled', messageId };
  return later.some(isEnd) ? undefined : { status: 'unanswered', messageId };
}

/** Whether an event ends a run: a final answer, an error, or a question to the user. */
function isEnd(event: Event): boolean {
  if (event.author === 'user' || isAbort(event)) return false;
  if (hasWaitingCall(event) || event.errorCode) return true;
  return partsOf(event).length > 0 && isFinalResponse(event);
}

/** Makes the error of a run that failed in another tab or on a server, from what that has told of it. */
export function toldError(told: RunReport['error']): SessionError {
  const { code, message = 'The agent failed.', cause } = told ?? {};
  const known = SESSION_ERROR_CODES.find((known) => known === code) ?? 'run_failed';
  return sessionErrorOf(known, message, { cause });
}

/** Makes what is told of the error of a run: its code, its text and the code of its cause. */
export function errorToTell(error: unknown): RunReport['error'] {
  if (error === undefined) return undefined;
  const { code, message, cause } = isSessionError(error) ? error : runFailed(error);
  return { code, message, ...(isSessionError(cause) && { cause: { code: cause.code } }) };
}

/** Makes what an agent or a plugin threw an error that names it. */
export function runFailed(cause: unknown): SessionError {
  if (isSessionError(cause, 'run_failed')) return cause;
  return new SessionError('run_failed', `The agent failed: ${messageOf(cause)}`, { cause });
}

/** How many events are read at first. A run is mostly shorter. */
const FIRST_WINDOW = 64;

/**
 * What the stored events say of a run afterwards. `cancelled`: the user stopped it. `unanswered`: its program stopped
 * it, so that only its open calls are closed.
 */
export type EndedAs = 'cancelled' | 'unanswered';

/** What the end events of a run are computed from. */
export interface EndingRun {
  readonly message: Pick<Event, 'id' | 'invocationId'>;
  readonly drafts: readonly Draft[];
  readonly agentName: string | undefined;
}

/** A run that was cancelled. */
export interface CancelledRun extends EndingRun {
  readonly key: CompositeSessionKey;
  /** Whether to do nothing if the message has an answer meanwhile. */
  readonly isUnanswered: boolean;
  /** Default: `cancelled`. */
  readonly endedAs?: EndedAs | undefined;
}

/**
 * Ends a cancelled run: stores the texts that were streamed as interrupted answers, and then the events by which
 * google-adk marks a run as cancelled. Nothing happens if its message is not stored or was undone, or if the run has
 * its end event.
 *
 * @returns the stored events
 */
export async function endRun(
  service: SessionService,
  { key, message, drafts, agentName, isUnanswered, endedAs }: CancelledRun,
): Promise<readonly NewEvent[]> {
  for (let numRecentEvents = FIRST_WINDOW; ; numRecentEvents *= 4) {
    const session = await service.getSession({
      ...key,
      config: { numRecentEvents, view: 'transcript' },
    });
    const { events = [] } = session ?? {};
    const isWhole = events.length < numRecentEvents;
    const isFound = events.some(({ id }) => id === message.id);
    if (session === undefined || (isWhole && !isFound)) return [];
    if (!isFound) continue;
    if (isUnanswered && storedStatus(events)?.messageId !== message.id) return [];
    const endEvents = endEventsOf({ message, drafts, agentName, endedAs }, events);
    try {
      if (endEvents.length > 0) await service.appendEvents({ session, events: endEvents });
    } catch (error) {
      // It was cancelled or undone meanwhile.
      if (isFenced(error)) return [];
      throw error;
    }
    return endEvents;
  }
}

/**
 * Returns the end events of a run: the texts that were streamed, and google-adk's events of an aborted run. None if it
 * has its end event already.
 *
 * @param events those of the session, at least from the message of the run on
 */
export function endEventsOf(
  { message, drafts, agentName, endedAs }: EndingRun & Pick<CancelledRun, 'endedAs'>,
  events: readonly Event[],
): NewEvent[] {
  const { id, invocationId } = message;
  // A run that was resumed may have an end event before its message.
  const own = events.slice(events.findIndex((event) => event.id === id) + 1);
  if (own.some((event) => event.invocationId === invocationId && isAbort(event))) return [];
  const last = events.findLast(({ author }) => author !== 'user')?.author;
  const endEvents = abortEvents(events, invocationId, agentName ?? last ?? 'agent');
  if (endedAs === 'unanswered') return endEvents.flatMap(closedCalls);
  return [...drafts.flatMap((draft) => interrupted(draft, events)), ...endEvents];
}

/** What a cancelled run throws wherever it is noticed: the code is always `aborted`. */
export function cancelledError(detail = '', cause?: unknown): SessionError {
  return new SessionError('aborted', `The run was cancelled.${detail}`, { cause });
}

/** Returns whether an append was refused because its run was cancelled, here or by another process. */
function isRunCancelled(error: unknown): boolean {
  return isSessionError(error, 'stale_session') && error.staleReason === 'cancelled';
}

/** Returns whether an append was refused because its run was cancelled, or undone by a rewind. */
export function isFenced(error: unknown): boolean {
  return (
    isRunCancelled(error) ||
    (isSessionError(error, 'stale_session') && error.staleReason === 'undone')
  );
}

/** Returns the streamed texts of a draft as an interrupted answer; nothing if the answer is stored. */
function interrupted({ event, endedBy }: Draft, stored: readonly Event[]): NewEvent[] {
  if (stored.some(({ id }) => id === event.id || id === endedBy)) return [];
  const parts = partsOf(event).filter(({ text, thought }) => text && !thought);
  if (parts.length === 0) return [];
  const { id, invocationId, author = 'agent', branch } = event;
  return [
    {
      ...{ id, invocationId, author, interrupted: true },
      ...(branch !== undefined && { branch }),
      content: { role: 'model', parts: [...parts] },
    },
  ];
}

/**
 * Returns an end event that only closes open calls: without the error code of a cancelled run. None if it closes none.
 */
function closedCalls(endEvent: NewEvent): NewEvent[] {
  if (endEvent.content === undefined) return [];
  const closed = { ...endEvent };
  delete closed.errorCode;
  delete closed.errorMessage;
  return [closed];
}

const MESSAGE = 'Invocation was aborted by client.';

/**
 * Returns the end events of a cancelled run, as google-adk for Python writes them (`_build_abort_events`): an error in
 * place of each missing response, or one event that only says that the run was cancelled.
 *
 * @param events the history; only the events of the run count
 * @param agentName the author of the event if no response is missing
 */
export function abortEvents(
  events: readonly Event[],
  invocationId: string,
  agentName: string,
): NewEvent[] {
  const own = events.filter((event) => event.invocationId === invocationId);
  const last = own.at(-1);
  // The task's agent has answered and waits for the user: no call is open.
  if (last?.isolationScope && last.author !== 'user' && isFinalResponse(last)) return [];
  const parts = own.flatMap((event) => partsOf(event).map((part) => ({ part, event })));
  const answered = new Set(parts.map(({ part }) => part.functionResponse?.id));
  const groups = new Map<string, { readonly event: Event; readonly parts: Part[] }>();
  for (const { part, event } of parts) {
    const { functionCall } = part;
    if (!isPlainObject(functionCall)) continue;
    const { id, name } = functionCall as NonNullable<Part['functionCall']>;
    if (!id || answered.has(id)) continue;
    const group = JSON.stringify([event.author, branchOf(event), event.isolationScope ?? null]);
    const response = { id, ...(name !== undefined && { name }), response: { error: MESSAGE } };
    const known = groups.get(group) ?? { event, parts: [] };
    known.parts.push({ functionResponse: response });
    groups.set(group, known);
  }
  const endEvent = { invocationId, errorCode: ABORTED, errorMessage: MESSAGE };
  if (groups.size === 0) return [{ ...endEvent, author: agentName }];
  return [...groups.values()].map(({ event, parts }) => ({
    ...endEvent,
    author: event.author ?? agentName,
    ...(branchOf(event) !== null && { branch: branchOf(event)! }),
    ...(event.isolationScope != null && { isolationScope: event.isolationScope }),
    content: { role: 'user', parts },
  }));
}

/** An empty branch counts as none, as in Python. */
function branchOf({ branch }: Event): string | null {
  return branch === undefined || branch === '' ? null : branch;
}
