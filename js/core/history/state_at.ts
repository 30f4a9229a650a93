import { requireText } from '../../values/errors/option_values.js';
import { takeRequest } from '../call/call.js';
import { EVENTS_PER_TASK, nextTask } from '../call/next_task.js';
import type { Event } from '../../values/model/event/event.js';
import { requireHistory } from '../core_of.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { HistoryState } from '../history_types.js';
import { applyDeltas, deltasOf, isOwnKey, ownKeysOf } from './fold.js';
import { indexOfEvent, sessionKeyOf } from './session_history.js';
import { activeEvents } from './view.js';

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

/** A session, as far as its history is computed from it. */
export interface SourceSession {
  /** Those from the first that is known to the last. */
  readonly events: readonly Event[];
  readonly state: Readonly<StateShape>;
  readonly title?: string | undefined;
  /** The invocations that rewinds among the events name, and that begin before these, or may. */
  readonly olderInvocations?: readonly string[] | undefined;
  /** Returns `undefined` if the state before the first event is not known. */
  readonly initialState: () => Promise<Readonly<StateShape> | undefined>;
}

/** Returns the session's own state right after an event. @throws SessionError `not_found` */
export async function stateAfter(source: SourceSession, eventId: string): Promise<HistoryState> {
  const count = indexOfEvent(source.events, eventId) + 1;
  const { before, unknownKeys } = await statesAround(source, count);
  return { state: before, unknownKeys: [...unknownKeys] };
}

/** The session's own state before a cut, and the keys that change after it. */
export interface StatesAround {
  /** The state before the cut, so far as it is known. */
  readonly before: StateShape;
  /** The keys that events at or after the cut write. */
  readonly laterKeys: ReadonlySet<string>;
  /** See {@link HistoryState.unknownKeys}. */
  readonly unknownKeys: ReadonlySet<string>;
  /** Whether the initial state is known, or no key depends on it. */
  readonly isInitialKnown: boolean;
}

/** Computes the state before the event at `cut`. A key that no event writes still has its initial value. */
export async function statesAround(
  { events, state, olderInvocations, initialState }: SourceSession,
  cut: number,
): Promise<StatesAround> {
  const laterKeys = new Set<string>();
  const written = new Set<string>();
  for (const [at, event] of events.entries()) {
    for (const key of ownKeysOf(event)) {
      written.add(key);
      if (at >= cut) laterKeys.add(key);
    }
  }
  if (events.length > EVENTS_PER_TASK) await nextTask();
  const unwritten = Object.entries(state).filter(([key]) => !written.has(key));
  const deltas = deltasOf(activeEvents(events.slice(0, cut), olderInvocations));
  if (events.length > EVENTS_PER_TASK) await nextTask();
  const counted = new Set(deltas.flatMap(Object.keys));
  const uncounted = [...written].filter((key) => !counted.has(key));
  const initial = uncounted.length > 0 ? await initialState() : {};
  const known = Object.entries(initial ?? {}).filter(([key]) => written.has(key));
  const base = Object.fromEntries([...unwritten, ...known]);
  const before: StateShape = {};
  applyDeltas(before, [base, ...deltas], isOwnKey);
  return {
    before,
    laterKeys,
    unknownKeys: new Set(initial === undefined ? uncounted : []),
    isInitialKnown: initial !== undefined,
  };
}
