/**
 * Creates a session: looks for an existing one, calls `decide`, creates it, and calls `decide` again with the
 * server's creation time.
 */
import { SessionError } from '../../errors/errors.js';
import { APP_PREFIX, isShared, USER_PREFIX } from '../../state/scope.js';
import { invalid } from '../../call/call.js';
import type { Decide, StorageKey } from '../../storage/adapter.js';
import { NOTHING } from './append_events.js';
import { isTaken, mayBeDone } from '../rest/failure.js';
import { Poll, waitFor } from '../rest/operation.js';
import type { Json } from '../rest/rest.js';
import { isSameValue } from '../events/same_value.js';
import { isSessionId } from './session_ids.js';
import {
  createdAt,
  isOwnedBy,
  newState,
  scopeRow,
  sessionRow,
  stateOf,
} from './session_resource.js';
import type { SessionPlace, Sessions } from './sessions.js';

/** @throws SessionError `invalid_argument` if Vertex AI does not allow the session id */
export function requireSessionId({ sessionId }: Required<StorageKey>): void {
  if (isSessionId(sessionId)) return;
  throw invalid(
    'sessionId',
    'must be of 1 to 63 lower-case letters, digits and -, and neither begin nor end with -, for Vertex AI',
  );
}

/** The session to create. */
interface Target {
  readonly sessions: Sessions;
  readonly place: SessionPlace;
}

export async function createSession(
  sessions: Sessions,
  place: SessionPlace,
  decide: Decide,
): Promise<void> {
  const there = await sessions.find(place);
  if (there !== undefined) {
    keep(place, there, decide);
    return;
  }
  const changes = decide(NOTHING);
  if (changes === undefined) return;
  const state = newState(changes);
  const target = { sessions, place };
  const outcome = await request(target, state);
  const created = await findCreated(target);
  const isOurs =
    outcome === 'made' || (outcome === 'lost' && (await isAsAsked(target, created, state)));
  if (!isOurs) {
    keep(place, created, decide);
    return;
  }
  decide({
    ...NOTHING,
    // The scopes as the server shows them: other sessions write to them too.
    user: scopeRow(created, USER_PREFIX),
    app: scopeRow(created, APP_PREFIX),
    floor: createdAt(created) - 1,
  });
}

/** Passes the existing session to `decide`. Fails with `already_exists` if it belongs to another user. */
function keep(place: SessionPlace, resource: Json, decide: Decide): void {
  if (!isOwnedBy(resource, place.userId)) {
    const id = JSON.stringify(place.sessionId);
    throw new SessionError(
      'already_exists',
      `Session ${id} exists, and is another user's; choose another id.`,
    );
  }
  decide({ ...NOTHING, session: sessionRow(place.appName, resource, undefined) });
}

/**
 * Sends the request that creates the session, with retries.
 *
 * @returns `made`: this request created it; `lost`: no response says whether this request created it;
 *   `taken`: another request was first
 */
async function request(
  { sessions, place }: Target,
  state: Json,
): Promise<'made' | 'lost' | 'taken'> {
  const { rest } = sessions;
  const { sessionId, userId, listUrl, apiUrl } = place;
  const body = { userId, ...(Object.keys(state).length > 0 && { sessionState: state }) };
  const tries = rest.tries();
  let wasLost = false;
  for (;;) {
    let operation: Json;
    try {
      operation = await rest.once('POST', listUrl, { sessionId }, body);
    } catch (error) {
      if (isTaken(error)) return wasLost ? 'lost' : 'taken';
      if (!mayBeDone(error)) throw error;
      wasLost = true;
      if ((await sessions.find(place)) !== undefined) return 'lost';
      await tries.next(error);
      continue;
    }
    try {
      return (await waitFor(rest, apiUrl, operation)) ? 'made' : 'lost';
    } catch (error) {
      if (isTaken(error)) return wasLost ? 'lost' : 'taken';
      throw error;
    }
  }
}

/**
 * Reads the created session, polling until the server shows it. The server may show it only when its
 * operation is done, and not every operation can be polled.
 */
async function findCreated({ sessions, place }: Target): Promise<Json> {
  const poll = new Poll(sessions.rest);
  for (;;) {
    const created = await sessions.find(place);
    if (created !== undefined) return created;
    await poll.pause();
  }
}

/**
 * Returns whether the session has the requested owner and state, and no events. Then it does not matter which
 * request created it.
 */
async function isAsAsked(
  { sessions, place }: Target,
  created: Json,
  state: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const shown = stateOf(created);
  // The server may show more `user:` and `app:` keys, which other sessions wrote.
  const own = Object.keys(shown).filter((key) => !isShared(key));
  const isSame =
    isOwnedBy(created, place.userId) &&
    own.every((key) => Object.hasOwn(state, key)) &&
    Object.entries(state).every(([key, value]) => isSameValue(shown[key] ?? null, value));
  return isSame && (await sessions.events.read(place.url, 0)).length === 0;
}
