import type { Event } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { hasWaitingCall, isAbort } from '../../../values/model/event/waiting.js';
import type { SessionRun } from './session_run.js';

/** Returns the newest message of the user. */
export function newestMessage(events: readonly Event[]): Event | undefined {
  return events.findLast((event) => event.author === 'user' && partsOf(event).length > 0);
}

/** Returns whether the newest message was cancelled or has no answer; `undefined` if it has one, or a question is open. */
export function storedStatus(events: readonly Event[]): SessionRun | undefined {
  const message = newestMessage(events);
  if (message === undefined) return undefined;
  const { id: messageId } = message;
  // The seal of an earlier run may come after the message of the next one.
  const isOther = (event: Event): boolean =>
    isAbort(event) && event.invocationId !== message.invocationId;
  const later = events.slice(events.indexOf(message) + 1).filter((event) => !isOther(event));
  if (later.some(isAbort)) return { status: 'cancelled', messageId };
  return later.some(isEnd) ? undefined : { status: 'unanswered', messageId };
}

/** Whether an event ends a run: a final answer, an error, or a question to the user. */
function isEnd(event: Event): boolean {
  if (event.author === 'user') return false;
  if (hasWaitingCall(event) || event.errorCode) return true;
  return partsOf(event).length > 0 && isFinalResponse(event);
}
