/** Stores the end of a run that its own events do not report. */
import type { Draft } from '../../../core/run_report.js';
import { publicErrorOf } from '../../../values/errors/public_error.js';
import { isPlainObject } from '../../../values/json/rules.js';
import type { Part } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { RUN_ERROR } from '../../../values/model/event/metadata.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { RUN_FAILED, RUN_STOPPED } from '../../../values/model/event/shown.js';
import { ABORTED, isAbort } from '../../../values/model/event/waiting.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { readNewestEvents } from './newest_events.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { isFenced, runStatusOf, storedStatus } from './run_status.js';

/**
 * What the stored events say of a run afterwards. `cancelled`: the user stopped it. `unanswered`: its program stopped
 * it, or its agent ended without an answer. An error: the agent threw.
 */
export type EndedAs = 'cancelled' | 'unanswered' | { readonly error: unknown };

/** What the end events of a run are computed from. */
export interface EndingRun {
  readonly message: Pick<Event, 'id' | 'invocationId'>;
  readonly drafts: readonly Draft[];
  readonly agentName: string | undefined;
}

/** A run that has ended. */
export interface EndedRun extends EndingRun {
  readonly key: CompositeSessionKey;
  /** Whether nothing is stored if the message has an answer, or is not the newest one. */
  readonly isUnanswered: boolean;
  /**
   * Whether another process may have the run, and store its answer or its end meanwhile. Then the end is decided again
   * if anything comes between the read and the append.
   */
  readonly mayEndElsewhere?: boolean;
  /** Default: `cancelled`. */
  readonly endedAs?: EndedAs | undefined;
}

/** How often the end of a run that may end elsewhere is decided again because others have changed the session. */
const MAX_REPEATS = 5;

/**
 * Stores how a run has ended. Nothing happens if its message is not stored or was undone, if the run has its end event,
 * or if its own events tell as much.
 *
 * @returns the stored events
 */
export async function endRun(service: SessionService, run: EndedRun): Promise<readonly NewEvent[]> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await tryEnd(service, run);
    } catch (error) {
      // It was cancelled or undone meanwhile.
      if (isFenced(error)) return [];
      const isOther = isSessionError(error, 'stale_session');
      const mayRepeat = isOther && error.staleReason === 'other_revision' && failures < MAX_REPEATS;
      if (!mayRepeat) throw error;
    }
  }
}

async function tryEnd(
  service: SessionService,
  { key, message, drafts, agentName, isUnanswered, mayEndElsewhere, endedAs }: EndedRun,
): Promise<readonly NewEvent[]> {
  for await (const { session, events } of readNewestEvents(service, key)) {
    if (!events.some(({ id }) => id === message.id)) continue;
    const { status, messageId } = storedStatus(events) ?? {};
    if (isUnanswered && (status !== 'unanswered' || messageId !== message.id)) return [];
    const endEvents = endEventsOf({ message, drafts, agentName, endedAs }, events);
    if (endEvents.length === 0) return [];
    const expectedRevision = mayEndElsewhere ? service.revisionOf(session) : undefined;
    await service.appendEvents({ session, events: endEvents, expectedRevision });
    return endEvents;
  }
  return [];
}

/**
 * Returns the end events of a run. Of one that was cancelled: the texts that were streamed, as interrupted answers, and
 * google-adk's events of an aborted run. Of one that was stopped: responses for its open calls, and its code. Of one
 * whose agent threw: the public error. None if the run has its end event already.
 *
 * @param events those that `RunUnderWay.endEvents` takes. Those from the message of the run on are enough if the message
 *   resumes no invocation, and the name of the agent is known
 */
export function endEventsOf(
  { message, drafts, agentName, endedAs = 'cancelled' }: EndingRun & Pick<EndedRun, 'endedAs'>,
  events: readonly Event[],
): NewEvent[] {
  const { id, invocationId } = message;
  // A run that was resumed may have an end event before its message.
  const own = events.slice(events.findIndex((event) => event.id === id) + 1);
  if (own.some((event) => event.invocationId === invocationId && isAbort(event))) return [];
  const authorIn = (some: readonly Event[]) =>
    some.findLast((event) => event.author !== 'user')?.author;
  const streamed = drafts.map(({ event }) => event);
  const author = agentName ?? authorIn(own) ?? authorIn(streamed) ?? authorIn(events) ?? 'agent';
  const told = runStatusOf(message, own)?.status;
  if (typeof endedAs === 'object') {
    return told === 'failed' ? [] : [failureEvent(invocationId, author, endedAs.error)];
  }
  const endEvents = abortEvents(events, invocationId, author);
  if (endedAs === 'unanswered') {
    return endEvents.flatMap((endEvent) => stopEvent(endEvent, told === 'unanswered'));
  }
  return [...drafts.flatMap((draft) => interrupted(draft, events)), ...endEvents];
}

/** Returns the event of a run whose agent threw, as google-adk stores a failure: without content. */
function failureEvent(invocationId: string, author: string, error: unknown): NewEvent {
  const { message: errorMessage, ...codes } = publicErrorOf(error);
  const customMetadata = { [RUN_ERROR]: codes };
  return { invocationId, author, errorCode: RUN_FAILED, errorMessage, customMetadata };
}

/** Returns the streamed texts of a draft as an interrupted answer; nothing if the answer is stored. */
function interrupted({ event, endedBy }: Draft, stored: readonly Event[]): NewEvent[] {
  if (stored.some(({ id }) => id === event.id || id === endedBy)) return [];
  const parts = partsOf(event).filter(({ text, thought }) => text && !thought);
  if (parts.length === 0) return [];
  const { id, invocationId, author = 'agent', branch } = event;
  return [
    {
      id,
      invocationId,
      author,
      interrupted: true,
      ...(branch !== undefined && { branch }),
      content: { role: 'model', parts: [...parts] },
    },
  ];
}

/**
 * Converts an end event of {@link abortEvents}: keeps the responses, replaces the code by {@link RUN_STOPPED}.
 *
 * @param isUnanswered whether the message has no answer. Otherwise the run only closes its calls
 */
function stopEvent({ content, ...endEvent }: NewEvent, isUnanswered: boolean): NewEvent[] {
  if (content === undefined && !isUnanswered) return [];
  const stopped: NewEvent = { ...endEvent, ...(content !== undefined && { content }) };
  delete stopped.errorMessage;
  if (isUnanswered) stopped.errorCode = RUN_STOPPED;
  else delete stopped.errorCode;
  return [stopped];
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
