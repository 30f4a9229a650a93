/** Takes the parts of responses. Each function returns `undefined` for a value that is not of the protocol. */
import { noteSummarised } from '../../values/model/event/markers.js';
import type {
  ChangedSession,
  ReadInfo,
  ReadPage,
  ReadSession,
  RewindStart,
  SessionHead,
} from '../../core/read.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { StorageKey } from '../../core/storage/rows.js';
import type { ListedSession, SharedStates } from '../../core/storage/store.js';
import type { JsonObject } from '../../values/json/rules.js';
import { defineMember } from '../../values/members.js';
import type { Event } from '../../values/model/event/event.js';
import type { StoredEvent } from '../../values/model/event_page.js';
import type { SessionInfo } from '../../values/model/session_info.js';
import { scopedKey } from '../../values/state/keys.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { mismatchIn, type ResponseName, RESPONSES } from '../http/messages.js';
import { CREATED_HEADER, REVISION_HEADER } from '../http/protocol.js';
import type { ReadResponse } from './connection/connection.js';

/** Returns the JSON of a response if it is as its schema says. */
export function responseIn<T>(name: ResponseName, json: unknown): T | undefined {
  return mismatchIn(json, RESPONSES[name], name) === undefined ? (json as T) : undefined;
}

/** Returns a function that reads a response as it is. */
export const readAs =
  <T>(name: ResponseName): ReadResponse<T> =>
  (json) =>
    responseIn<T>(name, json);

/** What a response says of a session besides its state and its events. */
interface DescriptionJson {
  readonly title?: string;
  readonly labels?: JsonObject;
  readonly rewindStarts?: RewindStart[];
  readonly summarised?: readonly string[];
}

/** A session in JSON, with times in milliseconds. */
export interface SessionJson extends DescriptionJson {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: JsonObject;
  readonly events: Event[];
  readonly lastUpdateTime: number;
  readonly parent?: JsonObject;
}

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
  readonly rewindStarts: RewindStart[] | undefined;
}

/** @param key the session that was asked for: a proxy may have mixed up responses */
export function sessionIn(json: unknown, key?: Required<StorageKey>): ResponseSession | undefined {
  const session = responseIn<SessionJson>('Session', json);
  if (session === undefined) return undefined;
  const { id, appName, userId } = session;
  const isAsked =
    !key || (id === key.sessionId && userId === key.userId && appName === key.appName);
  return isAsked ? sessionOf(session) : undefined;
}

/** @param json as its schema says */
export function sessionOf(json: SessionJson): ResponseSession {
  const { id, userId, state, events, lastUpdateTime, title, labels, parent } = json;
  noteSummarisedIn(json, events);
  const description = { title, labels: textOf(labels), parent: textOf(parent) };
  const { rewindStarts } = json;
  return { id, userId, state, events, lastUpdateTime, ...description, rewindStarts };
}

const textOf = (value: JsonObject | undefined): string | undefined =>
  value && JSON.stringify(value);

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
    return session && readSessionOf(session, created, revision);
  };

/** Returns the revisions of a session; NaN without them. */
function revisionsIn(headers: Parameters<ReadResponse<unknown>>[1]): [number, number] {
  const [created = NaN, revision = NaN] = [CREATED_HEADER, REVISION_HEADER].map((name) =>
    Number(headers.get(name) ?? NaN),
  );
  return [created, revision];
}

/** Returns a session as a store returns it. */
export function readSessionOf(
  { state, events, lastUpdateTime, title, labels, parent, rewindStarts }: ResponseSession,
  created = NaN,
  revision = NaN,
): ReadSession {
  const isKnown = isRevision(created) && isRevision(revision);
  const head = isKnown ? { created, revision } : { created: NaN, revision: 0 };
  const description = { title, labels, parent, rewindStarts };
  return { ...head, lastUpdateTime, state: JSON.stringify(state), events, ...description };
}

export const infoIn: ReadResponse<ReadInfo> = (json, headers) => {
  const info = responseIn<SessionInfo>('SessionInfo', json);
  const [created, revision] = revisionsIn(headers);
  return info && { created, revision, info };
};

interface ChangesJson extends DescriptionJson, SessionHead {
  readonly events?: StoredEvent[];
  readonly state?: JsonObject;
}

export function changedSessionIn(json: unknown): ChangedSession | undefined {
  const changes = responseIn<ChangesJson>('ChangesSince', json);
  if (changes === undefined) return undefined;
  const { created, revision, lastUpdateTime, title, labels, events, state, rewindStarts } = changes;
  return {
    created,
    revision,
    lastUpdateTime,
    title,
    labels: textOf(labels),
    rewindStarts,
    ...(state && { state: JSON.stringify(state) }),
    ...(events && { events }),
  };
}

export function pageIn(json: unknown): ReadPage | undefined {
  const page = responseIn<ReadPage & DescriptionJson>('EventsPage', json);
  if (page?.events !== undefined) noteSummarisedIn(page, page.events);
  return page;
}

/** Notes which events of a transcript a summary stands for, as the server says. */
function noteSummarisedIn(
  { summarised }: Pick<DescriptionJson, 'summarised'>,
  events: readonly Event[],
): void {
  if (summarised !== undefined) noteSummarised(events, new Set<string>(summarised));
}

/** A session in a list, with its revisions. */
export interface ListedRemoteSession extends ResponseSession {
  readonly created: number;
  readonly revision: number;
  readonly createTime: number | undefined;
}

/** The states of the users and the app of a list. A server sends them within the state of each session. */
export class SharedKeys {
  readonly #users = new Map<string, StateShape>();
  readonly #app: StateShape = {};

  /** Returns the session as a storage lists it: without the shared keys. */
  takeOut({ id: sessionId, state: all, ...session }: ListedRemoteSession): ListedSession {
    const user = this.#users.get(session.userId) ?? {};
    this.#users.set(session.userId, user);
    const states = { app: this.#app, user, session: {} };
    for (const [key, value] of Object.entries(all)) {
      const [scope, name] = scopedKey(key);
      defineMember(states[scope], name, value);
    }
    return { ...session, sessionId, state: JSON.stringify(states.session), isDamaged: false };
  }

  get states(): SharedStates {
    const users = [...this.#users].map(
      ([userId, state]) => [userId, JSON.stringify(state)] as const,
    );
    return { app: JSON.stringify(this.#app), users: new Map(users) };
  }
}
