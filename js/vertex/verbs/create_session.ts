/** Creates a session: looks whether it is there, asks, creates, and asks again for the time that it got. */
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

/** @throws SessionError `invalid_argument` for an id that no session can have */
export function requireSessionId({ sessionId }: Required<StorageKey>): void {
  if (isSessionId(sessionId)) return;
  throw invalid(
    'sessionId',
    'must be of 1 to 63 lower-case letters, digits and -, and neither begin nor end with -, for Vertex AI',
  );
}

/** What is to be there in the end. */
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
    // What the server shows of scopes that others write to as well.
    user: scopeRow(created, USER_PREFIX),
    app: scopeRow(created, APP_PREFIX),
    floor: createdAt(created) - 1,
  });
}

/** Tells of one that is there. */
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
 * Asks the server to create it.
 *
 * @returns `made`; `lost`: no answer told whether it is there by this request; `taken`: another was first
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

/** The server shows a session no earlier than its operation is done, and not all operations can be asked for. */
async function findCreated({ sessions, place }: Target): Promise<Json> {
  const poll = new Poll(sessions.rest);
  for (;;) {
    const created = await sessions.find(place);
    if (created !== undefined) return created;
    await poll.pause();
  }
}

/** Whether a session is as it was to be created, so that it makes no difference who did. */
async function isAsAsked(
  { sessions, place }: Target,
  created: Json,
  state: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const shown = stateOf(created);
  // Of users and apps the server may show more, which others wrote.
  const own = Object.keys(shown).filter((key) => !isShared(key));
  const isSame =
    isOwnedBy(created, place.userId) &&
    own.every((key) => Object.hasOwn(state, key)) &&
    Object.entries(state).every(([key, value]) => isSameValue(shown[key] ?? null, value));
  return isSame && (await sessions.events.read(place.url, 0)).length === 0;
}
