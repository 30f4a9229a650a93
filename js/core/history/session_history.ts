/** Reads of whole sessions, places in them, and the ids of writes to them. */
import { invalid, sessionNotFound } from '../../values/errors/invalid.js';
import { SessionError } from '../../values/errors/errors.js';
import { describeValue } from '../../values/errors/describe.js';
import { EVENTS_PER_TASK as PAGE, nextTask } from '../call/scheduling.js';
import { requireObject, requireText } from '../../values/errors/option_values.js';
import { requireKey } from '../../values/model/values/ids.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import type { HistoryPlace, RewindWrite } from '../history_types.js';
import type { Abortable, CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { isFilled, isMarker, rewindTargetOf } from '../../values/model/event/markers.js';

/**
 * Reads a session with all its events, even if the service has the option `history`. A long history is read in pages.
 *
 * @throws SessionError `not_found`; `connection_lost` with `missing: 'events'` over a cache that cannot fetch all
 */
export async function readSession(
  service: SessionService,
  request: CompositeSessionKey & Abortable,
): Promise<Session> {
  const session = await findSession(service, request);
  if (session === undefined) throw sessionNotFound(request.sessionId);
  return session;
}

/** Like {@link readSession}, and `undefined` if there is no session. */
export async function findSession(
  service: SessionService,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<Session | undefined> {
  const key = { appName, userId, sessionId };
  requireKey(key);
  // Over a cache only a read of all fails if it cannot have them. adk api_server has no pages.
  const { events, storage } = service as Partial<SessionService>;
  const inPages = events !== undefined && !['cache', 'remote'].includes(storage?.kind ?? '');
  const numRecentEvents = inPages ? PAGE : 'all';
  const session = await service.getSession({
    ...key,
    signal,
    config: { numRecentEvents, view: 'raw' },
  });
  if (inPages && session?.events.length === PAGE) {
    await nextTask();
    session.events.unshift(...(await readOlder(service, session, signal)));
  }
  return session;
}

/** Reads the events before those of a session. */
async function readOlder(
  service: SessionService,
  { appName, userId, id: sessionId, events }: Session,
  signal: Abortable['signal'],
): Promise<Event[]> {
  const newestFirst: Event[] = [];
  const order = { order: 'desc', view: 'raw', limit: PAGE } as const;
  for await (const event of service.events({ appName, userId, sessionId, signal, ...order })) {
    newestFirst.push(event);
    if (newestFirst.length % PAGE === 0) await nextTask();
  }
  const first = newestFirst.findIndex(({ id }) => id === events[0]?.id);
  return newestFirst.slice(first + 1).reverse();
}

/** Takes a place of a caller: its known member alone. @throws SessionError `invalid_argument` */
export function takePlace(name: string, place: HistoryPlace): HistoryPlace {
  requireObject(name, place);
  if ('eventId' in place) {
    const { eventId } = place;
    requireText(`${name}.eventId`, eventId);
    return { eventId };
  }
  const { invocationId } = place;
  requireText(`${name}.invocationId`, invocationId);
  return { invocationId };
}

/** Returns the key of a request. @throws SessionError `invalid_argument` */
export function sessionKeyOf({
  appName,
  userId,
  sessionId,
}: CompositeSessionKey): CompositeSessionKey {
  requireKey({ appName, userId, sessionId });
  return { appName, userId, sessionId };
}

/**
 * Returns the index of an event.
 *
 * @throws SessionError `not_found`
 */
export function indexOfEvent(events: readonly Event[], eventId: unknown): number {
  const index = events.findIndex(({ id }) => id === eventId);
  if (index >= 0) return index;
  throw notInSession('event', eventId);
}

/**
 * Returns the invocation of a place.
 *
 * @throws SessionError `invalid_argument` for an event without an invocation, `not_found`
 */
export function invocationAt(events: readonly Event[], name: string, place: HistoryPlace): string {
  if (!('eventId' in place)) return place.invocationId;
  const { invocationId } = events[indexOfEvent(events, place.eventId)]!;
  if (isFilled(invocationId)) return invocationId;
  throw invalid(`${name}.eventId`, 'must name an event that has an invocationId');
}

/**
 * Returns the index of the first event of an invocation.
 *
 * @throws SessionError `not_found`
 */
export function firstOfInvocation(events: readonly Event[], invocationId: unknown): number {
  const index = isFilled(invocationId)
    ? events.findIndex((event) => event.invocationId === invocationId)
    : -1;
  if (index >= 0) return index;
  throw notInSession('invocation', invocationId);
}

function notInSession(what: string, id: unknown): SessionError {
  return new SessionError('not_found', `The session has no ${what} ${describeValue(id)}.`);
}

// A write that is sent again names the same ids. They are distinct, and all free or all of the same stored write.

/** What a write says of one of its events. */
type SentEvent = Pick<NewEvent, 'id' | 'author' | 'actions'> & {
  readonly invocationId?: string | undefined;
};

const OF_ANOTHER = 'is the id of another event of the session';

/** Checks that no two events of a rewind have the same id. @throws SessionError `invalid_argument` */
export function requireDistinctIds(write: RewindWrite): void {
  const known = new Set<unknown>([write.marker.id]);
  for (const [name, { id }] of followingOf(write)) {
    if (known.has(id)) throw invalid(name, 'is the id of another event of the request');
    if (isFilled(id)) known.add(id);
  }
}

/** Returns the ids of the events that a rewind stores, so far as its request names them. */
export function idsOf(write: RewindWrite): string[] {
  const sent = [write.marker, ...followingOf(write).map(([, event]) => event)];
  return sent.flatMap(({ id }) => (isFilled(id) ? [id!] : []));
}

/**
 * Returns the index of the marker of a rewind; -1 if it is not stored. Then none of the rewind's ids is.
 *
 * @throws SessionError `invalid_argument` for an id of another event, and for one that the stored rewind does not have
 */
export function findStoredMarker(events: readonly Event[], write: RewindWrite): number {
  const { marker } = write;
  const at = events.findIndex(({ id }) => id === marker.id);
  const isStored = at >= 0;
  const stored = events[at];
  if (stored !== undefined) {
    const isOfRewind = isOfWrite(stored, { author: 'user', invocationId: marker.invocationId });
    if (!isOfRewind || rewindTargetOf(stored) === undefined) throw invalid('marker.id', OF_ANOTHER);
  }
  const places = new Map(events.map(({ id }, place) => [id, place]));
  for (const [name, sent] of followingOf(write)) {
    const place = isFilled(sent.id) ? (places.get(sent.id!) ?? -1) : -1;
    if (!isStored && place < 0) continue;
    if (place < 0) throw invalid(name, 'is not an id of the stored rewind');
    if (!isStored || place < at || !isSame(events[place]!, sent)) throw invalid(name, OF_ANOTHER);
  }
  return at;
}

/**
 * Checks that a stored event is the message of a user that is sent again. Its content is not compared: a plugin may
 * have changed it.
 *
 * @throws SessionError `invalid_argument`
 */
export function requireSameMessage(name: string, stored: Event, sent: SentEvent): Event {
  if (isSame(stored, { invocationId: sent.invocationId, author: 'user' })) return stored;
  throw invalid(name, OF_ANOTHER);
}

/** Whether a stored event may be the one that was sent. */
function isSame(stored: Event, sent: SentEvent): boolean {
  return isMarker(stored) === isMarker(sent as Event) && isOfWrite(stored, sent);
}

/** Whether a stored event has the author and the invocation that were sent. */
function isOfWrite(stored: Event, { author, invocationId }: SentEvent): boolean {
  const isOfInvocation = !isFilled(invocationId) || stored.invocationId === invocationId;
  return stored.author === author && isOfInvocation;
}

/** Returns the events that follow the marker of a rewind, with the names of their ids. */
function followingOf({ message, events = [] }: RewindWrite): (readonly [string, SentEvent])[] {
  const sent = events.map((event, at) => [`events[${at}].id`, event] as const);
  if (message === undefined) return sent;
  const { id, invocationId } = message;
  return [['message.id', { id, invocationId, author: 'user' }], ...sent];
}
