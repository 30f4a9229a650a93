import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../model/session.js';
import type { SessionService } from '../model/session_service.js';
import { compactedEndOf, compactionOf, isFilled, rewindTargetOf } from './marks.js';
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
  /** The invocation of the last marker that ended a branch with this turn. */
  branch: string | undefined;
}

/** Computes the branches of a history: a rewind continues what stood before the first event of its target. */
export function branchesOf(events: readonly Event[]): TurnBranches[] {
  let current = newTurn('', undefined);
  /** For each invocation the turn before its first event. */
  const before = new Map<string, Turn>();
  for (const event of events) {
    const { invocationId } = event;
    if (isFilled(invocationId) && !before.has(invocationId)) before.set(invocationId, current);
    const target = rewindTargetOf(event);
    if (target === undefined) {
      current = startsTurn(event, current) ? nextTurn(current, invocationId) : current;
      continue;
    }
    for (let ended: Turn | undefined = current; ended; ended = ended.parent) {
      ended.branch = invocationId;
    }
    // A rewind before itself or before an invocation that has no event yet changes nothing.
    current = before.get(target) ?? current;
  }
  return placesOf(current);
}

function newTurn(invocationId: string, parent: Turn | undefined): Turn {
  return { invocationId, parent, next: new Map(), branch: undefined };
}

function nextTurn(current: Turn, invocationId: string): Turn {
  const next = current.next.get(invocationId) ?? newTurn(invocationId, current);
  current.next.set(invocationId, next);
  return next;
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
      places.unshift({ ...(at.parent && { after: at.invocationId }), alternatives });
    }
    shown = at;
  }
  return places;
}

function alternativeOf({ invocationId, branch }: Turn, isShown: boolean): BranchAlternative {
  return { invocationId, isShown, ...(branch !== undefined && { branch }) };
}
