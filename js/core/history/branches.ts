/** The branches of a history. */
import { isFilled, rewindTargetOf } from '../../values/model/event/markers.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import type { Call } from '../call/call.js';
import type { BranchesRead, SessionBranches, TurnBranches } from '../history_types.js';
import type { Store } from '../storage/store.js';
import { historyBranches } from '../wasm/packed_marks.js';
import { eventMarksOf, type Reading, rewindTargets, startsIn } from './rules/marks.js';
import { readWhole } from './states.js';

/** How many events are read at first for the places from an event on. */
const FIRST_TAIL = 64;

/** Reads the branches of a session, and which rewind was its last. */
export async function computeBranches(
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

/** Events of a session, of which older ones may be missing. */
interface Tail extends Pick<BranchesRead, 'fromEventId'> {
  readonly isWhole: boolean;
  /** The invocations that begin before the events. */
  readonly older?: readonly string[] | undefined;
}

/** How turns are seen: an event with content begins one, and a compaction does not. */
const TURNS: Reading = {
  counts: () => false,
  visibilityOf: ({ content }) => (isFilled(content) ? 'content' : 'fixed'),
};

/**
 * Computes the branches of a history.
 *
 * @returns also whether the events decide the places that are wanted. Others are left out if they are not decided
 */
export function branchesOf(
  events: readonly Event[],
  { isWhole, older, fromEventId }: Tail = { isWhole: true },
): SessionBranches & { readonly isDecided: boolean } {
  const from = events.findIndex(({ id }) => id === fromEventId);
  const marks = eventMarksOf(events, TURNS, older);
  const { branches, isDecided } = historyBranches(marks, from, isWhole);
  const invocationOf = (event: number): string => events[event]!.invocationId;
  const places = new Map<number | undefined, TurnBranches>();
  for (const { after, event, isShown, endedBy } of branches) {
    const place = places.get(after) ?? {
      ...(after !== undefined && { after: invocationOf(after) }),
      alternatives: [],
    };
    places.set(after, place);
    place.alternatives.push({
      invocationId: invocationOf(event),
      isShown,
      ...(endedBy !== undefined && { branch: invocationOf(endedBy) }),
    });
  }
  const lastRewind = events.findLast((event) => rewindTargetOf(event) !== undefined)?.invocationId;
  return { places: [...places.values()], lastRewind, isDecided };
}
