/**
 * The histories of a service: what users call, and the code that computes them over a store that has no verbs for them.
 * Few pages change a history. So whoever does hands this code to the core of the service, and no other page loads it.
 */
import { invalid } from '../../values/errors/invalid.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { requireText } from '../../values/errors/option_values.js';
import { isEqualJson } from '../../values/json/equal.js';
import type { Event } from '../../values/model/event/event.js';
import type {
  Abortable,
  CompositeSessionKey,
  ImportedSessionRequest,
  Session,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { isBlank, requireId } from '../../values/model/values/ids.js';
import { type Call, takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import { coreOf } from '../core_of.js';
import type {
  AdmitEvents,
  BranchesRead,
  ForkEnd,
  ForkWrite,
  HistoryPlace,
  HistoryState,
  RewindWrite,
  ServiceHistory,
  SessionBranches,
  StateAtRead,
  TurnBranches,
} from '../history_types.js';
import type { ReadSession } from '../read.js';
import type { Store, StoredRewind } from '../storage/store.js';
import { parseTexts } from '../storage/stored_events.js';
import type { ReadyRewind } from '../write.js';
import { admitRewind, appendRewind, type HistoryRules } from './append_rewind.js';
import { planRewind } from './plan_rewind.js';
import { branchesOf, computeBranches } from './branches.js';
import { firstOfInvocation, indexOfEvent, sessionKeyOf, takePlace } from './session_history.js';
import { readWhole, stateAfter, statesAround } from './states.js';

/** Computes histories over a store that has no verbs for them. */
export interface ComputedHistories {
  rewind(store: Store, write: ReadyRewind, call: Call, rules: HistoryRules): Promise<StoredRewind>;
  /**
   * Decides by the rights of a request on a rewind that the store computes.
   *
   * @returns what is stored if the marker is, or the rewind to pass on
   */
  admit(
    store: Store,
    write: RewindWrite,
    admit: AdmitEvents,
    call: Call,
  ): Promise<{ readonly stored: StoredRewind } | { readonly admitted: RewindWrite }>;
  fork(store: Store, write: ForkWrite, call: Call, rules: HistoryRules): Promise<ReadSession>;
  branches(store: Store, request: BranchesRead, call: Call): Promise<SessionBranches>;
  stateAt(store: Store, request: StateAtRead, call: Call): Promise<HistoryState>;
  /** What a cache computes from the events that it has. */
  readonly fromEvents: {
    readonly rewind: typeof planRewind;
    readonly branches: typeof branchesOf;
    readonly stateAt: typeof stateAfter;
  };
}

/** Loads what computes histories. */
export type HistoriesLoader = () => Promise<ComputedHistories>;

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

/**
 * Lists where the transcript has other branches: the alternatives of each turn. A rewind ends a branch and deletes
 * nothing: `switchBranch` brings the branch back.
 *
 * @returns the places with more than one alternative, and a last one for undone turns behind the transcript's end
 * @throws SessionError (as a rejection) `not_found`, and any error of `getSession`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { branches, rewind, switchBranch } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession(key);
 * const content = { role: 'user', parts: [{ text: 'Tea?' }] };
 * await service.appendEvent({ session, event: { invocationId: 'first', author: 'user', content } });
 * await rewind(service, { ...key, before: { invocationId: 'first' } });
 * await service.appendEvent({ session, event: { invocationId: 'second', author: 'user', content } });
 *
 * const [turn] = await branches(service, key);
 * const [first, second] = turn?.alternatives ?? [];
 * console.log(first?.invocationId, first?.isShown, second?.isShown); // first false true
 * await switchBranch(service, { ...key, branch: first?.branch ?? '' });
 * ```
 */
export async function branches(
  service: SessionService,
  key: CompositeSessionKey & Abortable,
): Promise<TurnBranches[]> {
  return (await readBranches(service, key)).places;
}

/** Reads the branches of a session, and which rewind was its last. */
export async function readBranches(
  service: SessionService,
  request: CompositeSessionKey & Abortable & Pick<BranchesRead, 'fromEventId'>,
): Promise<SessionBranches> {
  const taken = takeRequest(request);
  const { signal, fromEventId } = taken;
  return requireHistory(service).branches({ key: sessionKeyOf(taken), fromEventId, signal });
}

/** The request of {@link stateAt}. */
export interface StateAtRequest extends CompositeSessionKey, Abortable {
  /** The state right after this event. */
  eventId: string;
}

/**
 * Returns the session's own state as it was right after an event.
 *
 * @throws SessionError (as a rejection) `not_found` for the session or the event, and any error of `getSession`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { stateAt } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession({ ...key, state: { cups: 0 } });
 * for (const cups of [1, 2]) {
 *   const actions = { stateDelta: { cups }, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
 *   await service.appendEvent({ session, event: { id: `e${cups}`, invocationId: 'i1', actions } });
 * }
 * console.log((await stateAt(service, { ...key, eventId: 'e1' })).state); // { cups: 1 }
 * ```
 */
export async function stateAt(
  service: SessionService,
  request: StateAtRequest,
): Promise<HistoryState> {
  const taken = takeRequest(request);
  const { eventId, signal } = taken;
  requireText('eventId', eventId);
  return requireHistory(service).stateAt({ key: sessionKeyOf(taken), eventId, signal });
}

/** Makes a fork. Sent again, it returns the session that it made. */
async function createFork(
  store: Store,
  { key, newSessionId: sessionId, end, title }: ForkWrite,
  call: Call,
  rules: HistoryRules,
): Promise<ReadSession> {
  const { appName, userId } = key;
  const session = await readWhole(store, key, call);
  const count = endOf(session.events, end);
  const last = session.events[count - 1];
  // The storage applies the deltas of the events that count to this state.
  const { before, unknownKeys } = await statesAround(session, 0);
  const parent = { sessionId: key.sessionId, ...(last !== undefined && { eventId: last.id }) };
  const request: ImportedSessionRequest = {
    appName,
    userId,
    sessionId,
    title,
    parent,
    state: before,
    initialState: unknownKeys.size > 0 && count > 0 ? 'unknown' : undefined,
    events: session.events.slice(0, count),
    sharedState: 'keep',
  };
  const write = { ...rules.takeNew(request), filesOf: key.sessionId };
  try {
    const created = await store.write(write, call);
    const events = parseTexts(write.events.map(({ text }) => text));
    return { ...write.description, ...created!, events };
  } catch (error) {
    if (!isSessionError(error, 'already_exists')) throw error;
    const window = { kind: 'window', key: { ...key, sessionId }, last: 'all' } as const;
    const existing = await store.read(window, call);
    if (!isEqualJson(existing?.parent && JSON.parse(existing.parent), parent)) throw error;
    return existing!;
  }
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

export const COMPUTED_HISTORIES: ComputedHistories = {
  rewind: appendRewind,
  admit: admitRewind,
  fork: createFork,
  branches: computeBranches,
  stateAt: async (store, { key, eventId }, call) =>
    stateAfter(await readWhole(store, key, call), eventId),
  fromEvents: { rewind: planRewind, branches: branchesOf, stateAt: stateAfter },
};

/** The core of a service, as far as histories use it. */
interface HistoryCore {
  history(computed: ComputedHistories): ServiceHistory;
}

/**
 * Returns the verbs of histories of a service.
 *
 * @throws SessionError `invalid_argument` if it is no service; `unsupported` for a user's own service
 */
export function requireHistory(service: SessionService): ServiceHistory {
  requireService(service, ['getSession']);
  const core = coreOf(service) as HistoryCore | undefined;
  if (core !== undefined) return core.history(COMPUTED_HISTORIES);
  const message = 'Histories need a service of adk-session-wasm itself, not one around it.';
  throw new SessionError('unsupported', message);
}
