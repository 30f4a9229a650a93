import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import { foldHistory } from './fold.js';
import { compactedEndOf, compactionOf, isFilled } from './marks.js';
import { readSession } from './session_history.js';

/** One of several turns that follow the same history: the user edited a message, or regenerated its answer. */
export interface BranchAlternative {
  /** The invocation of the turn. */
  invocationId: string;
  /** Whether the turn is in the transcript now. */
  isShown: boolean;
  /**
   * The branch for `switchBranch`, which shows the turn and what last followed it. Absent if no rewind has ended a branch
   * with this turn.
   */
  branch?: string;
}

/** A place in the transcript where a session has several branches. */
export interface TurnBranches {
  /** The turn before this place; absent at the beginning. */
  after?: string;
  /** The alternatives, in the order in which they began. */
  alternatives: BranchAlternative[];
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
  requireService(service, ['getSession']);
  const { events } = await readSession(service, takeRequest(key));
  return branchesOf(events);
}

/** A turn, as a node of a tree. Branches that begin with the same turns share these nodes. */
interface Turn {
  readonly invocationId: string;
  readonly parent: Turn | undefined;
  readonly next: Map<string, Turn>;
  /** The last rewind that ended a branch with this turn. */
  end: { readonly number: number; readonly branch: string } | undefined;
}

/** Computes the branches of a history. */
export function branchesOf(events: readonly Event[]): TurnBranches[] {
  const turns: Turn[] = [];
  const addTurn = (parent: Turn | undefined, invocationId: string): Turn => {
    const turn: Turn = { invocationId, parent, next: new Map(), end: undefined };
    parent?.next.set(invocationId, turn);
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
      return current.next.get(invocationId) ?? addTurn(current, invocationId);
    },
    (ended, { invocationId }) => {
      rewinds += 1;
      ended.end = { number: rewinds, branch: invocationId };
    },
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
  if (compactionOf(event) !== undefined || compactedEndOf(event) !== undefined) return false;
  return isFilled(invocationId) && isFilled(content) && invocationId !== current.invocationId;
}

function placesOf(last: Turn): TurnBranches[] {
  const places: TurnBranches[] = [];
  let shown: Turn | undefined;
  for (let at: Turn | undefined = last; at; at = at.parent) {
    const alternatives = [...at.next.values()].map((next) => alternativeOf(next, next === shown));
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
