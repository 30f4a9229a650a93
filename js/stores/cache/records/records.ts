/** The records of the four object stores, and their keys. A record is never changed: another one takes its place. */
import type { EventTexts } from '../../../values/model/event/snapshot.js';
import type { SharedScope } from '../../../values/state/scope.js';
import type { RewindStart } from '../../../core/read.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import type {
  AppendWrite,
  CreateWrite,
  DescribeWrite,
  UpdateWrite,
  Writes,
} from '../../../core/write.js';
import type { LocalKey, LocalRange } from '../local_store/local_store.js';
import type { CacheKey } from './cache_key.js';
import type { CacheFailure, CacheLoss } from './status.js';

/** The version of the records. */
export const VERSION = 3;

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

/** What a mutation changes in a shared state. */
export interface SharedWrite {
  readonly isCleared: boolean;
  /** Keys without prefix. */
  readonly values: readonly (readonly [key: string, value: unknown])[];
}

/** What the outbox stores of an event. Its other texts are made from `text` when it is sent. */
export type OutboxEvent = Pick<EventTexts, 'id' | 'timestamp' | 'text'>;

/** The local numbers of an event: of its first appearance, and of its last change on this device. */
export interface EventNumbers {
  readonly seq: number;
  readonly localVersion: number;
}

/** An event of a mutation, with its local numbers. */
export type MutationEvent = OutboxEvent & EventNumbers;

export interface Refusal extends CacheFailure {
  /** The event that was refused, if it was one. */
  readonly eventId?: string;
}

/** The writes of the outbox, by their kinds. The remote makes a fork at once, so none waits. */
export interface OutboxWrites {
  create: Omit<CreateWrite, 'events'> & { readonly events: readonly OutboxEvent[] };
  /** The remote may refuse one of several events. So an append of several is stored as one write for each event. */
  append: Pick<AppendWrite, 'kind' | 'key' | 'firstTitle' | 'run'> & {
    readonly events: readonly [OutboxEvent];
  };
  rewind: Writes['rewind'];
  describe: DescribeWrite;
  delete: Writes['delete'];
  update: UpdateWrite & { readonly delta: string };
  /** Cancels the run of a message that was given up here, and that may have arrived. */
  cancel: {
    readonly kind: 'cancel';
    readonly key: Readonly<CompositeSessionKey>;
    readonly messageId: string;
  };
}

export type OutboxKind = keyof OutboxWrites;

/** What a mutation was based on. Both numbers are 0 if it changes no session. */
interface Base {
  /** The local id of the session that it changes. */
  readonly localId: number;
  /** The session's time of the last update, as this device sees it. */
  readonly time: number;
  /**
   * Whether one write made the creation and the first append behind it: who gives up the append gives up the session.
   */
  readonly isJoint?: boolean | undefined;
  /**
   * Whether the mutation needs a session that is there. If the remote has none, a call that waits takes the mutation
   * back; otherwise `not_found` blocks it. A provisional creation has it while nothing behind it may create the
   * session.
   */
  readonly mustExist?: boolean | undefined;
}

/** The version that the remote must have of the first event that a mutation writes. */
export interface Expectation {
  /** The remote's revision of the event that this one replaces; `null`: it replaces none. Absent: see `previous`. */
  readonly expected?: number | null | undefined;
  /** Whether the expected revision is only the highest that the event may have. */
  readonly isBound?: boolean | undefined;
  /** The number of the mutation whose event this one replaces. */
  readonly previous?: number | undefined;
}

/** What mutations were based on, by the kind of write. */
interface Bases {
  create: Base & {
    /** Whether the remote has the session, or may have it. It is then fetched, and gets the events of the creation. */
    readonly isThere?: boolean | undefined;
  };
  append: Base &
    Expectation & {
      /** The revision of the copy. Absent after a retry, which appends in any case. */
      readonly since?: number | undefined;
    };
  rewind: Base &
    Expectation & {
      /** What readers see until the remote has answered: the result, as far as this device can compute it. */
      readonly result: {
        /** The marker, and the events after it. */
        readonly events: readonly [OutboxEvent, ...OutboxEvent[]];
        /** JSON object: the session's own state at the cut. */
        readonly state: string;
      };
    };
  describe: Base;
  delete: Base & {
    /** Whether only a session is deleted that nobody has changed since it was created. */
    readonly ifUnchanged?: boolean | undefined;
  };
  update: Base;
  cancel: Base;
}

/** How a mutation was sent. */
interface Sent {
  /** How often it was sent without an answer. */
  readonly attempts: number;
  /** The remote's revision at which it was acknowledged, until the copy has that revision too. */
  readonly acknowledgedAt?: number | undefined;
}

