/** What users are told of a run, and what the stored events alone tell of it. */
import type { RunReport } from '../../../core/run_report.js';
import { messageOf } from '../../../values/errors/describe.js';
import {
  isSessionError,
  SESSION_ERROR_CODES,
  SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';
import { errorOfEvent, type PublicError } from '../../../values/errors/public_error.js';
import type { Event } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { RUN_ERROR } from '../../../values/model/event/metadata.js';
import { partsOf } from '../../../values/model/event/parts.js';
import {
  failureOfEvent,
  isStopped,
  RUN_FAILED,
  type ShownError,
  tellsOfRun,
} from '../../../values/model/event/shown.js';
import { hasWaitingCall, isAbort } from '../../../values/model/event/waiting.js';

/** The run of a session, or what became of its newest message. */
export interface SessionRun {
  /**
   * `queued`: the message waits for its run. `running`: an agent answers, in this tab, in another one or on the server.
   * `failed`: the agent threw, or its last event is an error without an answer, see `error`. `cancelled`. `unanswered`:
   * the newest message has no answer, and nothing runs: the page was closed, for example. `regenerate` answers again
   * after the last three.
   */
  readonly status: 'queued' | 'running' | 'failed' | 'cancelled' | 'unanswered';
  /** The id of the message. */
  readonly messageId: string;
  /**
   * Why the run failed: a `SessionError`. What the agent or a plugin threw has the code `run_failed`, and is its
   * `cause`; after a reload, in another tab and of a run on a server the `cause` has at most a `code`. If the last event
   * of the run is an error, the code is `run_failed` too, and the `cause` is `{ code, message }` of that event, for
   * everybody.
   */
  readonly error?: unknown;
  /**
   * Present for a run that another process of the server may be doing, which tells nothing of it. It is shown until its
   * end is stored, or until it must be over. `ask` does not wait for it: the server decides, and the message is sent
   * again meanwhile.
   */
  readonly isElsewhere?: true;
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

/** Returns what became of the newest message; `undefined` if it has an answer, or a question is open. */
export function storedStatus(events: readonly Event[]): SessionRun | undefined {
  const message = newestMessage(events);
  return message && runStatusOf(message, events.slice(events.indexOf(message) + 1));
}

/**
 * Returns what the events behind a message tell of its run; `undefined` if it has an answer, or a question is open.
 * Events of other invocations tell nothing of it.
 */
export function runStatusOf(
  { id: messageId, invocationId }: Pick<Event, 'id' | 'invocationId'>,
  later: readonly Event[],
): SessionRun | undefined {
  const own = later.filter(
    (event) => event.invocationId === invocationId && event.author !== 'user' && tellsOfRun(event),
  );
  if (own.some(isAbort)) return { status: 'cancelled', messageId };
  const last = own.at(-1);
  if (last === undefined || isStopped(last)) return { status: 'unanswered', messageId };
  const failure = failureOfEvent(last);
  if (failure !== undefined) {
    return { status: 'failed', messageId, error: errorOfStored(last, failure) };
  }
  // Such an event has something to see, or is the response of a tool that needs no summary.
  const isAnswered = isFinalResponse(last);
  return isAnswered || isAsking(own) ? undefined : { status: 'unanswered', messageId };
}

/** Whether the last call is a question to the user. A framework may store a response that says that the tool waits. */
function isAsking(own: readonly Event[]): boolean {
  const last = own.findLast((event) => partsOf(event).some(({ functionCall }) => functionCall));
  return last !== undefined && hasWaitingCall(last);
}

/** Makes the error of a run from the event that reports it. */
function errorOfStored({ errorCode, customMetadata }: Event, failure: ShownError): SessionError {
  if (errorCode !== RUN_FAILED) return errorOfEvent(failure);
  const { code, cause } = Object(customMetadata?.[RUN_ERROR]) as Partial<PublicError>;
  return toldError({ code: code ?? 'run_failed', message: failure.message, cause });
}

/** Makes the error of a run that failed in another tab or on a server, from what that has told of it. */
export function toldError(told: RunReport['error']): SessionError {
  const { code, message = 'The agent failed.', cause } = told ?? {};
  const known = SESSION_ERROR_CODES.find((known) => known === code) ?? 'run_failed';
  return sessionErrorOf(known, message, { cause });
}

/** Makes what an agent or a plugin threw an error that names it. */
export function runFailed(cause: unknown): SessionError {
  if (isSessionError(cause, 'run_failed')) return cause;
  return new SessionError('run_failed', `The agent failed: ${messageOf(cause)}`, { cause });
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
