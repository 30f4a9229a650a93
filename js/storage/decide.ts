import * as core from '../core.js';
import { ABSENT, DECIDED, SCOPES } from '../wasm/protocol.js';
import { memberOf } from '../json/own.js';
import type { Changes, EventRow, Found, ScopeRow, StorageKey } from './adapter.js';
import {
  type EventTuple,
  eventTuple,
  list,
  nonsense,
  object,
  optional,
  scopeTuple,
  sessionTuple,
  whole,
} from './checked_rows.js';

type NewEvent = Omit<EventRow, 'seq' | 'revision'>;

/**
 * Asks the core what to write in the light of what an adapter found.
 *
 * @param place where the write stands among those that are under way
 * @param scopes the states that it wants to see
 * @param event the one that it appends, if it is but one: of this the core then need not tell more
 */
export function decide(
  verb: string,
  place: number,
  scopes: number,
  key: StorageKey,
  event: NewEvent | undefined,
  found: Found,
): Changes | undefined {
  object(verb, 'decide', found);
  const floor = whole(verb, 'floor', found.floor);
  const session = optional(memberOf(found, 'session'), (row) => sessionTuple(verb, row));
  const user = optional(memberOf(found, 'user'), (row) => scopeTuple(verb, row));
  const app = optional(memberOf(found, 'app'), (row) => scopeTuple(verb, row));
  const events = list(verb, 'events', found.events);
  const changed = list(verb, 'changed', found.changed);
  const isPlain = isWithoutEvents(found);
  const [created, last, time, state] = session ?? [0, ABSENT, 0, '{}'];
  const [userRevision, userState] = user ?? [0, ''];
  const [appRevision, appState] = app ?? [0, ''];
  const first = wanted(scopes & SCOPES.session && session, state);
  const second = wanted(scopes & SCOPES.user && user, userState);
  const third = wanted(scopes & SCOPES.app && app, appState);
  core.requireRoom(first.length + second.length + third.length);
  // prettier-ignore
  const isAny = core.decide(
    place, floor, created, last, time, userRevision, appRevision,
    first + second + third, first.length, second.length,
    isPlain ? undefined : [rowsOf(verb, events), rowsOf(verb, changed)],
  );
  if (!isAny) return undefined;
  const revision = core.decided_number(DECIDED.sessionRevision);
  const [ofUser, ofApp] = [
    core.decided_number(DECIDED.userRevision),
    core.decided_number(DECIDED.appRevision),
  ];
  if (!Number.isSafeInteger(Math.max(revision, ofUser, ofApp))) {
    throw nonsense(verb, 'gave a floor or a revision that no other one can follow');
  }
  // A NUL behind each, which no JSON has.
  const [ofSession = '', userText, appText] = scopes === 0 ? [] : core.decided_states().split('\0');
  const { appName, userId = '', sessionId = '' } = key;
  return {
    session:
      revision === 0
        ? undefined
        : {
            appName,
            userId,
            sessionId,
            created: session === undefined ? revision : created,
            revision,
            lastUpdateTime: core.decided_number(DECIDED.lastUpdateTime),
            // What no change touches goes back as it came.
            state: ofSession === '' ? state : ofSession,
          },
    user: changedScope(ofUser, userText),
    app: changedScope(ofApp, appText),
    events:
      isPlain && event !== undefined
        ? [rowOf(event, revision)]
        : (core.decided_events() as EventTuple[]).map(([id, seq, revision, timestamp, text]) => {
            return { id, seq, revision, timestamp, text };
          }),
  };
}

/** Whether a write found what it nearly always does: none of its events stored, and nothing changed since. */
export function isWithoutEvents({ events, changed }: Found): boolean {
  return events.length === 0 && changed.length === 0;
}

/** The text of a state that is there and asked for. One that is damaged is not to pass for none. */
function wanted(isWanted: unknown, state: string): string {
  if (!isWanted) return '';
  return state === '' ? ' ' : state;
}

function rowOf({ id, timestamp, text }: NewEvent, revision: number): EventRow {
  return { id, seq: revision, revision, timestamp, text };
}

function rowsOf(verb: string, rows: readonly EventRow[]): EventTuple[] {
  return rows.map((row) => eventTuple(verb, row));
}

function changedScope(revision: number, state = ''): ScopeRow | undefined {
  return revision === 0 ? undefined : { revision, state };
}
