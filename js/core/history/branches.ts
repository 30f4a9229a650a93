import { takeRequest } from '../call/call.js';
import type { Event } from '../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { BranchesRead, SessionBranches, TurnBranches } from '../history_types.js';
import { requireHistory } from '../core_of.js';
import { historyBranches } from '../wasm/packed_marks.js';
import { eventMarksOf, isFilled, type Reading, rewindTargetOf } from './marks.js';
import { sessionKeyOf } from './session_history.js';

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