/** What has happened to some mutations of a session or state that follow one another. */
export interface SentRange extends Sent, Pick<Mutation, 'refusal'> {
  /** The number of the first one. */
  readonly first: number;
  /** The number of the last one. */
  readonly last: number;
}

/**
 * What has happened to the mutations of a session or state, in `outbox`. It is a record of its own, so that sending
 * stores no text again: there may be no room for one.
 */
export interface SentRecord {
  /** The name of the session or state. */
  readonly name: string;
  readonly ranges: readonly SentRange[];
}

/** A mutation as its own record has it, in `outbox`. */
export type StoredMutation = Omit<Mutation, 'sent' | 'refusal'>;

/** A change that the remote has not confirmed. */
export interface Mutation<Kind extends OutboxKind = OutboxKind> {
  /** Its place in the order of all mutations, and its name at the remote. */
  readonly number: number;
  /** What the caller means. */
  readonly write: OutboxWrites[Kind];
  /** The local numbers of its events, in their order. */
  readonly numbers: readonly EventNumbers[];
  readonly base: Bases[Kind];
  /** How it was sent. */
  readonly sent: Sent;
  /** Why the remote will never accept it. */
  readonly refusal?: Refusal | undefined;
  /** What it changes in shared states. */
  readonly shared: Readonly<Partial<Record<SharedScope, SharedWrite>>>;
}

/** The `sent` of a mutation that was never sent. */
export const UNSENT: Sent = { attempts: 0 };

/** Members of a new mutation that writes no events, and no shared states. */
export const NEW = { numbers: [], sent: UNSENT, shared: {} } as const;

/** Returns a mutation whose base has other values. */
export function withBase<Kind extends OutboxKind>(
  mutation: Mutation<Kind>,
  changes: Partial<Bases[Kind]>,
): Mutation<Kind> {
  return { ...mutation, base: { ...mutation.base, ...changes } };
}

/** Whether a mutation has a write of one of these kinds. */
export function isOf<Kind extends OutboxKind>(
  mutation: Mutation | undefined,
  ...kinds: readonly Kind[]
): mutation is Mutation<Kind> {
  return mutation !== undefined && (kinds as readonly OutboxKind[]).includes(mutation.write.kind);
}

/** Whether nobody has known the session before its creation here, so that no handle has any of its events. */
export function isNewHere({ number, base }: Mutation<'create'>): boolean {
  return number === base.localId;
}

/** Whether a mutation writes events by itself. */
export function isOfEvent(mutation: Mutation): mutation is Mutation<'append' | 'rewind'> {
  return isOf(mutation, 'append', 'rewind');
}

/** Whether a mutation deletes a session that was created for a message which is given up. */
export function isOfGivenUp(mutation: Mutation): boolean {
  return isOf(mutation, 'delete') && mutation.base.ifUnchanged === true;
}

/** Whether a mutation deletes a user, with all its sessions. */
export function isUserDeletion({ write }: Mutation): boolean {
  return write.kind === 'delete' && write.what === 'user';
}

/** Returns all events of a mutation, in order. */
export function eventsOf(mutation: Mutation): readonly MutationEvent[] {
  const { numbers } = mutation;
  return textsOf(mutation).map((event, index) => ({ ...event, ...numbers[index]! }));
}

/** Returns the event of an append, or the marker of a rewind. */
export function eventOf(mutation: Mutation<'append' | 'rewind'>): OutboxEvent {
  return isOf(mutation, 'rewind')
    ? mutation.base.result.events[0]
    : (mutation as Mutation<'append'>).write.events[0];
}

/** Returns the id of the event that pages show: of a rewind the message that comes with it, if one does. */
export function shownEventIdOf(mutation: Mutation<'append' | 'rewind'>): string {
  const message = isOf(mutation, 'rewind') ? mutation.write.message : undefined;
  return message?.id ?? eventOf(mutation).id;
}

function textsOf(mutation: Mutation): readonly OutboxEvent[] {
  if (isOf(mutation, 'rewind')) return mutation.base.result.events;
  return isOf(mutation, 'create', 'append') ? mutation.write.events : [];
}

/** Returns the id of the message that the remote's agent is to answer; `undefined` if the mutation asks for no run. */
export function askedMessageOf(mutation: Mutation): string | undefined {
  const { write } = mutation;
  if ((write.kind !== 'append' && write.kind !== 'rewind') || write.run === undefined)
    return undefined;
  return write.kind === 'append' ? write.events[0].id : write.message?.id;
}

/** Whether the remote has not acknowledged a mutation, as far as this device knows. */
export function isWaiting({ sent }: Mutation): boolean {
  return sent.acknowledgedAt === undefined;
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

/** The key of the {@link SentRecord} of a session or state. It comes behind its mutations. */
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
