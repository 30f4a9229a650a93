/** Admits what clients append: events, answers to calls, and messages of runs. */
import type { NamedFile } from '../../core/write.js';
import { EVENTS_PER_TASK, nextTask } from '../../core/call/scheduling.js';
import { FOR_ALL, marksOf } from '../../core/history/rules/marks.js';
import { openCallItems } from '../../core/wasm/packed_marks.js';
import { MAX_IDS } from '../../service/read/event_pages.js';
import { copyEvent } from '../../service/runs/agent/copies.js';
import type { AdmittedMessage } from '../../service/runs/agent/run_storage.js';
import { SessionError, isSessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import { isEqualJson } from '../../values/json/equal.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { namedFiles, withFiles } from '../../values/model/event/place_files.js';
import { snapshotEvent } from '../../values/model/event/snapshot.js';
import type {
  Abortable,
  CompositeSessionKey,
  ExpectedEvents,
  RevisionCheck,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { HttpRefusal } from '../http/responses.js';
import type { TakenRights } from './authorize.js';
import { givenWithFiles } from './client_files.js';
import { type Answer, answersIn, foreignMemberOf, markGiven } from './client_event.js';
import {
  hasSecrets,
  publicView,
  mayBeInPart,
  withoutInternal,
  withWholeDelta,
} from './public_view.js';

/** How often an append is decided on again after others have appended. */
export const MAX_ATTEMPTS = 5;

/** What a client asks to append. */
interface ClientRequest {
  readonly service: SessionService;
  readonly key: CompositeSessionKey & Abortable;
  readonly rights: TakenRights;
  readonly events: readonly NewEvent[];
  /** Of each event, the files that the client names. */
  readonly files: readonly (readonly NamedFile[])[];
  /** The revision that the client expects. */
  readonly expectedRevision: number | undefined;
  /** The versions of stored events that the client expects. */
  readonly expectedEvents: ExpectedEvents | undefined;
}

/** An append as a client asks for it. */
interface ClientAppend<Result> extends ClientRequest {
  /** Appends the events that the rights admit. */
  readonly append: (events: NewEvent[], expected: Expected) => Promise<Result>;
}

/** The revisions that an append must find. */
export type Expected = Required<RevisionCheck>;

/**
 * Appends events of a client, if its rights admit them. An event that the client sends again changes nothing. It counts
 * as the stored event even if it lacks values that the server filled in, or that the server hid from the client.
 *
 * Most appends read nothing first: the storage refuses to replace an event. After such a refusal, and for answers to
 * calls, one call reads the stored events. The sent events are compared with them, and appended only if the session
 * still has the revision that was read.
 *
 * @throws HttpRefusal 403 if the rights do not admit an event
 * @throws SessionError `not_found`, `stale_session`, and those of the append
 */
export async function appendOfClient<Result>(request: ClientAppend<Result>): Promise<Result> {
  const { rights, events, expectedRevision, expectedEvents, append } = request;
  const replaces = Object.values(expectedEvents ?? {}).some((revision) => revision !== null);
  const isWhole = rights.maySeeCredentials || !events.some(hasValueInPart);
  const isPlain = isWhole && events.every((event) => isPlainOf(event, rights));
  const given =
    expectedRevision === undefined && !replaces && isPlain ? await plainOf(request) : undefined;
  if (given !== undefined) {
    try {
      return await append(given, replacingNone(events));
    } catch (error) {
      // The events may be stored already, also those that the client expects not to be.
      if (!isSessionError(error, 'stale_session')) throw error;
    }
  }
  let refused: { readonly error: unknown; readonly revision: number } | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const stored = await readStored(request);
    const { revision } = stored;
    if (refused !== undefined && (refused.revision === revision || attempt > MAX_ATTEMPTS)) {
      throw refused.error;
    }
    const { admitted: parts, isRetry } = await admitAll(request, stored.events);
    const admitted = isWhole || isRetry ? parts : await wholeOf(request, parts);
    if (expectedRevision !== undefined && expectedRevision !== revision) {
      // A retry of an append is no conflict.
      if (isRetry) return await append(admitted, replacingNone(admitted));
      throw otherRevision(request.key.sessionId, expectedRevision, revision);
    }
    try {
      return await append(admitted, { expectedRevision: revision, expectedEvents });
    } catch (error) {
      if (!isOfRevision(error, expectedEvents)) throw error;
      refused = { error, revision };
    }
  }
}

/**
 * Returns plain events as they are appended; `undefined` if their files cannot be named. An event that is stored needs no
 * files any more.
 */
async function plainOf(request: ClientRequest): Promise<NewEvent[] | undefined> {
  const { service, key, events, files } = request;
  if (files.every(({ length }) => length === 0)) return events.map(markGiven);
  const given = events.map((event, at) => givenWithFiles(service, key, event, files[at] ?? []));
  return Promise.all(given).catch(() => undefined);
}

/**
 * Returns the events of a session that a client creates, with the mark of google-adk.
 *
 * @throws HttpRefusal 403 if the rights do not admit one
 */
export function eventsOfClient(events: readonly NewEvent[], rights: TakenRights): NewEvent[] {
  // There is no call yet that an answer could belong to.
  for (const event of events) requireAdmitted(event, rights, NO_CALLS);
  return events.map(markGiven);
}

/**
 * Returns events that a client appends after what is stored, with the mark of google-adk. Nothing is appended between.
 *
 * @param stored the session's events, the newest first
 * @throws HttpRefusal 403 if the rights do not admit one
 */
export async function admitAfter(
  stored: AsyncIterable<Event>,
  events: readonly NewEvent[],
  rights: TakenRights,
): Promise<NewEvent[]> {
  const asked = new Set(events.flatMap(answersIn).map(({ id }) => id));
  const needsCalls = asked.size > 0 && !rights.mayWriteAgentEvents;
  const calls = needsCalls ? await findAskedCalls(stored, asked) : NO_CALLS;
  for (const event of events) requireAdmitted(event, rights, calls);
  return events.map(markGiven);
}

/** Refuses to replace any event: whether a client may replace one depends on what is stored. */
function replacingNone(events: readonly NewEvent[]): Expected {
  // Without a prototype: the engine would make a shape of its own for each literal whose names are new.
  const expectedEvents = Object.create(null) as Record<string, null>;
  for (const id of idsOf(events)) expectedEvents[id] = null;
  return { expectedRevision: undefined, expectedEvents };
}

/** An event without an id is a new one. */
function idsOf(events: readonly NewEvent[]): string[] {
  return events.flatMap(({ id }) => (typeof id === 'string' && id !== '' ? [id] : []));
}

/** Whether an append failed because of a revision that the handler itself expects, not its client. */
function isOfRevision(error: unknown, expectedEvents: ExpectedEvents = {}): boolean {
  if (!isSessionError(error, 'stale_session')) return false;
  const ids = Object.keys(error.actualEvents ?? {});
  return !ids.some((id) => Object.hasOwn(expectedEvents, id));
}

/** Whether an event needs no right, and no call that it answers. */
function isPlainOf(event: NewEvent, { mayWriteAgentEvents }: TakenRights): boolean {
  if (mayWriteAgentEvents) return true;
  return foreignMemberOf(event) === undefined && answersIn(event).length === 0;
}

/** The events of a request that are stored, by id, and the revision of the session. */
interface StoredOfRequest {
  readonly revision: number;
  readonly events: ReadonlyMap<unknown, Event>;
}

async function readStored({ service, key, events }: ClientRequest): Promise<StoredOfRequest> {
  const ids = idsOf(events);
  const { revision, ...first } = await service.getEvents({
    ...key,
    eventIds: ids.slice(0, MAX_IDS),
  });
  const stored = new Map(first.events.map(({ event }) => [event.id, event]));
  // What was written since the first revision lets the append fail.
  for (let start = MAX_IDS; start < ids.length; start += MAX_IDS) {
    const eventIds = ids.slice(start, start + MAX_IDS);
    const { events } = await service.getEvents({ ...key, eventIds });
    for (const { event } of events) stored.set(event.id, event);
  }
  return { revision, events: stored };
}

/** The events to append: marked, or as they are stored if the client sends them again. */
interface AdmittedEvents {
  readonly admitted: NewEvent[];
  /** Whether all of them are stored. */
  readonly isRetry: boolean;
}

async function admitAll(
  { service, key, rights, events, files }: ClientRequest,
  stored: StoredOfRequest['events'],
): Promise<AdmittedEvents> {
  const compared = events.map((event, at) => {
    const before = stored.get(event.id);
    const named = files[at] ?? [];
    const isStored =
      before !== undefined &&
      (isSame(event, before) || isSame(withFiles(event, namedFiles(before, named)), before));
    return { event, before, named, isSame: isStored };
  });
  const fresh = compared.filter(({ isSame }) => !isSame).map(({ event }) => event);
  const answers = rights.mayWriteAgentEvents ? [] : fresh.flatMap(answersIn);
  const asked = new Set(answers.map(({ id }) => id));
  const calls =
    asked.size === 0
      ? NO_CALLS
      : await findAskedCalls(service.events({ ...key, order: 'desc' }), asked);
  const admitted: NewEvent[] = [];
  for (const { event, before, named, isSame } of compared) {
    if (before !== undefined && isSame) {
      admitted.push(before);
      continue;
    }
    requireAdmitted(event, rights, calls);
    // The handler has made the delta of the user's files.
    const isUsers = before === undefined || isPlainOf(withFiles(before, []), rights);
    if (!isUsers || (!rights.maySeeCredentials && hasSecrets(before))) {
      throw refusal('replace this event');
    }
    admitted.push(await givenWithFiles(service, key, event, named));
  }
  return { admitted, isRetry: fresh.length === 0 };
}

function hasValueInPart({ actions }: NewEvent): boolean {
  return mayBeInPart(actions?.stateDelta);
}

/** Returns events without any value of the state that the client has seen only in part. */
async function wholeOf(
  { service, key }: ClientRequest,
  events: readonly NewEvent[],
): Promise<NewEvent[]> {
  // What was written since the events were read lets the append fail.
  const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (session === undefined) throw sessionNotFound(key.sessionId);
  return events.map((event) => withWholeDelta(event, session.state));
}

/**
 * @param calls those that the event may answer. It takes the open ones out
 * @throws HttpRefusal 403; SessionError `stale_session` if a call is answered already
 */
function requireAdmitted(event: NewEvent, rights: TakenRights, calls: AskedCalls): void {
  if (rights.mayWriteAgentEvents) return;
  const foreign = foreignMemberOf(event);
  if (foreign !== undefined) throw refusal(`write the ${foreign} of this event`);
  for (const answer of answersIn(event)) {
    if (close(calls.open, answer)) continue;
    if (!calls.answered.has(answer.id)) throw refusal('answer this call, which is not open');
    const message = 'The call is answered already, perhaps by another device. Nothing was written.';
    throw new SessionError('stale_session', message, { staleReason: 'answered' });
  }
}

/** Returns whether a call was open. A second answer finds it closed. */
function close(open: Map<unknown, string>, { id, name }: Answer): boolean {
  return open.get(id) === name && open.delete(id);
}

/**
 * Whether a client sends an event as it is stored, or as it was shown. What it does not send counts as sent if it was
 * filled in when the event was stored.
 */
function isSame(event: NewEvent, stored: Event): boolean {
  const { customMetadata, ...rest } = event;
  const isUnmarked = Object.keys(Object(customMetadata) as object).length === 0;
  // The mark has replaced metadata that say nothing.
  return [event, ...(isUnmarked ? [rest] : [])].some((sent) => {
    const copy = { ...sent } as Event;
    const { text } = snapshotEvent(
      copy,
      () => stored.timestamp,
      () => stored.id,
    );
    const whole: unknown = JSON.parse(text);
    return [true, false].some((maySee) => {
      const shown: unknown = publicView(stored, maySee);
      return isEqualJson(shown, whole);
    });
  });
}

/**
 * Admits a message that the agent is to answer by the rights of its client.
 *
 * @returns the message, and the revision at which the rights admit it; absent: at any revision
 * @throws HttpRefusal 403 if the rights do not admit it; SessionError `stale_session` if the client expects another
 *   revision
 */
export async function admitMessage(
  request: Omit<ClientRequest, 'events' | 'files' | 'expectedEvents'>,
  event: NewEvent,
  files: readonly NamedFile[],
): Promise<AdmittedMessage> {
  const { rights, expectedRevision, key } = request;
  const isWhole = rights.maySeeCredentials || !hasValueInPart(event);
  if (isWhole && isPlainOf(event, rights)) {
    const message = await givenWithFiles(request.service, key, event, files);
    return { message: copyEvent(message), isStored: false, expectedRevision };
  }
  const only = { events: [event], files: [files], expectedEvents: undefined };
  const client: ClientRequest = { ...request, ...only };
  const { revision, events } = await readStored(client);
  if (expectedRevision !== undefined && expectedRevision !== revision) {
    throw otherRevision(key.sessionId, expectedRevision, revision);
  }
  const { admitted } = await admitAll(client, events);
  const [whole] = isWhole ? admitted : await wholeOf(client, admitted);
  return { message: copyEvent(whole!), isStored: false, expectedRevision: revision };
}

/**
 * Whether a client that sees an event as it is stored sees what it has sent.
 *
 * @param stored the event as it was appended
 */
export function isAsSent(sent: NewEvent, stored: NewEvent): boolean {
  if (stored.content !== sent.content || stored.actions !== sent.actions) {
    return isSame(sent, stored as Event);
  }
  const [shown, given] = [stored, sent].map(({ customMetadata }) =>
    withoutInternal({ ...customMetadata }),
  );
  return isEqualJson(shown, given);
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

/** The calls that a client answers, as they are stored. */
interface AskedCalls {
  /** The names of those that wait for an answer, by id. */
  readonly open: Map<unknown, string>;
  /** The ids of those that a user has answered already. */
  readonly answered: ReadonlySet<unknown>;
}

const NO_CALLS: AskedCalls = { open: new Map(), answered: new Set() };

/**
 * Finds the calls that wait for the user's answer; see {@link openCallsIn}.
 *
 * @param newestFirst the session's events; reading stops when they decide
 * @param asked the ids of the calls to find
 */
export async function findAskedCalls(
  newestFirst: AsyncIterable<Event>,
  asked: ReadonlySet<unknown>,
): Promise<AskedCalls> {
  const read: Event[] = [];
  const answered = new Set<unknown>();
  let next = 1;
  for await (const event of newestFirst) {
    read.push(event);
    for (const { id } of event.author === 'user' ? answersIn(event) : []) answered.add(id);
    if (read.length % EVENTS_PER_TASK === 0) await nextTask();
    if (read.length < next) continue;
    // Twice as many each time, so that all attempts together take as long as the last one.
    next *= 2;
    const open = openCallsIn(read.toReversed(), asked, false);
    if (open !== undefined) return { open, answered };
  }
  const open = openCallsIn(read.reverse(), asked, true) ?? new Map<unknown, string>();
  return { open, answered };
}

/**
 * Finds the calls that the user may answer: long-running calls of agents and questions of the framework, until the user
 * has answered them or their run was stopped. What was rewound does not count.
 *
 * @param events the last ones of a session
 * @param asked the ids of the calls to find
 * @param isFromStart whether these are all events of the session
 * @returns the names of the open ones among them, by id; `undefined` if earlier events may decide
 */
export function openCallsIn(
  events: readonly Event[],
  asked: ReadonlySet<unknown>,
  isFromStart: boolean,
): Map<unknown, string> | undefined {
  const marks = marksOf(events, FOR_ALL);
  const open = openCallItems(marks, [...asked].map(marks.numberOf), isFromStart);
  if (open === undefined) return undefined;
  const names = new Map<unknown, string>();
  for (const index of open) {
    const { id, name } = marks.callParts[index]!.part.functionCall ?? {};
    if (name !== undefined) names.set(id, name);
  }
  return names;
}
