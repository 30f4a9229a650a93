import { newEventId } from '../../model/event/create_event.js';
import type { StateShape } from '../../state/state_shape.js';
import type { CreateRequest } from '../../storage/session_store.js';
import type { CacheFailure } from './status.js';

/** The remote's session, as a copy was last brought up to it. */
export interface Base {
  /** Another one for each change, so that two tabs do not overwrite each other's. */
  readonly id: string;
  /** The remote's revision that created the session. `null` if the remote has no revisions. */
  readonly created: number | null;
  /** The remote's revision; its time of the last update if it has no revisions. */
  readonly revision: number;
  /** The local revision that created the copy. A later copy of the same id has another one. */
  readonly copy: number;
  /** The local revision up to which everything is the remote's. Later changes are unsent. */
  readonly local: number;
  /** The number of newest events that the copy was made with. Absent: it has all. */
  readonly windowSize?: number | undefined;
  /** Whether the copy's state may differ from the remote's although the revision is the same. */
  readonly isStale?: boolean;
  /** When the copy was last used, in milliseconds. */
  readonly usedAt: number;
}

/**
 * The first base of a fetched copy. The transaction that makes the copy also stores its first base, in the copy. If the
 * tab crashes before it writes the base to the record, the fetched events do not look unsent.
 *
 * A copy keeps its first base as its initial state, which a fetched session does not have. The text of a first base is a
 * JSON array; that of an initial state is a JSON object.
 */
export type FirstBase = Pick<Base, 'created' | 'revision' | 'windowSize' | 'usedAt'>;

/** An operation other than an event. Its id tells whether it is still the one that was sent. */
export interface Operation<Value> {
  readonly id: string;
  readonly value: Value;
}

/** An unsent value of a key of a shared state. */
export interface UnsentValue extends Operation<unknown> {
  /** When it was written; absent if an older package has recorded it. See {@link SessionRecord.order}. */
  readonly at?: number;
}

/** What the remote has to create. */
export interface Creation extends Pick<
  CreateRequest,
  'state' | 'delta' | 'description' | 'lastUpdateTime' | 'sharesState'
> {
  /** The number of events that the session was created with. */
  readonly events: number;
  /** The ids of those events that were dropped since. Each is recorded before it is dropped. */
  readonly dropped?: readonly string[];
  /** The local revision that created the copy. Absent until the copy is made. */
  readonly copy?: number;
}

/** The size of a copy at a local revision. */
export interface CopySize {
  readonly copy: number;
  readonly revision: number;
  readonly bytes: number;
}

export interface Refusal extends CacheFailure {
  readonly eventId?: string;
}

/** What earlier versions of an unsent event have written. It is recorded before the next version is appended. */
export interface EarlierWrites {
  readonly id: string;
  /** The JSON text of the next version. The note counts only while the copy has that version. */
  readonly text: string;
  /** The local revision at which the next version was to be appended. */
  readonly revision: number;
  readonly delta: StateShape;
}

/** What is recorded of one session. */
export interface SessionRecord {
  readonly base?: Base | undefined;
  readonly create?: Operation<Creation> | undefined;
  readonly title?: Operation<string> | undefined;
  readonly labels?: Operation<string> | undefined;
  readonly earlier?: Operation<readonly EarlierWrites[]> | undefined;
  readonly delete?: Operation<true> | undefined;
  /**
   * When it last wrote a `user:` or `app:` key that something else unsent writes too. After a reload, such writes are
   * sent in this order. Absent: before the others.
   */
  readonly order?: Operation<number> | undefined;
  readonly refused?: Refusal | undefined;
  readonly size?: CopySize | undefined;
}

/** The records of a user or an app: of sessions as `session sessionId`, and those below. */
export type OwnerRecords = Readonly<Record<string, unknown>>;

/** What is recorded of a session. */
export const SESSION = 'session ';
/** When the list of sessions, or the state, was fetched: a time. */
export const LISTED = 'listed';
export const FETCHED = 'fetched';
/** Why the changes of the shared state were refused. */
export const STATE_REFUSED = 'state refused';
/** An unsent value of a key of a shared state: `set user:key`. */
export const SET = 'set ';
/** An unsent deletion: `clear user`, `clear userState` or `clear appState`. */
export const CLEAR = 'clear ';
/** A user with all sessions and the state, the state of a user, the state of an app: in the order of their deletion. */
const CLEARED = ['user', 'userState', 'appState'] as const;

