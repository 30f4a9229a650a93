import { newEventId } from '../../model/event/create_event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { CreateRequest } from '../../storage/session_store.js';
import type { CacheFailure, CacheKey } from './status.js';

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
  readonly held?: number;
  /** Whether the copy's state may differ from the remote's although the revision is the same. */
  readonly isStale?: boolean;
  /** When the copy was last used, in milliseconds. */
  readonly usedAt: number;
}

/** An operation other than an event. Its id tells whether it is still the one that was sent. */
export interface Noted<Value> {
  readonly id: string;
  readonly value: Value;
}

/** What the remote has to create. */
export interface Creation extends Pick<
  CreateRequest,
  'state' | 'delta' | 'description' | 'lastUpdateTime' | 'sharesState'
> {
  /** The number of events that the session was created with. */
  readonly events: number;
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

/** The records of one session, by kind. */
export interface SessionRecord {
  readonly base?: Base;
  readonly create?: Noted<Creation>;
  readonly title?: Noted<string>;
  readonly labels?: Noted<string>;
  readonly delete?: Noted<true>;
  readonly refused?: Refusal;
  readonly size?: CopySize;
}

export const KINDS = ['base', 'create', 'title', 'labels', 'delete', 'refused', 'size'] as const;

/** The records of a user or an app: of sessions as `kind sessionId`, and those below. */
export type OwnerRecords = Readonly<Record<string, unknown>>;

/** When the list of sessions, or the state, was fetched: a time. */
export const LISTED = 'listed';
export const FETCHED = 'fetched';
/** Why the changes of the shared state were refused. */
export const STATE_REFUSED = 'state refused';
/** An unsent value of a key of a shared state: `set user:key`. */
export const SET = 'set ';
/** An unsent deletion: `clear user`, `clear userState` or `clear appState`. */
export const CLEAR = 'clear ';

/** The changes of records by key. `undefined` removes. */
export type RecordChanges = Readonly<Record<string, unknown>>;
export type SessionChanges = {
  readonly [Kind in keyof SessionRecord]?: SessionRecord[Kind] | undefined;
};

/** The removal of what is unsent of a session, besides its events. */
export const UNSENT_NOTHING: SessionChanges = {
  create: undefined,
  title: undefined,
  labels: undefined,
  delete: undefined,
};

export function noted<Value>(value: Value): Noted<Value> {
  return { id: newEventId(), value };
}

export function nameOf({ appName, userId, sessionId }: CacheKey): string {
  return JSON.stringify([appName, userId ?? null, sessionId ?? null]);
}

export function keyOfName(name: string): CacheKey {
  const [appName, userId, sessionId] = JSON.parse(name) as [string, string | null, string | null];
  return {
    appName,
    ...(userId !== null && { userId }),
    ...(sessionId !== null && { sessionId }),
  };
}

/** Whether the records of a session say that there is something to send, besides its events. */
export function hasOperations(record: SessionRecord): boolean {
  const { create, title, labels, delete: deletion } = record;
  return [create, title, labels, deletion].some((operation) => operation !== undefined);
}

/** Whether nothing of a copy waits, or was set aside. A missing copy has nothing but its records. */
export function isSent(
  record: SessionRecord,
  copy: { readonly created: number; readonly revision: number } | undefined,
): boolean {
  const { base, refused } = record;
  const isConfirmed = base?.copy === copy?.created && base?.local === copy?.revision;
  return isConfirmed && refused === undefined && !hasOperations(record);
}

/** Returns the records of one session. */
export function recordOf(records: OwnerRecords, sessionId: string): SessionRecord {
  const entries = KINDS.map((kind) => [kind, records[`${kind} ${sessionId}`]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SessionRecord;
}

/** Returns the ids of the sessions that have records. */
export function recordedIds(records: OwnerRecords): Set<string> {
  const ids = new Set<string>();
  for (const name of Object.keys(records)) {
    const kind = KINDS.find((kind) => name.startsWith(`${kind} `));
    if (kind !== undefined) ids.add(name.slice(kind.length + 1));
  }
  return ids;
}

/** Returns the changes of a session's records by their names. */
export function ofSession(
  { sessionId }: Pick<CompositeSessionKey, 'sessionId'>,
  changes: SessionChanges,
): RecordChanges {
  const entries = Object.entries(changes);
  return Object.fromEntries(entries.map(([kind, value]) => [`${kind} ${sessionId}`, value]));
}
