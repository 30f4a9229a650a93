/** Takes the parts of responses. Each function returns `undefined` for a value that is not of the protocol. */
import { isTime } from '../../values/model/values/time.js';
import { CREATED_HEADER, REVISION_HEADER } from '../http/protocol.js';
import { noteSummarised } from '../../core/history/view.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import type { Event } from '../../values/model/event/event.js';
import type { SessionInfo } from '../../values/model/session_info.js';
import type { StoredEvent, StoredEvents } from '../../values/model/event_page.js';
import { isEvent } from '../../core/storage/stored_events.js';
import { SHARED_SCOPES } from '../../values/state/scope.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { StorageKey } from '../../core/storage/rows.js';
import type {
  ChangedSession,
  ReadInfo,
  ReadPage,
  ReadSession,
  RewindStart,
} from '../../core/read.js';
import type { Appended } from '../../core/storage/store.js';
import type { HistoryState, SessionBranches, TurnBranches } from '../../core/history_types.js';
import type { ReadResponse } from './connection/connection.js';

/** A session of a response, with times in milliseconds. */
export interface ResponseSession {
  readonly id: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: Event[];
  readonly lastUpdateTime: number;
  readonly title: string | undefined;
  /** JSON text. */
  readonly labels: string | undefined;
  /** JSON text. */
  readonly parent: string | undefined;
}

