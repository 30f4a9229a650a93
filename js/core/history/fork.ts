import { invalid } from '../../values/errors/invalid.js';
import { isSessionError } from '../../values/errors/errors.js';
import { requireText } from '../../values/errors/option_values.js';
import { isEqualJson } from '../../values/json/equal.js';
import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';

import { isBlank, requireId } from '../../values/model/values/ids.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { type ForkEnd, type ForkWrite, type HistoryPlace } from '../history_types.js';
import { coreOf } from '../core_of.js';
import type {
  Abortable,
  CompositeSessionKey,
  ImportedSessionRequest,
  Session,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import {
  firstOfInvocation,
  indexOfEvent,
  sessionKeyOf,
  readSession,
  takePlace,
} from './session_history.js';
import { historyOf, statesAround } from './state_at.js';

/** The request of {@link fork}: with one of `at` and `before`. */
export interface ForkRequest extends CompositeSessionKey, Abortable {
  /** The id of the new session. Absent: a fresh UUID v4. */
  newSessionId?: string | undefined;
  /** The new session's history ends with this event, or with the last event of this invocation. */
  at?: HistoryPlace | undefined;
  /** The new session's history ends before this event, or before the first event of this invocation. */
  before?: HistoryPlace | undefined;
  /** The title of the new session. */
  title?: string | undefined;
}

/**
 * Makes a new session with the history of another one up to a place, and with the session's own state as it was
 * there. The events keep their ids, and the user's and the app's state are not changed. The new session is stored in
 * one step.
 *
 * The `parent` of the new session names the original session and the last event that both have. A storage may not
 * store it.
 *
 * Keys whose value at that place is not known are absent: the `unknownKeys` of `stateAt`.
 *
 * Called again with the same `newSessionId` and place, it returns the session that the first call made.
 *
 * @returns a handle on the new session
 * @throws SessionError (as a rejection) `not_found` for the session or the place; `already_exists`;
 *   `invalid_argument`; any error of `createSession`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { fork } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession(key);
 * for (const id of ['e1', 'e2']) await service.appendEvent({ session, event: { id, invocationId: id } });
 *
 * const forked = await fork(service, { ...key, newSessionId: 's2', at: { eventId: 'e1' } });
 * console.log(forked.id, forked.events.length, forked.parent); // s2 1 { sessionId: 's1', eventId: 'e1' }
 * ```
 */
export async function fork(service: SessionService, request: ForkRequest): Promise<Session> {
  requireService(service, ['getSession', 'createSession', 'sessionInfo']);
  const taken = takeRequest(request);
  const { newSessionId, title, signal } = taken;
  if (title !== undefined) requireText('title', title);
  const key = sessionKeyOf(taken);
  const write = { kind: 'fork', key, end: takeEnd(taken), title, signal } as const;
  const verbs = await coreOf(service)?.history({ signal });
  if (verbs === undefined) return computeFork(service, { ...write, newSessionId });
  // A blank id stands for none, as in createSession.
  const id = isBlank(newSessionId) ? newEventId() : requireId('newSessionId', newSessionId);
  return verbs.fork({ ...write, newSessionId: id });
}

/** A fork that a service computes. It may draw the id itself. */
interface ComputedFork extends Omit<ForkWrite, 'kind' | 'newSessionId'>, Abortable {
  readonly newSessionId?: string | undefined;
}

/** Makes a fork over the public methods of a service. */
export async function computeFork(
  service: SessionService,
  { key, newSessionId: sessionId, end, title, signal }: ComputedFork,
): Promise<Session> {
  const { appName, userId } = key;
  const session = await readSession(service, { ...key, signal });
  const count = endOf(session.events, end);
  const last = session.events[count - 1];
  // The storage applies the deltas of the events that count to this state.
  const { before, isInitialKnown } = await statesAround(historyOf(service, session, signal), 0);
  const parent = { sessionId: session.id, ...(last !== undefined && { eventId: last.id }) };
  const created: ImportedSessionRequest = {
    ...{ appName, userId, sessionId, title, signal },
    parent,
    state: before,
    initialState: !isInitialKnown && count > 0 ? 'unknown' : undefined,
    events: session.events.slice(0, count),
    sharedState: 'keep',
  };
  try {
    return await service.createSession(created);
  } catch (error) {
    if (!isSessionError(error, 'already_exists') || sessionId === undefined) throw error;
    const config = { view: 'raw' } as const;
    const existing = await service.getSession({ appName, userId, sessionId, signal, config });
    if (!isEqualJson(existing?.parent, parent)) throw error;
    return existing!;
  }
}

/** Takes the end of a caller's request. */
function takeEnd({ at, before }: ForkRequest): ForkEnd {
  if ((at === undefined) === (before === undefined)) {
    throw invalid('at', 'must be given, or before, but not both');
  }
  return at === undefined ? { before: takePlace('before', before!) } : { at: takePlace('at', at) };
}

/** Returns how many events the new session has. */
function endOf(events: readonly Event[], end: ForkEnd): number {
  const isAt = 'at' in end;
  const place = isAt ? end.at : end.before;
  if ('eventId' in place) return indexOfEvent(events, place.eventId) + (isAt ? 1 : 0);
  const first = firstOfInvocation(events, place.invocationId);
  if (!isAt) return first;
  return events.findLastIndex(({ invocationId }) => invocationId === place.invocationId) + 1;
}
