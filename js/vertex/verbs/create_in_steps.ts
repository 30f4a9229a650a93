/**
 * Creates a session with events: the session first, then its events, then the changes that no event carries.
 *
 * The server changes the state only by the deltas of events. So the last changes need an event, and the session
 * has no further one. But an event that is appended again replaces itself. The *carrier* is an event whose own
 * keys are not among the last changes, and no later event changes them. It is appended once more with these
 * changes as its delta, and then again as it is.
 */
import { SessionError } from '../../errors/errors.js';
import type { JsonObject } from '../../json/rules.js';
import { isShared, REMOVED } from '../../state/scope.js';
import type { Event } from '../../model/event/event.js';
import { type EventSnapshot, snapshotEvent } from '../../model/event/snapshot.js';
import type { CreatedSession, CreateRequest, SessionStore } from '../../storage/session_store.js';
import { STALE_POLICIES } from '../../wasm/protocol.js';

/** See {@link BuiltInAdapter.createInSteps}. A failure deletes the session again. */
export async function createInSteps(
  store: SessionStore,
  request: CreateRequest,
  ifAbsent: boolean,
): Promise<CreatedSession | undefined> {
  const { key, events, now, signal, onRetry } = request;
  const created = await store.create({ ...request, events: [], delta: '{}' }, ifAbsent);
  if (created === undefined) return undefined;
  const [atCreation, revision, , state, , user, app] = created;
  const { append: policy } = STALE_POLICIES;
  const append = (some: readonly EventSnapshot[]) =>
    store.append({
      key,
      position: { created: atCreation, revision, lastEventId: undefined },
      policy,
      events: some,
      now,
      signal,
      onRetry,
    });
  try {
    const carried = carriers(events, lastChanges(request, JSON.parse(state) as JsonObject));
    await append(events);
    for (const carrier of carried) await append([carrier]);
  } catch (error) {
    await store.delete({ what: 'session', key }, { onRetry });
    throw error;
  }
  const read = await store.get(key, 0, undefined, { signal, onRetry });
  return [...(read ?? created.slice(0, 5)), user, app] as CreatedSession;
}

/**
 * Returns the changes that follow the events' deltas, without those that the deltas already make. Without shared
 * state, they undo the events' own ones.
 */
function lastChanges({ events, delta, sharesState }: CreateRequest, state: JsonObject): JsonObject {
  const fromEvents = new Map(events.flatMap((event) => Object.entries(event.delta)));
  const changes = new Map<string, unknown>();
  for (const key of sharesState ? [] : fromEvents.keys()) {
    if (isShared(key)) changes.set(key, Object.hasOwn(state, key) ? state[key] : REMOVED);
  }
  for (const [key, value] of Object.entries(JSON.parse(delta) as JsonObject))
    changes.set(key, value);
  for (const [key, value] of changes) {
    const isDone = JSON.stringify(fromEvents.get(key)) === JSON.stringify(value);
    if (isDone) changes.delete(key);
  }
  return Object.fromEntries(changes);
}

/** Returns the two versions of the carrier; none if there is nothing to carry. */
function carriers(events: readonly EventSnapshot[], changes: JsonObject): EventSnapshot[] {
  const keys = new Set(Object.keys(changes));
  if (keys.size === 0) return [];
  for (const event of [...events].reverse()) {
    const own = Object.keys(event.delta);
    if (own.every((key) => !keys.has(key))) {
      const carrier = JSON.parse(event.text) as Event;
      carrier.actions.stateDelta = changes;
      return [
        snapshotEvent(
          carrier,
          () => event.timestamp,
          () => event.id,
        ),
        event,
      ];
    }
    for (const key of own) keys.add(key);
  }
  const message =
    'On Vertex AI the state of a session comes from its events, and no event can carry the changes of stateDelta.';
  throw new SessionError('unsupported', message, { key: 'stateDelta', storage: 'vertexai' });
}
