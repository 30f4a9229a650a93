import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import {
  type BranchAlternative,
  type SessionBranches,
  type TurnBranches,
} from '../history_verbs.js';
import { coreOf } from '../core_of.js';
import { foldHistory } from './fold.js';
import { compactedEndOf, compactionOf, isFilled, rewindTargetOf } from './marks.js';
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

/** Reads the branches of a session, and which rewind was its last. */
export async function readBranches(
  service: SessionService,
  request: CompositeSessionKey & Abortable,
): Promise<SessionBranches> {
  requireService(service, ['getSession']);
  const taken = takeRequest(request);
  const { signal } = taken;
  const key = sessionKeyOf(taken);
  const verbs = await coreOf(service)?.history({ signal });
  if (verbs !== undefined) return verbs.branches({ key, signal });
  const { events } = await readSession(service, taken);
  const last = events.findLast((event) => rewindTargetOf(event) !== undefined);
  return { places: branchesOf(events), lastRewind: last?.invocationId };
}

/** A turn, as a node of a tree. Branches that begin with the same turns share these nodes. */
interface Turn {
  readonly invocationId: string;
  readonly parent: Turn | undefined;
  next: Map<string, Turn> | undefined;
  /** The last rewind that ended a branch with this turn. */
  end: { readonly number: number; readonly branch: string } | undefined;
}

/**
 * Computes the branches of a history.
 *
 * @param older see {@link foldHistory}
 */
export function branchesOf(events: readonly Event[], older?: readonly string[]): TurnBranches[] {
  const turns: Turn[] = [];
  const addTurn = (parent: Turn | undefined, invocationId: string): Turn => {
    const turn: Turn = { invocationId, parent, next: undefined, end: undefined };
    if (parent !== undefined) (parent.next ??= new Map()).set(invocationId, turn);
    turns.push(turn);
    return turn;
  };
  let rewinds = 0;
  const last = foldHistory(
    events,
    addTurn(undefined, ''),
    (current, event) => {
      const { invocationId } = event;
      if (!startsTurn(event, current)) return current;
      return current.next?.get(invocationId) ?? addTurn(current, invocationId);
    },
    (ended, { invocationId }) => {
      rewinds += 1;
      ended.end = { number: rewinds, branch: invocationId };
    },
    older,
  );
  // A rewind ends all turns up to the last one. Each turn comes after its parent, so one pass from the end is enough.
  for (const { parent, end } of turns.reverse()) {
    if (parent !== undefined && end !== undefined && end.number > (parent.end?.number ?? 0)) {
      parent.end = end;
    }
  }
  return placesOf(last);
}

/** Returns whether an event begins a turn. Compactions and changes of the state do not. */
function startsTurn(event: Event, current: Turn): boolean {
  const { invocationId, content } = event;
  if (invocationId === current.invocationId || !isFilled(invocationId)) return false;
  // Last, because it takes longest.
  return (
    isFilled(content) && compactionOf(event) === undefined && compactedEndOf(event) === undefined
  );
}

function placesOf(last: Turn): TurnBranches[] {
  const places: TurnBranches[] = [];
  let shown: Turn | undefined;
  for (let at: Turn | undefined = last; at; at = at.parent) {
    const alternatives = [...(at.next?.values() ?? [])].map((next) =>
      alternativeOf(next, next === shown),
    );
    const { length } = alternatives;
    if (length > 1 || (length === 1 && at === last)) {
      places.push({ ...(at.parent && { after: at.invocationId }), alternatives });
    }
    shown = at;
  }
  return places.reverse();
}

function alternativeOf({ invocationId, end }: Turn, isShown: boolean): BranchAlternative {
  return { invocationId, isShown, ...(end !== undefined && { branch: end.branch }) };
}
