/**
 * Creates a session: looks for an existing one, calls `decide`, creates it, and calls `decide` again with the
 * server's creation time. The session has its last state from the start; its events follow, see `first_events.ts`.
 */
import { invalidValue } from '../../../values/errors/invalid.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { JsonObject } from '../../../values/json/rules.js';
import type { Expiry } from '../../../values/model/description.js';
import { SessionError } from '../../../values/errors/errors.js';
import { isShared } from '../../../values/state/scope.js';
import type { Decide } from '../../../core/storage/requests.js';
import type { StorageKey } from '../../../core/storage/rows.js';
import { NO_ROWS } from '../../../core/storage/rows.js';
import { isSessionIdTaken, mayHaveTakenEffect } from '../rest/rest_errors.js';
import { unfinishedError, waitForOperation } from '../rest/operation.js';
import { Retries } from '../../http/retries.js';
import { descriptionFields } from './describe_session.js';
import {
  createdAt,
  isOwnedBy,
  newState,
  sharedRow,
  sessionRow,
  stateOf,
} from './session_resource.js';
import { firstPostings } from './first_events.js';
import type { Posting } from './post_events.js';
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
