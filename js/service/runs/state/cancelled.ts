import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { isPlainObject } from '../../../values/json/rules.js';
import type { Part } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { ABORTED, isAbort } from '../../../values/model/event/waiting.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { Draft } from '../../../core/run_report.js';
import { storedStatus } from './run_status.js';

/** How many events are read at first. A run is mostly shorter. */
const FIRST_WINDOW = 64;

/**
 * What the stored events say of a run afterwards. `cancelled`: the user stopped it. `unanswered`: its program stopped it, so that only
 * its open calls are closed.
 */
export type SealedAs = 'cancelled' | 'unanswered';

/** What the seal of a run is made of. */
export interface SealedRun {
  readonly message: Pick<Event, 'id' | 'invocationId'>;
  readonly drafts: readonly Draft[];
  readonly agentName: string | undefined;
}

/** A run that was cancelled. */
export interface CancelledRun extends SealedRun {
  readonly key: CompositeSessionKey;
  /** Whether to do nothing if the message has an answer meanwhile. */
  readonly isUnanswered: boolean;
  /** Whether to look for the message only among the newest events. */
  readonly isRecent?: boolean;
  /** Default: `cancelled`. */
  readonly sealedAs?: SealedAs | undefined;
}

/**
 * Seals a cancelled run: stores the texts that were streamed as interrupted answers, and then the events by which
 * google-adk seals a run. Nothing happens if its message is not stored or was undone, or if it was sealed already.
 *
 * @returns the stored events
 */
export async function sealRun(
  service: SessionService,
  { key, message, drafts, agentName, isUnanswered, isRecent, sealedAs }: CancelledRun,
): Promise<readonly NewEvent[]> {
  for (let numRecentEvents = FIRST_WINDOW; ; numRecentEvents *= 4) {
    const session = await service.getSession({
      ...key,
      config: { numRecentEvents, view: 'transcript' },
    });
    const { events = [] } = session ?? {};
    const isWhole = isRecent === true || events.length < numRecentEvents;
    const isFound = events.some(({ id }) => id === message.id);
    if (session === undefined || (isWhole && !isFound)) return [];
    if (!isFound) continue;
    if (isUnanswered && storedStatus(events)?.messageId !== message.id) return [];
    const sealing = sealingOf({ message, drafts, agentName, sealedAs }, events);
    try {
      if (sealing.length > 0) await service.appendEvents({ session, events: sealing });
    } catch (error) {
      // It was sealed or undone meanwhile.
      if (isFenced(error)) return [];
      throw error;
    }
    return sealing;
  }
}

/**
 * Returns the events that seal a run: the texts that were streamed, and google-adk's events of an aborted run. Nothing if it
 * is sealed already.
 *
 * @param events those of the session, at least from the message of the run on
 */
export function sealingOf(
  { message, drafts, agentName, sealedAs }: SealedRun & Pick<CancelledRun, 'sealedAs'>,
  events: readonly Event[],
): NewEvent[] {
  const { id, invocationId } = message;
  // A run that was resumed may have a seal before its message.
  const own = events.slice(events.findIndex((event) => event.id === id) + 1);
  if (own.some((event) => event.invocationId === invocationId && isAbort(event))) return [];
  const last = events.findLast(({ author }) => author !== 'user')?.author;
  const seal = abortEvents(events, invocationId, agentName ?? last ?? 'agent');
  if (sealedAs === 'unanswered') return seal.flatMap(closedCalls);
  return [...drafts.flatMap((draft) => interrupted(draft, events)), ...seal];
}

/** What a cancelled run throws wherever it is noticed: the code is always `aborted`. */
export function cancelledError(detail = '', cause?: unknown): SessionError {
  return new SessionError('aborted', `The run was cancelled.${detail}`, { cause });
}

/** Returns whether an append was refused because its run was cancelled, here or by another process. */
export function isRunCancelled(error: unknown): boolean {
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

/** Returns what closes open calls, without the mark of a cancelled run. */
function closedCalls(seal: NewEvent): NewEvent[] {
  if (seal.content === undefined) return [];
  const closed = { ...seal };
  delete closed.errorCode;
  delete closed.errorMessage;
  return [closed];
}

const MESSAGE = 'Invocation was aborted by client.';

/**
 * Returns the events that seal a cancelled run, as google-adk for Python writes them (`_build_abort_events`): an error in
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
  const seal = { invocationId, errorCode: ABORTED, errorMessage: MESSAGE };
  if (groups.size === 0) return [{ ...seal, author: agentName }];
  return [...groups.values()].map(({ event, parts }) => ({
    ...seal,
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
