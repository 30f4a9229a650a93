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
import type { StoredScope } from '../../state/scope.js';
import { coreError } from '../../wasm/core.js';
import { SCOPES } from '../../wasm/protocol.js';

/**
 * The events of a read: from memory texts of many events each, joined by commas; from IndexedDB its records. A read of
 * changes has {@link PackedMissed} of both.
 */
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

export function unpackSession<Events>(
  packed: PackedSession,
  parse: (events: PackedEvents) => Events,
): ReadSession<Events> {
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
  /** NaN without a handle. */
  since: number,
  user: number,
  app: number,
  unchanged?: readonly (readonly [position: number, revision: number])[],
  missed?: readonly PackedMissed[],
  state?: string,
  placed?: readonly (readonly [seq: number, revision: number])[],
  undone?: readonly string[],
];

type PackedMissed = readonly [seq: number, revision: number, text: string];

export type PackedFound = readonly [
  created: number,
  revision: number,
  events: readonly PackedMissed[],
];

export function unpackMissed(rows: PackedEvents): MissedEvent[] {
  return (rows as PackedMissed[]).map(([seq, revision, text]) => ({ seq, revision, text }));
}

const NO_UNCHANGED: readonly UnchangedEvent[] = [];
const NO_MISSED: readonly MissedEvent[] = [];

/** @param count the number of events of the append */
export function unpackAppend(packed: PackedAppend, count: number): Appended {
  const [created, revision, lastUpdateTime, since, user, app, ...events] = packed;
  const [unchanged, missed, state, placed, undone] = events;
  return {
    created,
    revision,
    lastUpdateTime,
    since: Number.isNaN(since) ? undefined : since,
    shared: { user, app },
    unchanged: unchanged?.map(([position, revision]) => ({ position, revision })) ?? NO_UNCHANGED,
    missed: missed ? unpackMissed(missed) : NO_MISSED,
    state,
    placed: placed?.map(([seq, revision]) => ({ seq, revision })) ?? newPlaces(revision, count),
    undone,
  };
}

/** The places of new events, which the wasm leaves out. The last one has the session's revision. */
function newPlaces(last: number, count: number): EventPlace[] {
  const places: EventPlace[] = [];
  for (let later = count - 1; later >= 0; later -= 1) {
    const revision = last - later;
    places.push({ seq: revision, revision });
  }
  return places;
}

/** The outcome of an append within a group; `append_many` in `sessions.rs`. */
export type PackedOutcome =
  readonly [appended: PackedAppend] | readonly [undefined, error: unknown];

/** @throws SessionError the error of the append */
export function unpackOutcome([appended, error]: PackedOutcome, count: number): Appended {
  if (appended === undefined) throw coreError(error);
  return unpackAppend(appended, count);
}

/** What a write reads before it decides; `CoreWrite::plan`. */
export interface Plan {
  readonly scopes: readonly StoredScope[];
  /** Whether it needs the last event of the handle, and not the events with the ids of the write. */
  readonly isLocating: boolean;
  /** The revision after which it needs the changed events. */
  readonly since: number;
}

export function unpackPlan([scopes = 0, locates, since = 0]: Float64Array): Plan {
  return {
    scopes: SCOPE_NAMES.filter((name) => (scopes & SCOPES[name]) !== 0),
    isLocating: locates === 1,
    since,
  };
}

const SCOPE_NAMES = Object.keys(SCOPES) as StoredScope[];

/** What a write changes; `CoreWrite::decide`. */
export interface Decision {
  /** The new revisions; 0 for what does not change. */
  readonly revisions: Readonly<Record<StoredScope, number>>;
  /** The new states as JSON texts; empty for those that do not change. */
  readonly states: Readonly<Record<StoredScope, string>>;
  /** That of the session. */
  readonly lastUpdateTime: number;
  /** That of the session. */
  readonly created: number;
  readonly events: readonly WrittenEvent[];
}

/** An event to write. */
interface WrittenEvent {
  /** Its index among the events of the write. */
  readonly position: number;
  readonly seq: number;
  readonly revision: number;
}

/** @param states each of them ends with a NUL, which JSON text never contains; `''` if no state was requested */
export function unpackDecision(numbers: Float64Array, states: string): Decision {
  const [ofSession = 0, ofUser = 0, ofApp = 0, lastUpdateTime = 0, created = 0] = numbers;
  const [session = '', user = '', app = ''] = states.split('\0');
  const events: WrittenEvent[] = [];
  for (let at = 5; at < numbers.length; at += 3) {
    const [position, seq, revision] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    events.push({ position, seq, revision });
  }
  const revisions = { session: ofSession, user: ofUser, app: ofApp };
  return { revisions, states: { session, user, app }, lastUpdateTime, created, events };
}
