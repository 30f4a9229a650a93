import { SessionError, isSessionError } from '../../errors/errors.js';
import { sessionNotFound } from '../../errors/session_not_found.js';
import { keepEqual } from '../../json/keep_equal.js';
import type { Event, NewEvent } from '../../model/event/event.js';
import { snapshotEvent } from '../../model/event/snapshot.js';
import type {
  Abortable,
  CompositeSessionKey,
  ExpectedEvents,
  RevisionCheck,
} from '../../model/session.js';
import type { SessionService } from '../../model/session_service.js';
import { cursorAt } from '../../read/event_cursor.js';
import { HttpRefusal } from '../http/http_refusal.js';
import type { TakenRights } from './authorize.js';
import { type Answer, answersIn, foreignMemberOf, markGiven } from './client_event.js';
import { findOpenCalls } from './open_calls.js';
import { hasSecrets, publicView } from './public_view.js';

/** How often an append is decided on again after others have appended. */
const MAX_ATTEMPTS = 5;

/** An append as a client asks for it. */
interface ClientAppend<Result> {
  readonly service: SessionService;
  readonly key: CompositeSessionKey & Abortable;
  readonly rights: TakenRights;
  readonly events: readonly NewEvent[];
  /** The revision that the client expects. */
  readonly expectedRevision: number | undefined;
  /** The versions of stored events that the client expects. */
  readonly expectedEvents: ExpectedEvents | undefined;
  /** Appends the events that the rights admit. */
  readonly append: (events: NewEvent[], expected: Expected) => Promise<Result>;
}

/** The revisions that an append must find. */
export type Expected = Required<RevisionCheck>;

/**
 * Appends events of a client, if its rights admit them. An event that the client has read, and sends again, is the
 * stored one: it changes nothing, although the client may have seen only a part of it.
 *
 * Most appends read nothing before: they fail if they would replace an event. Only then, and for answers, the events
 * are compared with those stored, and appended at the revision that was read.
 *
 * @throws HttpRefusal 403 if the rights do not admit an event
 * @throws SessionError `not_found`, `stale_session`, and those of the append
 */
export async function appendOfClient<Result>(request: ClientAppend<Result>): Promise<Result> {
  const { rights, events, expectedRevision, expectedEvents, append } = request;
  const replaces = Object.values(expectedEvents ?? {}).some((revision) => revision !== null);
  const isPlain = events.every((event) => isPlainOf(event, rights));
  if (expectedRevision === undefined && !replaces && isPlain) {
    try {
      return await append(events.map(markGiven), replacingNone(events));
    } catch (error) {
      if (!isOfRevision(error, expectedEvents)) throw error;
    }
  }
  let refused: { readonly error: unknown; readonly revision: number | undefined } | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const revision = await readRevision(request);
    if (refused !== undefined && (refused.revision === revision || attempt > MAX_ATTEMPTS)) {
      throw refused.error;
    }
    const { admitted, isRetry } = await admitAll(request);
    if (expectedRevision !== undefined && revision !== undefined && expectedRevision !== revision) {
      // A retry of an append is no conflict.
      if (isRetry) return await append(admitted, replacingNone(admitted));
      throw otherRevision(request.key.sessionId, expectedRevision, revision);
    }
    try {
      return await append(admitted, {
        expectedRevision: revision ?? expectedRevision,
        expectedEvents,
      });
    } catch (error) {
      if (!isOfRevision(error, expectedEvents)) throw error;
      refused = { error, revision };
    }
  }
}

/**
 * Returns the events of a session that a client creates, with the mark of google-adk.
 *
 * @throws HttpRefusal 403 if the rights do not admit one
 */
export function eventsOfClient(events: readonly NewEvent[], rights: TakenRights): NewEvent[] {
  // There is no call yet that an answer could belong to.
  for (const event of events) requireAdmitted(event, rights, new Map());
  return events.map(markGiven);
}

/** Refuses to replace any event: whether a client may replace one depends on what is stored. */
function replacingNone(events: readonly NewEvent[]): Expected {
  const ids = events.flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id] : []));
  const expectedEvents = Object.fromEntries(ids.map((id) => [id, null]));
  return { expectedRevision: undefined, expectedEvents };
}

/** Whether an append failed because of a revision that the handler itself expects, not its client. */
function isOfRevision(error: unknown, expectedEvents: ExpectedEvents = {}): boolean {
  if (!isSessionError(error, 'stale_session')) return false;
  const ids = Object.keys(error.actualEvents ?? {});
  return !ids.some((id) => Object.hasOwn(expectedEvents, id));
}

