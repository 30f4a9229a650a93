import { type DrivenWrite, callWrite, requireRoom } from '../../wasm/core.js';
import type { EventTexts } from '../../../values/model/event/snapshot.js';
import type { StoredScope } from '../../../values/state/scope.js';
import { ABSENT } from '../../wasm/protocol.js';
import { type Decision, packFound, unpackDecision } from '../wasm/packed.js';
import type { NewSession } from '../../write.js';
import type { Changes, EventRow, Found, SessionRow, SharedRow, StorageKey } from '../rows.js';

/** The parts of a write that its rows are made of. */
export interface RowParts {
  readonly key: StorageKey;
  readonly events: readonly EventTexts[];
  /** The members of `CreateWrite` that the rows or the request of a new session need; else `undefined`. */
  readonly creation: Pick<NewSession, 'description' | 'lastUpdateTime' | 'now'> | undefined;
  readonly firstTitle: string | undefined;
}

/**
 * Computes the rows to write from the rows that a storage found. The core decides.
 *
 * @param scopes the states that the write's plan names
 * @returns the rows to write; `undefined` if there is nothing to write
 */
export function decide(
  write: DrivenWrite,
  scopes: readonly StoredScope[],
  parts: RowParts,
  found: Found,
): Changes | undefined {
  const { floor, session, user, app } = found;
  const stored = found.events.map(eventTuple);
  const missed = found.changed.map(eventTuple);
  const current = session ?? NO_SESSION;
  const first = neededState(scopes.includes('session'), session);
  const second = neededState(scopes.includes('user'), user);
  const third = neededState(scopes.includes('app'), app);
  requireRoom(first.length + second.length + third.length);
  const numbers = callWrite(write, () =>
    write.decide(
      packFound({
        floor,
        session: current,
        revisions: { user: user?.revision ?? 0, app: app?.revision ?? 0 },
        states: { session: first, user: second },
      }),
      first + second + third,
      stored.length + missed.length === 0 ? undefined : [stored, missed],
    ),
  );
  if (numbers === undefined) return undefined;
  const decision = unpackDecision(numbers, scopes.length === 0 ? '' : write.states());
  const { revisions, states } = decision;
  return {
    session: revisions.session === 0 ? undefined : sessionRow(parts, decision, session),
    user: changedState(revisions.user, states.user),
    app: changedState(revisions.app, states.app),
    events: eventRows(decision, parts.events),
  };
}

/** @param stored the session as it is stored, if it is */
function sessionRow(
  { key, creation, firstTitle }: RowParts,
  { revisions, states, created, lastUpdateTime }: Decision,
  stored: SessionRow | undefined,
): SessionRow {
  const { appName, userId = '', sessionId = '' } = key;
  const description = creation?.description ?? {};
  const { title, labels, parent, initialState } = stored ?? description;
  const hasTitle = title !== undefined && title !== '';
  // A session is not created in the future, whatever the times of its events.
  const createTime = Math.min(lastUpdateTime, creation?.now ?? Infinity);
  return {
    appName,
    userId,
    sessionId,
    created,
    revision: revisions.session,
    lastUpdateTime,
    // A state without changes keeps its text.
    state: states.session === '' ? (stored ?? NO_SESSION).state : states.session,
    title: hasTitle ? title : firstTitle,
    labels,
    parent,
    createTime: stored === undefined ? createTime : stored.createTime,
    initialState,
  };
}

/** The members of a session that is not stored. */
const NO_SESSION = { created: 0, revision: ABSENT, lastUpdateTime: 0, state: '{}' };

/**
 * Returns the text of a state that exists and is needed, else `''`. An empty stored text is
 * damaged; it becomes `' '`, so that it does not pass for no state.
 */
function neededState(isNeeded: boolean, row: { readonly state: string } | undefined): string {
  return isNeeded && row !== undefined ? row.state || ' ' : '';
}

/** Returns an event as the wasm takes it. */
function eventTuple({ id, seq, revision, timestamp, text }: EventRow): readonly unknown[] {
  return [id, seq, revision, timestamp, text];
}

function eventRows(decision: Decision, events: readonly EventTexts[]): EventRow[] {
  const rows: EventRow[] = [];
  for (const { position, seq, revision } of decision.events) {
    const event = events[position];
    if (event === undefined) continue;
    const { id, timestamp, text } = event;
    rows.push({ id, seq, revision, timestamp, text });
  }
  return rows;
}

function changedState(revision: number, state: string): SharedRow | undefined {
  return revision === 0 ? undefined : { revision, state };
}
