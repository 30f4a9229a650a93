/** Takes the parts of responses. Each function returns `undefined` for a value that is not of the protocol. */
import { isTime } from '../model/values/time.js';
import { CREATED_HEADER, REVISION_HEADER } from '../http/protocol.js';
import { isPlainObject, type JsonObject } from '../json/rules.js';
import type { ChangedEvent, ChangesSince } from '../model/changes_since.js';
import { setDescription } from '../model/description.js';
import type { Event } from '../model/event/event.js';
import { isEvent } from '../read/stored_events.js';
import { isRevision } from '../storage/checked_rows.js';
import type { StorageKey } from '../storage/rows.js';
import type { ReadEvents, ReadSession } from '../storage/session_store.js';
import { type Appended, APPENDED } from '../wasm/protocol.js';
import type { ReadResponse } from './connection/connection.js';

/** A session of a response, with times in milliseconds. */
export interface RemoteSession {
  readonly id: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: Event[];
  readonly lastUpdateTime: number;
  readonly title: string | undefined;
  /** JSON text. */
  readonly labels: string | undefined;
}

/** @param key the session that was asked for: a proxy may have mixed up responses */
export function sessionIn(json: unknown, key?: Required<StorageKey>): RemoteSession | undefined {
  if (!isPlainObject(json)) return undefined;
  const { id, appName, userId, state, events, lastUpdateTime, title, labels } = json;
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
  return {
    ...{ id, userId, state, events, lastUpdateTime },
    title: typeof title === 'string' ? title : undefined,
    labels: isPlainObject(labels) ? JSON.stringify(labels) : undefined,
  };
}

function isEventList(value: unknown): value is Event[] {
  return Array.isArray(value) && value.every(isEvent);
}

/** Reads the response to a change, which has no value. */
export const nothingIn: ReadResponse<true> = (json) => (json === null ? true : undefined);

/** Reads a session for a handle. Without revisions, the handle's last event tells how current it is. */
export const sessionReader =
  (key: Required<StorageKey>): ReadResponse<ReadSession> =>
  (json, headers) => {
    const session = sessionIn(json, key);
    const [created, revision] = [CREATED_HEADER, REVISION_HEADER].map((name) => {
      return Number(headers.get(name) ?? NaN);
    });
    return session && readSessionOf(session, created, revision);
  };

/** Returns a session as a store returns it. */
export function readSessionOf(
  { state, events, lastUpdateTime, title, labels }: RemoteSession,
  created = NaN,
  revision = NaN,
): ReadSession {
  const isKnown = isRevision(created) && isRevision(revision);
  const head = isKnown ? ([created, revision] as const) : ([NaN, 0] as const);
  return [...head, lastUpdateTime, JSON.stringify(state), [events], title, labels];
}

/** Absent values of the array are `null` in JSON. */
export function appendedIn(json: unknown): Appended | undefined {
  if (!Array.isArray(json) || !json.slice(0, APPENDED.unchanged).every(isRevisionOrTime))
    return undefined;
  const appended = json.map((part: unknown) => part ?? undefined);
  const state = appended[APPENDED.state];
  const isAppended =
    appended.length > APPENDED.placed &&
    isListOf(appended[APPENDED.unchanged], isPair) &&
    isListOf(appended[APPENDED.missed], isMissed) &&
    (state === undefined || typeof state === 'string') &&
    isListOf(appended[APPENDED.placed], isPair);
  return isAppended ? (appended as Appended) : undefined;
}

export function changesIn(json: unknown): ChangesSince | undefined {
  if (!isPlainObject(json)) return undefined;
  const { created, revision, lastUpdateTime, isRecreated, title, labels, events, state } = json;
  const isChanges =
    isRevision(created) &&
    isRevision(revision) &&
    isTime(lastUpdateTime) &&
    typeof isRecreated === 'boolean' &&
    (state === undefined || isPlainObject(state)) &&
    isListOf(events, isChanged);
  if (!isChanges) return undefined;
  const changes: ChangesSince = { created, revision, lastUpdateTime, isRecreated };
  // A later version of the server may send more.
  if (events !== undefined) {
    changes.events = (events as ChangedEvent[]).map(({ seq, revision, event }) => {
      return { seq, revision, event };
    });
  }
  if (state !== undefined) changes.state = state;
  return setDescription(changes, title, JSON.stringify(labels));
}

const isChanged = (item: unknown): boolean =>
  isPlainObject(item) && isRevision(item.seq) && isRevision(item.revision) && isEvent(item.event);

export function readEventsIn(json: unknown): ReadEvents | undefined {
  if (!Array.isArray(json)) return undefined;
  const [created, events, ...rest] = json.map((part: unknown) => part ?? undefined);
  if (!isRevision(created)) return undefined;
  if (events === undefined) return [created];
  if (!isEventList(events)) return undefined;
  return [created, [events], ...rest] as unknown as ReadEvents;
}

function isRevisionOrTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isItem));
}

const isPair = (item: unknown): boolean =>
  Array.isArray(item) && isRevision(item[0]) && isRevision(item[1]);

const isMissed = (item: unknown): boolean =>
  isPair(item) && typeof (item as readonly unknown[])[2] === 'string';
