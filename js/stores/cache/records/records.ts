/** The records of the four object stores, and their keys. A record is never changed: another one takes its place. */
import type { RewindStart } from '../../../core/read.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import type { LocalKey, LocalRange } from '../local_store/local_store.js';
import type { CacheKey } from './cache_key.js';
import type { CacheLoss } from './status.js';

/** The version of the records. */
export const VERSION = 4;

/** What is recorded of the last loss of the owner's data. */
export interface LossRecord extends CacheLoss {
  /** The numbers of the mutations that open tabs have stored again. */
  readonly restored: readonly number[];
  /** Whether the program has acknowledged it. */
  readonly isAcknowledged: boolean;
}

/** What is recorded of the owner itself, in `states`. */
export interface OwnerRecord {
  readonly version: number;
  /** A UUID: the name of this local database at the remote. After `forget` it gets another. */
  readonly client: string;
  /** The last number that was drawn. Local ids, revisions and the numbers of mutations come from it. */
  readonly counter: number;
  /** Changes with the mutations of states, and with what other mutations write to states. */
  readonly sharedOutboxVersion: number;
  readonly leader?: LeaderRecord | undefined;
  readonly loss?: LossRecord | undefined;
  /** The lists that were fetched, by name of their user or app. */
  readonly lists: readonly string[];
  /** When the deletions of sessions were confirmed, by name. A fetch that began before brings nothing back. */
  readonly deleted: Readonly<Record<string, number>>;
}

export interface LeaderRecord {
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** What the remote has said of a session. Its numbers and times are the remote's. */
export interface Copy {
  /** `null`: the remote has no revisions. */
  readonly created: number | null;
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly createTime?: number | undefined;
  readonly initialState?: string | undefined;
  /** JSON text of the session's own state. */
  readonly state: string;
  readonly title: string;
  /** JSON text. */
  readonly labels: string;
  /** JSON text. */
  readonly parent?: string | undefined;
  /** When a title of this device arrived. A fetch that began before does not change title and labels. */
  readonly describedAt: number;
  /** The position of the first event, and one more than that of the last. */
  readonly first: number;
  readonly next: number;
  /** Whether the remote has older events, or may have. */
  readonly hasOlder: boolean;
  /** Where the rewinds among the events start, as far as the remote has told it. Absent without older events. */
  readonly rewindStarts?: readonly RewindStart[] | undefined;
  /** The remote's revision of the last rewind that came to a copy which was there before. */
  readonly rewoundAt?: number | undefined;
  /** The characters of the events. */
  readonly size: number;
  /** Whether the copy is to be fetched as a whole. */
  readonly isStale: boolean;
}

/** What is recorded of a session, in `sessions`. */
export interface SessionRecord {
  /** The local number that the session has had since it came to this device: the `created` of handles. */
  readonly localId: number;
  /** The number of the last change of the copy. */
  readonly localVersion: number;
  /** Changes with each change of the session's mutations. */
  readonly outboxVersion: number;
  /** Absent: the remote has not confirmed the session. */
  readonly copy?: Copy | undefined;
  /** The number that was drawn when the session was confirmed. A list that was asked for before may lack it. */
  readonly confirmedAt: number;
  /** When it was last used, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** The record of a session that the remote has confirmed. */
export interface CopiedRecord extends SessionRecord {
  readonly copy: Copy;
}

export function hasCopy(record: SessionRecord | undefined): record is CopiedRecord {
  return record?.copy !== undefined;
}

export function newRecord(localId: number, usedAt: number): SessionRecord {
  return { localId, localVersion: localId, outboxVersion: 0, confirmedAt: 0, usedAt };
}

/** A session whose copy was evicted for want of room, in `states`. The remote has it. */
export interface EvictedRecord {
  /** The local id that its handles have. */
  readonly localId: number;
  /** See {@link Copy.created}. */
  readonly created: number | null;
}

/** An event of a copy, in `events`. */
export interface EventRecord {
  readonly id: string;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** The local numbers of its first appearance and of its last change on this device. */
  readonly seq: number;
  readonly localVersion: number;
  /** The remote's revision of the event. */
  readonly revision: number;
  /** Whether the remote has told that revision. Otherwise it is the highest that it may be. */
  readonly isExact: boolean;
}

/** The state of a user or an app, in `states`. The keys have no prefix. */
export interface StateRecord {
  /** JSON text of what the remote has said, with what has arrived from this device. */
  readonly state: string;
  /** When it was last fetched, or something arrived. An answer to an earlier question may be older. */
  readonly localVersion: number;
  readonly isFetched: boolean;
  /** When a deletion of the state arrived. */
  readonly clearedAt: number;
}

/** The key of an owner, of an app, of a session, or of a user's or an app's state. */
export function entryKey(
  owner: string,
  { appName, userId, sessionId }: Partial<CacheKey>,
): LocalKey {
  const parts = [appName, userId, sessionId].filter((part) => part !== undefined);
  return [owner, ...parts];
}

/**
 * The key of the mutations of a session or state. `''` is no id, so the keys of sessions, users and apps do not meet.
 */
export function mutationsKey(
  owner: string,
  { appName, userId, sessionId }: CacheKey,
): readonly string[] {
  return [owner, appName, userId ?? '', sessionId ?? ''];
}

/** The key of what is known of the mutations of a session or state at the remote. It comes behind its mutations. */
export function sentKey(owner: string, key: CacheKey): LocalKey {
  return [...mutationsKey(owner, key), 'sent'];
}

/** The mutations of an owner, or of an app or a user with all its sessions. */
export function mutationsBelow(owner: string, of: Partial<StateOwner>): LocalRange {
  const range = below(entryKey(owner, of));
  // Begins after the entries of `sharedKey`, which come first.
  return of.appName === undefined ? { ...range, from: [owner, '\0'] } : range;
}

/**
 * The key of what mutations change in the states of an app and of its users. It finds the mutations of a state among
 * those of sessions.
 */
export function sharedKey(owner: string, appName: string): readonly string[] {
  return [owner, '', appName];
}

/** An entry and everything below its key, whose last member is a string. */
export function below(key: LocalKey): LocalRange {
  return { from: key, to: [...key.slice(0, -1), `${String(key.at(-1))}\0`] };
}