/** @param key the session that was asked for: a proxy may have mixed up responses */
export function sessionIn(json: unknown, key?: Required<StorageKey>): ResponseSession | undefined {
  if (!isPlainObject(json)) return undefined;
  const { id, appName, userId, state, events, lastUpdateTime, title, labels, parent } = json;
  const isAsked =
    !key || (id === key.sessionId && userId === key.userId && appName === key.appName);
  const isSession =
    isAsked &&
    typeof id === 'string' &&
    typeof userId === 'string' &&
    isPlainObject(state) &&
    isEventList(events) &&
    isTime(lastUpdateTime);
  if (!isSession) return undefined;
  noteSummarisedIn(json, events);
  return {
    ...{ id, userId, state, events, lastUpdateTime },
    ...{ title: textIn(title), labels: objectTextIn(labels), parent: objectTextIn(parent) },
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function objectTextIn(value: unknown): string | undefined {
  return isPlainObject(value) ? JSON.stringify(value) : undefined;
}

function isEventList(value: unknown): value is Event[] {
  return Array.isArray(value) && value.every(isEvent);
}

/** Reads the response to a change, which has no value. */
export function nothingIn(json: unknown): true | undefined {
  return json === null ? true : undefined;
}

/** Reads a session for a handle. Without revisions, the handle's last event tells how current it is. */
export const sessionReader =
  (key: Required<StorageKey>): ReadResponse<ReadSession> =>
  (json, headers) => {
    const session = sessionIn(json, key);
    const [created, revision] = revisionsIn(headers);
    if (session === undefined) return undefined;
    return { ...readSessionOf(session, created, revision), rewindStarts: startsIn(json) };
  };

/** Returns the revisions of a session; NaN without them. */
function revisionsIn(headers: Parameters<ReadResponse<unknown>>[1]): [number, number] {
  const [created = NaN, revision = NaN] = [CREATED_HEADER, REVISION_HEADER].map((name) =>
    Number(headers.get(name) ?? NaN),
  );
  return [created, revision];
}

export const infoIn: ReadResponse<ReadInfo> = (json, headers) => {
  if (!isPlainObject(json)) return undefined;
  const { createTime, lastUpdateTime, eventCount, bytes, usage, initialState } = json;
  const isInfo =
    (createTime === undefined || isTime(createTime)) &&
    isTime(lastUpdateTime) &&
    [eventCount, bytes].every(isRevision) &&
    isPlainObject(usage) &&
    Object.values(usage).every(isPlainObject) &&
    (initialState === undefined || isPlainObject(initialState));
  const [created, revision] = revisionsIn(headers);
  return isInfo ? { created, revision, info: json as unknown as SessionInfo } : undefined;
};

/** Reads where the rewinds in a response start. */
function startsIn(json: unknown): RewindStart[] | undefined {
  const { rewindStarts: starts } = json as { readonly rewindStarts?: unknown };
  const isStart = ({ invocationId, eventId }: JsonObject): boolean =>
    typeof invocationId === 'string' && (eventId === undefined || typeof eventId === 'string');
  return isListOf(starts, isStart) ? (starts as RewindStart[]) : undefined;
}

/** Returns a session as a store returns it. */
export function readSessionOf(
  { state, events, lastUpdateTime, title, labels, parent }: ResponseSession,
  created = NaN,
  revision = NaN,
): ReadSession {
  const isKnown = isRevision(created) && isRevision(revision);
  const head = isKnown ? { created, revision } : { created: NaN, revision: 0 };
  const description = { title, labels, parent };
  return { ...head, lastUpdateTime, state: JSON.stringify(state), events, ...description };
}

export function appendedIn(json: unknown): Appended | undefined {
  if (!isPlainObject(json)) return undefined;
  const { created, revision, lastUpdateTime, since, shared, state } = json;
  const { unchanged, missed, placed } = json;
  const isAppended =
    [created, revision].every(isRevision) &&
    (since === undefined || isRevision(since)) &&
    isTime(lastUpdateTime) &&
    isPlainObject(shared) &&
    SHARED_SCOPES.every((scope) => isRevision(shared[scope])) &&
    (state === undefined || typeof state === 'string') &&
    isListOf(unchanged, hasNumbers('position', 'revision')) &&
    isListOf(missed, (item) => isPlace(item) && typeof item.text === 'string') &&
    isListOf(placed, isPlace);
  return isAppended ? (json as unknown as Appended) : undefined;
}

export function changedSessionIn(json: unknown): ChangedSession | undefined {
  if (!isPlainObject(json)) return undefined;
  const { created, revision, lastUpdateTime, title, labels, events, state } = json;
  const isChanged =
    isRevision(created) &&
    isRevision(revision) &&
    isTime(lastUpdateTime) &&
    (state === undefined || isPlainObject(state)) &&
    (events === undefined || isListOf(events, isStored));
  if (!isChanged) return undefined;
  return {
    ...{ created, revision, lastUpdateTime },
    ...{ title: textIn(title), labels: objectTextIn(labels) },
    ...(state && { state: JSON.stringify(state) }),
    // A later version of the server may send more.
    ...(events !== undefined && { events: plainEvents(events as StoredEvent[]) }),
    rewindStarts: startsIn(json),
  };
}

export function storedEventsIn(json: unknown): StoredEvents | undefined {
  if (!isPlainObject(json)) return undefined;
  const { created, revision, events } = json;
  if (!isRevision(created) || !isRevision(revision) || !isListOf(events, isStored))
    return undefined;
  return { created, revision, events: plainEvents(events as StoredEvent[]) };
}

const isStored = (item: JsonObject): boolean => isPlace(item) && isEvent(item.event);

function plainEvents(events: readonly StoredEvent[]): StoredEvent[] {
  return events.map(({ seq, revision, event }) => ({ seq, revision, event }));
}

export function pageIn(json: unknown): ReadPage | undefined {
  if (!isPlainObject(json) || !isRevision(json.created)) return undefined;
  const { events } = json;
  if (events === undefined) return json as unknown as ReadPage;
  if (!isEventList(events)) return undefined;
  noteSummarisedIn(json, events);
  return { ...(json as unknown as ReadPage), rewindStarts: startsIn(json) };
}

/** Notes which events of a transcript a summary stands for, as the server says. */
function noteSummarisedIn({ summarised }: JsonObject, events: readonly Event[]): void {
  if (Array.isArray(summarised)) noteSummarised(events, new Set<string>(summarised));
}

function isListOf(value: unknown, isItem: (item: JsonObject) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isPlainObject(item) && isItem(item));
}

function hasNumbers(...names: readonly string[]): (item: JsonObject) => boolean {
  return (item) => names.every((name) => isRevision(item[name]));
}

const isPlace = hasNumbers('seq', 'revision');

export const branchesIn: ReadResponse<SessionBranches> = (json) => {
  if (!isPlainObject(json)) return undefined;
  const { places, lastRewind } = json;
  const isLast = lastRewind === undefined || typeof lastRewind === 'string';
  const arePlaces = isListOf(places, ({ alternatives }) =>
    isListOf(alternatives, ({ invocationId }) => typeof invocationId === 'string'),
  );
  return isLast && arePlaces ? { places: places as TurnBranches[], lastRewind } : undefined;
};

export const stateIn: ReadResponse<HistoryState> = (json) => {
  if (!isPlainObject(json)) return undefined;
  const { state, unknownKeys } = json;
  return isPlainObject(state) && areTexts(unknownKeys) ? { state, unknownKeys } : undefined;
};

export function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
