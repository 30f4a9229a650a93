/**
 * Creates a session: looks for an existing one, calls `decide`, creates it, and calls `decide` again with the
 * server's creation time. The session has its last state from the start; its events follow, see `firstPostings`.
 */
import type { Decide } from '../../../core/storage/requests.js';
import { type StorageKey, NO_ROWS, type EventRow } from '../../../core/storage/rows.js';
import { SessionError } from '../../../values/errors/errors.js';
import { invalidValue } from '../../../values/errors/invalid.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { JsonObject } from '../../../values/json/rules.js';
import type { Expiry } from '../../../values/model/description.js';
import type { Event } from '../../../values/model/event/event.js';
import { isShared, REMOVED } from '../../../values/state/scope.js';
import { Retries } from '../../http/retries.js';
import { unfinishedError, waitForOperation } from '../rest/rest.js';
import { isSessionIdTaken, mayHaveTakenEffect } from '../rest/rest_errors.js';
import { type Posting, postingTimes } from './append_events.js';
import { descriptionFields } from './describe_session.js';
import {
  createdAt,
  isOwnedBy,
  newState,
  sharedRow,
  sessionRow,
  stateOf,
} from './session_resource.js';
import type { SessionAddress, Sessions } from './sessions.js';

/** Makes the error for a session id that Vertex AI does not allow. */
export function invalidSessionId({ sessionId }: StorageKey): SessionError {
  return invalidValue(
    'sessionId',
    'must have 1 to 63 lower-case letters, digits and -, without - at either end, on Vertex AI',
    sessionId,
  );
}

/** What a new session has here beside its rows. */
export interface NewSessionParts {
  readonly expiry?: Expiry | undefined;
  /** `false`: the `user:` and `app:` keys of the events' deltas change no state. */
  readonly sharesState?: boolean;
}

/** The session to create. */
interface CreateTarget {
  readonly sessions: Sessions;
  readonly address: SessionAddress;
}

/** @returns the events to post to the session; none if it existed before */
export async function createSession(
  sessions: Sessions,
  address: SessionAddress,
  { expiry, sharesState }: NewSessionParts,
  decide: Decide,
): Promise<readonly Posting[]> {
  const existing = await sessions.find(address);
  if (existing !== undefined) {
    decideOnExisting(address, existing, decide);
    return [];
  }
  const changes = decide(NO_ROWS);
  if (changes === undefined) return [];
  const state = newState(changes);
  const postings = firstPostings(changes.events, state, sharesState);
  const description = descriptionFields({ ...changes.session, expiry });
  const target = { sessions, address };
  const outcome = await sendCreate(target, state, description);
  const created = await waitUntilVisible(target);
  const isOurs =
    outcome === 'created' ||
    (outcome === 'unknown' && (await matchesRequest(target, created, state)));
  if (!isOurs) {
    decideOnExisting(address, created, decide);
    return [];
  }
  decide({
    // The scopes as the server shows them: other sessions write to them too.
    user: sharedRow(created, 'user'),
    app: sharedRow(created, 'app'),
    events: [],
    changed: [],
    floor: createdAt(created) - 1,
  });
  return postings(createdAt(created));
}

/** Passes the existing session to `decide`. Fails with `already_exists` if it belongs to another user. */
function decideOnExisting(address: SessionAddress, resource: JsonObject, decide: Decide): void {
  if (!isOwnedBy(resource, address.userId)) {
    const id = JSON.stringify(address.sessionId);
    throw new SessionError(
      'already_exists',
      `Session ${id} belongs to another user; choose another id.`,
    );
  }
  decide({ ...NO_ROWS, session: sessionRow(address.appName, resource, undefined) });
}

/**
 * Sends the request that creates the session, with retries.
 *
 * @returns `created`: this request created it; `unknown`: no response says whether this request created it;
 *   `exists`: another request was first
 */
async function sendCreate(
  { sessions, address }: CreateTarget,
  state: JsonObject,
  description: JsonObject,
): Promise<'created' | 'unknown' | 'exists'> {
  const { rest } = sessions;
  const { sessionId, userId, listUrl, apiUrl } = address;
  const hasState = Object.keys(state).length > 0;
  const body = { userId, ...description, ...(hasState && { sessionState: state }) };
  const retries = rest.retries();
  let mayHaveCreated = false;
  for (;;) {
    let operation: JsonObject;
    try {
      operation = await rest.request('POST', listUrl, { sessionId }, body);
    } catch (error) {
      if (isSessionIdTaken(error)) return mayHaveCreated ? 'unknown' : 'exists';
      if (!mayHaveTakenEffect(error)) throw error;
      mayHaveCreated = true;
      if ((await sessions.find(address)) !== undefined) return 'unknown';
      await retries.afterFailure(error);
      continue;
    }
    try {
      return (await waitForOperation(rest, apiUrl, operation)) ? 'created' : 'unknown';
    } catch (error) {
      if (isSessionIdTaken(error)) return mayHaveCreated ? 'unknown' : 'exists';
      throw error;
    }
  }
}

