/** Reads of whole sessions, and places in them. */
import { invalid } from '../../values/errors/invalid.js';
import { SessionError } from '../../values/errors/errors.js';
import { describeValue } from '../../values/errors/describe.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import { EVENTS_PER_TASK as PAGE, nextTask } from '../call/next_task.js';
import { requireObject, requireText } from '../../values/errors/option_values.js';
import { requireKey } from '../../values/model/values/ids.js';
import type { Event } from '../../values/model/event/event.js';
import type { HistoryPlace } from '../history_types.js';
import type { Abortable, CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { isFilled } from './marks.js';

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
