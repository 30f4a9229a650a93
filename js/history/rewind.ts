import { isSessionError, SessionError } from '../errors/errors.js';
import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import { createEvent, newEventId } from '../model/event/create_event.js';
import type { Event, NewEvent } from '../model/event/event.js';
import type { Abortable, CompositeSessionKey, Session } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import { REMOVED } from '../state/scope.js';
import type { StateShape } from '../state/state_shape.js';
import { rewindTargetOf } from './marks.js';
import {
  firstOfInvocation,
  type HistoryPlace,
  invocationAt,
  readSession,
} from './session_history.js';
import { statesAround } from './state_at.js';

/** The request of {@link rewind}. */
export interface RewindRequest extends CompositeSessionKey, Abortable {
  /** The first undone invocation. An event stands for its invocation. */
  before: HistoryPlace;
}

/** The request of {@link switchBranch}. */
export interface SwitchBranchRequest extends CompositeSessionKey, Abortable {
  /** The branch, from `branches`: the invocation of the marker that ended it. */
  branch: string;
}

/** The result of a rewind. */
export interface RewindResult {
  /** The marker that was appended. */
  event: Event;
  /**
   * Keys that the rewind removed although the session may have been created with them. The initial state of such a
   * session is not known, for example because Python created it.
   */
  unknownKeys: string[];
}

const METHODS = ['getSession', 'appendEvents', 'revisionOf', 'sessionInfo'] as const;

/**
 * Undoes an invocation and everything after it: appends the marker that google-adk for Python appends. No event is
 * deleted. The state of the session goes back to what it was before the first event of the invocation. `user:` and
 * `app:` keys stay, and so do artifacts.
 *
 * If somebody appends meanwhile, the rewind is computed again and undoes those events too.
 *
 * @throws SessionError (as a rejection) `not_found` for the session, the event or the invocation; `invalid_argument`
 *   for an event without `invocationId`; `unsupported` over `adk api_server`; any error of `appendEvent`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { rewind } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession({ ...key, state: { tea: 'green' } });
 * await service.appendEvent({ session, event: { invocationId: 'i1', author: 'user' } });
 * await service.updateState({ ...key, stateDelta: { tea: 'black' } });
 *
 * await rewind(service, { ...key, before: { invocationId: 'i1' } });
 * console.log((await service.getSession(key))?.state); // { tea: 'green' }
 * ```
 */
export async function rewind(
  service: SessionService,
  request: RewindRequest,
): Promise<RewindResult> {
  const { event, unknownKeys } = await rewindSession(service, request);
  return { event, unknownKeys };
}

/** Like {@link rewind}, but also returns a handle on the whole rewound session. */
export async function rewindSession(
  service: SessionService,
  request: RewindRequest,
): Promise<RewindResult & { readonly session: Session }> {
  const taken = takeRequest(request);
  let rewound: Session | undefined;
  const result = await appendRewind(service, taken, (session) => {
    rewound = session;
    return { before: invocationAt(session.events, 'before', taken.before) };
  });
  return { ...result, session: rewound! };
}

/**
 * Switches to another branch of {@link branches}: appends the rewind that brings it back.
 *
 * @throws SessionError (as a rejection) `not_found` for the session or the branch, and the errors of {@link rewind}
 */
export async function switchBranch(
  service: SessionService,
  request: SwitchBranchRequest,
): Promise<RewindResult> {
  const taken = takeRequest(request);
  return appendRewind(service, taken, ({ events }) => {
    const isEnd = (event: Event): boolean =>
      event.invocationId === taken.branch && rewindTargetOf(event) !== undefined;
    if (events.some(isEnd)) return { before: taken.branch };
    throw new SessionError('not_found', 'The session has no such branch; see branches().');
  });
}

/**
 * Undoes the last rewind and all events after it: switches to the branch that the rewind ended. A second call undoes the
 * first.
 *
 * @throws SessionError (as a rejection) `not_found` for the session, or if nothing was rewound; the errors of
 *   {@link rewind}
 */
export async function undoRewind(
  service: SessionService,
  key: CompositeSessionKey & Abortable,
): Promise<RewindResult> {
  return appendRewind(service, takeRequest(key), ({ events }) => {
    const last = events.findLast((event) => rewindTargetOf(event) !== undefined);
    if (last !== undefined) return { before: last.invocationId };
    throw new SessionError('not_found', 'Nothing was rewound in this session.');
  });
}

/** The events that a rewind appends. */
export interface RewindPlan {
  /** The first undone invocation. */
  readonly before: string;
  /** The time of the marker; default now. */
  readonly timestamp?: number;
  /** The events that follow the marker, stored with it in one step. */
  readonly events?: readonly NewEvent[];
}

/**
 * Appends a rewind to the session. If others append meanwhile, it reads the session again and repeats that.
 *
 * @param planOf returns what to append; it gets the session with all its events
 */
export async function appendRewind(
  service: SessionService,
  request: CompositeSessionKey & Abortable,
  planOf: (session: Session) => RewindPlan,
): Promise<RewindResult> {
  requireService(service, METHODS);
  const { signal } = request;
  for (;;) {
    const session = await readSession(service, request);
    const expectedRevision = service.revisionOf(session);
    if (expectedRevision === undefined) {
      const message = `A session over ${service.storage.kind} has no revision, so it cannot be rewound.`;
      throw new SessionError('unsupported', message);
    }
    const { before, timestamp, events = [] } = planOf(session);
    const { stateDelta, unknownKeys } = await rewindDelta(service, session, before, signal);
    const actions = { stateDelta, rewindBeforeInvocationId: before };
    const invocationId = `e-${newEventId()}`;
    const event = createEvent({ invocationId, author: 'user', timestamp, actions });
    const appended = [event, ...events];
    try {
      await service.appendEvents({ session, events: appended, expectedRevision, signal });
      return { event, unknownKeys };
    } catch (error) {
      if (!isSessionError(error) || error.code !== 'stale_session') throw error;
    }
  }
}

/** Returns the changes that take the state back to before an invocation. The stored marker has `null` for `REMOVED`. */
async function rewindDelta(
  service: SessionService,
  session: Session,
  invocationId: string,
  signal: Abortable['signal'],
): Promise<{ stateDelta: StateShape; unknownKeys: string[] }> {
  const cut = firstOfInvocation(session.events, invocationId);
  const around = await statesAround(service, session, cut, signal);
  const { before, laterKeys } = around;
  const current = new Map(Object.entries(session.state));
  const changes = [...laterKeys]
    .filter((key) => textIn(before, key) !== textIn(current, key))
    .map((key) => [key, before.has(key) ? before.get(key) : REMOVED] as const);
  const unknownKeys = changes.map(([key]) => key).filter((key) => around.unknownKeys.has(key));
  return { stateDelta: Object.fromEntries(changes), unknownKeys };
}

/** Returns the JSON text of the value of a key; `undefined` if the state lacks the key. */
function textIn(state: ReadonlyMap<string, unknown>, key: string): string | undefined {
  return state.has(key) ? JSON.stringify(state.get(key)) : undefined;
}