/**
 * Reads the created session, polling until the server shows it. The server may show it only when its
 * operation is done, and not every operation can be polled.
 */
async function waitUntilVisible({ sessions, address }: CreateTarget): Promise<JsonObject> {
  const { limit, timeoutMs } = sessions.rest;
  const retries = new Retries(limit, timeoutMs);
  for (;;) {
    const created = await sessions.find(address);
    if (created !== undefined) return created;
    await retries.beforePoll(unfinishedError(timeoutMs));
  }
}

/**
 * Returns whether the session has the requested owner and state, and no events. Then it does not matter which
 * request created it.
 */
async function matchesRequest(
  { sessions, address }: CreateTarget,
  created: JsonObject,
  state: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const storedState = stateOf(created);
  // The server may show more `user:` and `app:` keys, which other sessions wrote.
  const sessionKeys = Object.keys(storedState).filter((key) => !isShared(key));
  const isSame =
    isOwnedBy(created, address.userId) &&
    sessionKeys.every((key) => Object.hasOwn(state, key)) &&
    Object.entries(state).every(([key, value]) => isEqualJson(storedState[key] ?? null, value));
  return isSame && (await sessions.events.read(address.url, 0)).length === 0;
}

// Computes the postings of the events that a session is created with. The session is created with its last state.
// Then the server applies the deltas of the events, which change that state again.
//
// If the last delta of a key has another value than the last state, the key needs a last change. Only an event can
// carry it, and an event that is posted again replaces itself. The *carrier* is an event whose own keys need no last
// change and are not changed by a later event. It is posted once more with the last changes as its delta, and then
// again as it is.

/**
 * Returns a function that makes the postings for a session that is created with this state.
 *
 * @throws SessionError `unsupported` if the last changes have no carrier
 */
function firstPostings(
  rows: readonly EventRow[],
  state: Readonly<Record<string, unknown>>,
  sharesState: boolean | undefined,
): (created: number) => Posting[] {
  const deltas = rows.map(({ text }) => appliedDelta(text, sharesState));
  const changes = lastChanges(deltas, state);
  const carrier = Object.keys(changes).length === 0 ? undefined : rows[carrierOf(deltas, changes)];
  return (created) => {
    const times = postingTimes(rows, created);
    const postings = rows.map(({ id, text }, index) => {
      return { id, text, seq: times[index]!, revision: times[index]! };
    });
    if (carrier === undefined) return postings;
    const { id, text } = carrier;
    const { seq } = postings[rows.indexOf(carrier)]!;
    const last = times.at(-1)!;
    return [
      ...postings,
      { id, text: withDelta(text, changes), seq, revision: last + 1 },
      { id, text, seq, revision: last + 2 },
    ];
  };
}

/** Returns the entries of an event's delta as the server gets them: a removed key is `null`. */
function appliedDelta(text: string, sharesState = true): [string, unknown][] {
  const { actions } = JSON.parse(text) as Event;
  return Object.entries(actions.stateDelta)
    .filter(([key]) => sharesState || !isShared(key))
    .map(([key, value]) => [key, value === REMOVED ? null : value]);
}

/** Returns the values of the state that the deltas overwrite with others. A key that the state lacks is `null`. */
function lastChanges(
  deltas: readonly [string, unknown][][],
  state: Readonly<Record<string, unknown>>,
): JsonObject {
  const changes = [...new Map(deltas.flat())]
    .map(([key, value]) => [key, value, Object.hasOwn(state, key) ? state[key] : null] as const)
    .filter(([, value, last]) => !isEqualJson(value, last))
    .map(([key, , last]) => [key, last]);
  return Object.fromEntries(changes) as JsonObject;
}

/** Returns the index of the event that can carry the changes. */
function carrierOf(deltas: readonly [string, unknown][][], changes: JsonObject): number {
  const keys = new Set(Object.keys(changes));
  const index = deltas.findLastIndex((delta) => {
    const isCarrier = delta.every(([key]) => !keys.has(key));
    for (const [key] of delta) keys.add(key);
    return isCarrier;
  });
  if (index >= 0) return index;
  const message =
    'On Vertex AI the state of a session comes from its events, and no event can carry the changes of stateDelta.';
  throw new SessionError('unsupported', message, { key: 'stateDelta', storage: 'vertexai' });
}

function withDelta(text: string, delta: JsonObject): string {
  const event = JSON.parse(text) as Event;
  event.actions.stateDelta = delta;
  return JSON.stringify(event);
}
