/**
 * Histories over a store that computes none. Loaded on demand: few pages change a history.
 *
 * `js/service/service_history.ts` gives these functions to every store.
 */
import { isSessionError } from '../../../values/errors/errors.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import type { Event } from '../../../values/model/event/event.js';
import type { ImportedSessionRequest } from '../../../values/model/session.js';
import type { Call } from '../../call/call.js';
import type {
  BranchesRead,
  ForkEnd,
  ForkWrite,
  HistoryState,
  SessionBranches,
  StateAtRead,
} from '../../history_types.js';
import type { ReadSession } from '../../read.js';
import { parseTexts } from '../../storage/stored_events.js';
import { rewindTargets, startsIn } from '../../storage/reads/rewind_starts.js';
import type { Store } from '../../storage/store.js';
import { branchesOf } from '../branches.js';
import { firstOfInvocation, indexOfEvent } from '../session_history.js';
import { stateAfter, statesAround } from '../state_at.js';
import type { HistoryRules } from './append_rewind.js';
import { readWhole } from './whole_session.js';

export { admitRewind, appendRewind } from './append_rewind.js';

/** Makes a fork. Sent again, it returns the session that it made. */
export async function createFork(
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
  const { before, isInitialKnown } = await statesAround(session, 0);
  const parent = { sessionId: key.sessionId, ...(last !== undefined && { eventId: last.id }) };
  const request: ImportedSessionRequest = {
    ...{ appName, userId, sessionId, title, parent },
    state: before,
    initialState: !isInitialKnown && count > 0 ? 'unknown' : undefined,
    events: session.events.slice(0, count),
    sharedState: 'keep',
  };
  const write = rules.takeNew(request);
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

/** How many events are read at first for the places from an event on. */
const FIRST_TAIL = 64;

/** Reads the branches of a session, and which rewind was its last. */
export async function readBranches(
  store: Store,
  { key, fromEventId }: BranchesRead,
  call: Call,
): Promise<SessionBranches> {
  const markers =
    fromEventId === undefined
      ? undefined
      : await store.read({ kind: 'markers', key, skipCorrupt: true }, call);
  const { places, lastRewind } =
    markers === undefined
      ? branchesOf((await readWhole(store, key, call)).events)
      : await readTail(store, { key, fromEventId }, markers.events, call);
  return { places, lastRewind };
}

/** Reads the last events, until they decide which branches stand from an event on. */
async function readTail(
  store: Store,
  { key, fromEventId }: BranchesRead,
  markers: readonly Event[],
  call: Call,
): Promise<SessionBranches> {
  const rewinds = startsIn(markers, rewindTargets(markers));
  if (rewinds.length === 0) return { places: [] };
  for (let last = FIRST_TAIL; ; last *= 4) {
    const session = await store.read({ kind: 'window', key, last }, call);
    if (session === undefined) throw sessionNotFound(key.sessionId);
    const { events } = session;
    const ids = new Set(events.map(({ id }) => id));
    const older = rewinds
      .filter(({ eventId }) => eventId !== undefined && !ids.has(eventId))
      .map(({ invocationId }) => invocationId);
    const tail = { isWhole: events.length < last, older, fromEventId };
    const branches = branchesOf(events, tail);
    if (branches.isDecided) return branches;
  }
}

/** Computes a session's own state right after an event. */
export async function readState(
  store: Store,
  { key, eventId }: StateAtRead,
  call: Call,
): Promise<HistoryState> {
  return stateAfter(await readWhole(store, key, call), eventId);
}
