/**
 * Turns the packed results of the wasm into objects. Only this file knows their form; `src/wasm/bindings/values.rs`
 * makes them. Arrays cross faster than objects, whose members each cross by name.
 */
import type {
  Appended,
  CreatedSession,
  EventPlace,
  ListedSession,
  MissedEvent,
  ReadList,
  ReadPage,
  ReadSession,
  SharedRevisions,
  UnchangedEvent,
} from '../backend.js';
import type { Event } from '../../model/event/event.js';

/** The events of a read: from memory texts of many events each, joined by commas; from IndexedDB its records. */
export type PackedEvents = readonly unknown[];

export type ParseEvents = (events: PackedEvents) => Event[];

export type PackedSession = readonly [
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  events: PackedEvents,
  ...description: PackedDescription,
];

/** The last members of a packed session. All are absent if the session has none of them. */
type PackedDescription = readonly [title?: string, labels?: string, parent?: string];

export function unpackSession(packed: PackedSession, parse: ParseEvents): ReadSession {
  const [created, revision, lastUpdateTime, state, events, title, labels, parent] = packed;
  const description = { title, labels, parent };
  return { created, revision, lastUpdateTime, state, events: parse(events), ...description };
}

export type PackedCreation = readonly [
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  events: PackedEvents,
  ...shared: PackedRevisions,
];

export function unpackCreation(packed: PackedCreation): CreatedSession {
  const [created, revision, lastUpdateTime, state, , user, app] = packed;
  return { created, revision, lastUpdateTime, state, shared: { user, app } };
}

export type PackedPage = readonly [
  created: number,
  revision: number,
  events?: PackedEvents,
  hasOlder?: boolean,
  firstId?: string,
  lastId?: string,
  eventCount?: number,
  createTime?: number,
  lastUpdateTime?: number,
  initialState?: string | null,
  ...description: PackedDescription,
];

export function unpackPage(packed: PackedPage, parse: ParseEvents): ReadPage {
  const [created, revision, events, hasOlder, firstId, lastId, eventCount, ...session] = packed;
  if (events === undefined) return { created, revision };
  const [createTime, lastUpdateTime, initialState, title, labels, parent] = session;
  return {
    created,
    revision,
    events: parse(events),
    hasOlder,
    firstId,
    lastId,
    eventCount,
    createTime,
    lastUpdateTime,
    initialState: initialState ?? undefined,
    title,
    labels,
    parent,
  };
}

export type PackedList = readonly [
  sessions: readonly unknown[],
  total: number,
  /** The app's state, then pairs of a user's id and state. */
  shared: readonly [app: string | undefined, ...pairs: string[]],
];

/** A listed session from memory. */
type PackedListed = readonly [
  sessionId: string,
  userId: string,
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  createTime: number | undefined,
  ...description: PackedDescription,
];

/** @param toListed checks the records of IndexedDB; absent over memory */
export function unpackList(
  [packed, total, [app, ...pairs]]: PackedList,
  toListed: ((records: readonly unknown[]) => ListedSession[]) | undefined,
): ReadList {
  const users = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) users.set(pairs[at]!, pairs[at + 1]!);
  const sessions = toListed?.(packed) ?? (packed as readonly PackedListed[]).map(unpackListed);
  return { sessions, total, shared: { app, users } };
}

function unpackListed(packed: PackedListed): ListedSession {
  const [sessionId, userId, created, revision, lastUpdateTime, state, createTime, ...description] =
    packed;
  const times = { created, revision, lastUpdateTime, createTime };
  const [title, labels, parent] = description;
  return { sessionId, userId, ...times, state, title, labels, parent, isDamaged: false };
}

export type PackedRevisions = readonly [user: number, app: number];

export function unpackRevisions([user, app]: PackedRevisions): SharedRevisions {
  return { user, app };
}

export type PackedAppend = readonly [
  created: number,
  revision: number,
  lastUpdateTime: number,
  since: number,
  user: number,
  app: number,
  unchanged?: readonly (readonly [position: number, revision: number])[],
  missed?: readonly (readonly [seq: number, revision: number, text: string])[],
  state?: string,
  placed?: readonly (readonly [seq: number, revision: number])[],
];

const NO_UNCHANGED: readonly UnchangedEvent[] = [];
const NO_MISSED: readonly MissedEvent[] = [];

/** @param count the number of events of the append */
export function unpackAppend(packed: PackedAppend, count: number): Appended {
  const [created, revision, lastUpdateTime, since, user, app, ...events] = packed;
  const [unchanged, missed, state, placed] = events;
  return {
    created,
    revision,
    lastUpdateTime,
    since,
    shared: { user, app },
    unchanged: unchanged?.map(([position, revision]) => ({ position, revision })) ?? NO_UNCHANGED,
    missed: missed?.map(([seq, revision, text]) => ({ seq, revision, text })) ?? NO_MISSED,
    state,
    placed: placed?.map(([seq, revision]) => ({ seq, revision })) ?? newPlaces(revision, count),
  };
}

/** The places of new events, which the wasm leaves out. The last one has the session's revision. */
function newPlaces(last: number, count: number): EventPlace[] {
  return Array.from({ length: count }, (_, index) => {
    const revision = last - count + 1 + index;
    return { seq: revision, revision };
  });
}

/** The outcome of an append within a group; `append_many` in `sessions.rs`. */
export type PackedOutcome =
  readonly [appended: PackedAppend] | readonly [undefined, error: unknown];
