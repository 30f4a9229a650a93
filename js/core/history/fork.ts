import { invalid } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { takeRequest } from '../call/call.js';

import { isBlank, requireId } from '../../values/model/values/ids.js';
import type { ForkEnd, HistoryPlace } from '../history_types.js';
import { requireHistory } from '../core_of.js';
import type { Abortable, CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { sessionKeyOf, takePlace } from './session_history.js';

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
  const taken = takeRequest(request);
  const { newSessionId, title, signal } = taken;
  if (title !== undefined) requireText('title', title);
  const id = isBlank(newSessionId) ? undefined : requireId('newSessionId', newSessionId);
  const write = { key: sessionKeyOf(taken), newSessionId: id, end: takeEnd(taken), title, signal };
  return requireHistory(service).fork(write);
}

/** Takes the end of a caller's request. */
function takeEnd({ at, before }: ForkRequest): ForkEnd {
  if ((at === undefined) === (before === undefined)) {
    throw invalid('at', 'must be given, or before, but not both');
  }
  return at === undefined ? { before: takePlace('before', before!) } : { at: takePlace('at', at) };
}