/** Whether an event needs no right, and no call that it answers. */
function isPlainOf(event: NewEvent, { mayWriteAgentEvents, mayRewind }: TakenRights): boolean {
  if (mayWriteAgentEvents) return true;
  return foreignMemberOf(event, mayRewind) === undefined && answersIn(event).length === 0;
}

/** @returns `undefined` for a service without revisions */
async function readRevision({ service, key }: ClientAppend<unknown>): Promise<number | undefined> {
  const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (session === undefined) throw sessionNotFound(key.sessionId);
  return service.revisionOf(session);
}

/** The events to append: marked, or as they are stored if the client sends them again. */
interface AdmittedEvents {
  readonly admitted: NewEvent[];
  /** Whether all of them are stored. */
  readonly isRetry: boolean;
}

async function admitAll({
  service,
  key,
  rights,
  events,
}: ClientAppend<unknown>): Promise<AdmittedEvents> {
  const { mayWriteAgentEvents } = rights;
  const answers = mayWriteAgentEvents ? [] : events.flatMap(answersIn);
  const asked = new Set(answers.map(({ id }) => id));
  const newestFirst = service.events({ ...key, order: 'desc' });
  const open =
    asked.size === 0 ? new Map<unknown, string>() : await findOpenCalls(newestFirst, asked);
  const admitted: NewEvent[] = [];
  let isRetry = true;
  for (const event of events) {
    const stored = await readStored(service, key, event.id);
    if (stored !== undefined && isSame(event, stored)) {
      admitted.push(stored);
      continue;
    }
    isRetry = false;
    requireAdmitted(event, rights, open);
    const isUsers = stored === undefined || isPlainOf(stored, rights);
    if (!isUsers || (!rights.maySeeCredentials && hasSecrets(stored))) {
      throw refusal('replace this event');
    }
    admitted.push(markGiven(event));
  }
  return { admitted, isRetry };
}

/**
 * @param open the names of the calls that the event may answer, by id. Those that it answers are taken out.
 * @throws HttpRefusal 403
 */
function requireAdmitted(event: NewEvent, rights: TakenRights, open: Map<unknown, string>): void {
  if (rights.mayWriteAgentEvents) return;
  const foreign = foreignMemberOf(event, rights.mayRewind);
  if (foreign !== undefined) throw refusal(`write the ${foreign} of this event`);
  if (answersIn(event).every((answer) => close(open, answer))) return;
  throw refusal('answer this call, which is not open');
}

/** Returns whether a call was open. A second answer finds it closed. */
function close(open: Map<unknown, string>, { id, name }: Answer): boolean {
  return open.get(id) === name && open.delete(id);
}

/** Reads the event with an id, at a cost that does not depend on the length of the history. */
async function readStored(
  service: SessionService,
  key: CompositeSessionKey & Abortable,
  id: string | undefined,
): Promise<Event | undefined> {
  if (typeof id !== 'string' || id === '') return undefined;
  const page = { ...key, limit: 1, withCount: false };
  const { events, after: end } = await service.listEvents(page);
  if (end === undefined || events[0]?.id === id) return events[0];
  const after = cursorAt(key, end, id);
  try {
    const [next] = (await service.listEvents({ ...page, after })).events;
    const before = next && cursorAt(key, end, next.id);
    const [stored] = (await service.listEvents({ ...page, before })).events;
    return stored?.id === id ? stored : undefined;
  } catch (error) {
    // No event has this id.
    if (isSessionError(error, 'invalid_argument')) return undefined;
    throw error;
  }
}

/** Whether a client sends an event as it is stored, or as it was shown. */
function isSame(event: NewEvent, stored: Event): boolean {
  const copy = { ...event } as Event;
  const sent: unknown = JSON.parse(snapshotEvent(copy, Date.now, () => '-').text);
  return [true, false].some((maySee) => {
    const shown: unknown = publicView(stored, maySee);
    return keepEqual(shown, sent) === shown;
  });
}

function refusal(action: string): HttpRefusal {
  return new HttpRefusal(403, `This request may not ${action}.`);
}

function otherRevision(sessionId: string, expected: number, actual: number): SessionError {
  const message = `session "${sessionId}" is at revision ${actual} and no longer at ${expected}; get it again, then append`;
  return new SessionError('stale_session', message, {
    staleReason: 'other_revision',
    expectedRevision: expected,
    actualRevision: actual,
  });
}
