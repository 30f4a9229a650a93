import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import type { BranchesRead, SessionBranches, TurnBranches } from '../history_types.js';
import { coreOf, type RewindTarget } from '../core_of.js';
import { historyBranches } from '../wasm/packed_marks.js';
import { eventMarksOf, isFilled, type Reading, rewindTargetOf } from './marks.js';
import { readSession, sessionKeyOf } from './session_history.js';

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

/** How many events are read at first for the places from an event on. */
const FIRST_TAIL = 64;

/** Reads the branches of a session, and which rewind was its last. */
export async function readBranches(
  service: SessionService,
  request: CompositeSessionKey & Abortable & Pick<BranchesRead, 'fromEventId'>,
): Promise<SessionBranches> {
  requireService(service, ['getSession']);
  const taken = takeRequest(request);
  const { signal, fromEventId } = taken;
  const key = sessionKeyOf(taken);
  const core = coreOf(service);
  const verbs = await core?.history({ signal });
  if (verbs !== undefined) return verbs.branches({ key, fromEventId, signal });
  const rewinds = fromEventId === undefined ? undefined : await core?.rewinds({ ...key, signal });
  const { places, lastRewind } =
    rewinds === undefined
      ? branchesOf((await readSession(service, taken)).events)
      : await readTail(service, { ...key, signal, fromEventId }, rewinds);
  return { places, lastRewind };
}

/** Reads the last events, until they decide which branches stand from an event on. */
async function readTail(
  service: SessionService,
  { fromEventId, signal, ...key }: CompositeSessionKey & Abortable & Omit<BranchesRead, 'key'>,
  rewinds: readonly RewindTarget[],
): Promise<SessionBranches> {
  if (rewinds.length === 0) return { places: [] };
  for (let last = FIRST_TAIL; ; last *= 4) {
    const config = { numRecentEvents: last, view: 'raw' } as const;
    const session = await service.getSession({ ...key, signal, config });
    if (session === undefined) throw sessionNotFound(key.sessionId);
    const { events } = session;
    const ids = new Set(events.map(({ id }) => id));
    const isOlder = ({ eventId }: RewindTarget): boolean =>
      eventId !== undefined && !ids.has(eventId);
    const older = rewinds.filter(isOlder).map(({ invocationId }) => invocationId);
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
