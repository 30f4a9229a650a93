/** What users are told of a run, and what the stored events alone tell of it. */
import type { RunReport } from '../../../core/run_report.js';
import { messageOf } from '../../../values/errors/describe.js';
import {
  isSessionError,
  SESSION_ERROR_CODES,
  SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';
import type { Event } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { hasWaitingCall, isAbort } from '../../../values/model/event/waiting.js';

/** The run of a session, or what became of its newest message. */
export interface SessionRun {
  /**
   * `queued`: the message waits for its run. `running`: an agent answers, in this tab, in another one or on the server. `failed`: the agent
   * threw, see `error`. `cancelled`. `unanswered`: the newest message has no answer, and nothing runs: the page was closed,
   * for example. `regenerate` answers again after the last three.
   */
  readonly status: 'queued' | 'running' | 'failed' | 'cancelled' | 'unanswered';
  /** The id of the message. */
  readonly messageId: string;
  /**
   * Why the run failed: a `SessionError`. What the agent or a plugin threw has the code `run_failed`, and is its `cause`; of a run in
   * another tab or on a server the `cause` has at most a `code`.
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

/** Returns whether the newest message was cancelled or has no answer; `undefined` if it has one, or a question is open. */
export function storedStatus(events: readonly Event[]): SessionRun | undefined {
  const message = newestMessage(events);
  if (message === undefined) return undefined;
  const { id: messageId, invocationId } = message;
  const later = events.slice(events.indexOf(message) + 1);
  // Another run may have been sealed behind the message.
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
