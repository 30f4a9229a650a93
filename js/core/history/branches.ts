import { takeRequest } from '../call/call.js';
import { requireService } from '../call/given_service.js';
import type { Event } from '../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import type {
  BranchAlternative,
  BranchesRead,
  SessionBranches,
  TurnBranches,
} from '../history_verbs.js';
import { coreOf, type RewindTarget } from '../core_of.js';
import { foldHistory } from './fold.js';
import { compactedEndOf, compactionOf, isFilled } from './marks.js';
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
  /** See {@link foldHistory}. */
  readonly older?: readonly string[] | undefined;
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
 * @returns also whether the events decide the places that are wanted. Others are left out if they are not decided
 */
export function branchesOf(
  events: readonly Event[],
  { isWhole, older, fromEventId }: Tail = { isWhole: true },
): SessionBranches & { readonly isDecided: boolean } {
  const turns: Turn[] = [];
  const addTurn = (parent: Turn | undefined, invocationId: string): Turn => {
    const turn: Turn = { invocationId, parent, next: undefined, end: undefined };
    if (parent !== undefined) (parent.next ??= new Map()).set(invocationId, turn);
    turns.push(turn);
    return turn;
  };
  let rewinds = 0;
  let lastRewind: string | undefined;
  let from: Turn | undefined;
  const last = foldHistory(
    events,
    addTurn(undefined, ''),
    (current, event) => {
      const { id, invocationId } = event;
      const turn = startsTurn(event, current)
        ? (current.next?.get(invocationId) ?? addTurn(current, invocationId))
        : current;
      if (id === fromEventId) from = turn;
      return turn;
    },
    (ended, { invocationId }) => {
      rewinds += 1;
      lastRewind = invocationId;
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
  const places = placesOf(last);
  if (isWhole) return { places, lastRewind, isDecided: true };
  // The first turn of a tail may have alternatives before it. The turn before it is not known.
  const isDecided = from?.parent?.parent !== undefined;
  return { places: places.filter(({ after }) => after !== undefined), lastRewind, isDecided };
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
