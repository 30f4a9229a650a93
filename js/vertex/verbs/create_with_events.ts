/**
 * Creates a session with events: the session first, then its events, then the changes that no event carries.
 *
 * The server changes the state only by the deltas of events. So the last changes need an event, and the session
 * has no further one. But an event that is appended again replaces itself. The *carrier* is an event whose own
 * keys are not among the last changes, and no later event changes them. It is appended once more with these
 * changes as its delta, and then again as it is.
 */
import { SessionError } from '../../errors/errors.js';
import { withAdvice } from '../rest/rest_errors.js';
import type { JsonObject } from '../../json/rules.js';
import { isShared } from '../../state/scope.js';
import type { Event } from '../../model/event/event.js';
import { type EventSnapshot, snapshotEvent } from '../../model/event/snapshot.js';
import type { Backend, CreatedSession, CreateRequest } from '../../storage/backend.js';

type Verbs = Pick<Backend, 'create' | 'append' | 'get' | 'delete'>;

/** See `Storage.createWithEvents`. A failure deletes the session again. */
export async function createWithEvents(
  backend: Verbs,
  request: CreateRequest,
): Promise<CreatedSession | undefined> {
  const { key, events, sharesState, signal, onRetry } = request;
  const created = await backend.create({ ...request, events: [], delta: '{}' });
  if (created === undefined) return undefined;
  const position = { created: created.created, revision: created.revision, lastEventId: undefined };
  const append = (some: readonly EventSnapshot[], sharesState: boolean) =>
    backend.append({
      key,
      position,
      stale: 'append',
      events: some,
      sharesState,
      signal,
      onRetry,
    });
  try {
    const changes = lastChanges(request);
    const carrier = carrierOf(request, changes);
    await append(events, sharesState);
    if (carrier !== undefined) {
      await append([withDelta(carrier, changes)], true);
      await append([carrier], sharesState);
    }
  } catch (error) {
    throw withAdvice(error, await undo(backend, request));
  }
  try {
    // Without the signal: the session is created.
    const read = await backend.get({ key, last: 0, onRetry });
    return { ...(read ?? created), shared: created.shared };
  } catch (error) {
    throw withAdvice(error, 'The session is created with its events; read it with getSession.');
  }
}

/** Deletes the session. Returns a sentence that says whether it is gone. */
async function undo(backend: Verbs, { key, onRetry }: CreateRequest): Promise<string> {
  try {
    await backend.delete({ what: 'session', key, onRetry });
    return 'The session was deleted again, because not all of its events could be stored.';
  } catch {
    const id = JSON.stringify(key.sessionId);
    return `Session ${id} may remain with a part of its events; delete it before you create it again.`;
  }
}

/** Returns the changes that follow the events' deltas, without those that the deltas already make. */
function lastChanges({ events, delta, sharesState }: CreateRequest): JsonObject {
  const fromEvents = new Map(events.flatMap((event) => appliedEntries(event, sharesState)));
  const changes = Object.entries(JSON.parse(delta) as JsonObject).filter(
    ([key, value]) => JSON.stringify(fromEvents.get(key)) !== JSON.stringify(value),
  );
  return Object.fromEntries(changes);
}

/** Returns the entries of an event's delta that the server gets. */
function appliedEntries({ delta }: EventSnapshot, sharesState: boolean): [string, unknown][] {
  return Object.entries(delta).filter(([key]) => sharesState || !isShared(key));
}

/** Returns the carrier of the changes; `undefined` if there are none. */
function carrierOf(
  { events, sharesState }: CreateRequest,
  changes: JsonObject,
): EventSnapshot | undefined {
  const keys = new Set(Object.keys(changes));
  if (keys.size === 0) return undefined;
  for (const event of [...events].reverse()) {
    const own = appliedEntries(event, sharesState);
    if (own.every(([key]) => !keys.has(key))) return event;
    for (const [key] of own) keys.add(key);
  }
  const message =
    'On Vertex AI the state of a session comes from its events, and no event can carry the changes of stateDelta.';
  throw new SessionError('unsupported', message, { key: 'stateDelta', storage: 'vertexai' });
}

function withDelta({ id, timestamp, text }: EventSnapshot, delta: JsonObject): EventSnapshot {
  const event = JSON.parse(text) as Event;
  event.actions.stateDelta = delta;
  return snapshotEvent(
    event,
    () => timestamp,
    () => id,
  );
}