export type Cleared = (typeof CLEARED)[number];

/** The changes of records by key. `undefined` removes. */
export type RecordChanges = Readonly<Record<string, unknown>>;

/** The removal of what is unsent of a session, besides its events. */
export const UNSENT_NOTHING: SessionRecord = {
  create: undefined,
  title: undefined,
  labels: undefined,
  earlier: undefined,
  delete: undefined,
  order: undefined,
};

/** @param eventCount the number of events in the new copy */
export function firstBaseText(base: FirstBase, eventCount: number): string {
  return JSON.stringify([base, eventCount]);
}

export function isFirstBase(text: string | null | undefined): text is string {
  return text?.startsWith('[') === true;
}

/**
 * Returns the first base of a copy.
 *
 * @param text a text for which {@link isFirstBase} is true
 * @param copy the local revision that created the copy; its events have the revisions after that
 */
export function firstBaseOf(text: string, copy: number): Base {
  const [base, eventCount] = JSON.parse(text) as [FirstBase, number];
  return { ...base, id: newEventId(), copy, local: copy + eventCount };
}

/** Returns a base whose copy is to be fetched as a whole. Its id is new, so no other tab replaces it by mistake. */
export function staleBase(base: Base): Base {
  return { ...base, id: newEventId(), isStale: true };
}

export function newOperation<Value>(value: Value): Operation<Value> {
  return { id: newEventId(), value };
}

/** Whether the record of a session says that there is something to send, besides its events. */
export function hasOperations(record: SessionRecord): boolean {
  return (Object.keys(UNSENT_NOTHING) as (keyof SessionRecord)[]).some(
    (name) => record[name] !== undefined,
  );
}

/** Whether a record of a user or an app is an unsent change of its state. */
export function isUnsentState(name: string): boolean {
  return name.startsWith(SET) || name.startsWith(CLEAR);
}

/** Returns the unsent deletions of a user or an app. */
export function clearsOf(records: OwnerRecords): Cleared[] {
  return CLEARED.filter((what) => records[CLEAR + what] !== undefined);
}

/** Whether a copy has no unsent changes, and none that were set aside. A missing copy has only a record. */
export function isSent(
  record: SessionRecord,
  copy: { readonly created: number; readonly revision: number } | undefined,
): boolean {
  const { base, refused } = record;
  const isConfirmed = base?.copy === copy?.created && base?.local === copy?.revision;
  return isConfirmed && refused === undefined && !hasOperations(record);
}

/** Returns what is recorded of a session. */
export function recordOf(records: OwnerRecords, sessionId: string): SessionRecord {
  return (records[SESSION + sessionId] as SessionRecord | undefined) ?? {};
}

/** Returns the values whose names have a prefix, by the rest of their names. */
export function withoutPrefix(values: OwnerRecords, prefix: string): Record<string, unknown> {
  const names = Object.keys(values).filter((name) => name.startsWith(prefix));
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), values[name]]));
}

/** Returns the change of the records that changes members of a session's record. `undefined` removes. */
export function ofSession(
  records: OwnerRecords,
  sessionId: string,
  changes: SessionRecord,
): RecordChanges {
  const record = { ...recordOf(records, sessionId), ...changes };
  const isEmpty = Object.values(record).every((member) => member === undefined);
  return { [SESSION + sessionId]: isEmpty ? undefined : record };
}

/** Returns the removals of those operations that are still as they were sent. */
export function removalsOf<Members extends object>(
  present: Members,
  sent: Partial<Members>,
): Partial<Members> {
  const names = (Object.keys(sent) as (keyof Members)[]).filter((name) => {
    const [operation, stored] = [sent[name], present[name]] as (Operation<unknown> | undefined)[];
    return operation !== undefined && operation.id === stored?.id;
  });
  return Object.fromEntries(names.map((name) => [name, undefined])) as Partial<Members>;
}
