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
export const VERSION = 2;

/** What is recorded of the last loss of the owner's data. */
export interface LossRecord extends CacheLoss {
  /** The numbers of the operations that open tabs have stored again. */
  readonly restored: readonly number[];
  /** Whether the program has acknowledged it. */
  readonly isAcknowledged: boolean;
}

/** What is recorded of the owner itself, in `states`. */
export interface OwnerRecord {
  readonly version: number;
  /** A UUID: the name of this local database at the remote. One that was erased gets another. */
  readonly client: string;
  /** The last number that was drawn. Births, revisions and the numbers of operations come from it. */
  readonly counter: number;
  /** Changes with the operations of states, and with what other operations write to states. */
  readonly sharedStamp: number;
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
  readonly birth: number;
  /** The number of the last change of the copy. */
  readonly tick: number;
  /** Changes with each change of the session's operations. */
  readonly stamp: number;
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

export function newRecord(birth: number, usedAt: number): SessionRecord {
  return { birth, tick: birth, stamp: 0, confirmedAt: 0, usedAt };
}

/** A session whose copy was given up for want of room, in `states`. The remote has it. */
export interface GivenUpRecord {
  /** The birth that its handles have. */
  readonly birth: number;
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
  readonly tick: number;
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
  readonly tick: number;
  readonly isFetched: boolean;
  /** When a deletion of the state arrived. */
  readonly clearedAt: number;
}

/** What an operation changes in a shared state. */
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
  readonly tick: number;
}

/** An event of an operation, with its local numbers. */
export type OperationEvent = OutboxEvent & EventNumbers;

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

/** What an operation was based on. Both numbers are 0 if it changes no session. */
interface Basis {
  /** The birth of the session that it changes. */
  readonly birth: number;
  /** The session's time of the last update, as this device sees it. */
  readonly time: number;
  /** Whether one write made the creation and the first append behind it: who gives up the append gives up the session. */
  readonly isJoint?: boolean | undefined;
  /**
   * Whether the operation needs a session that is there. If the remote has none, a call that waits takes the operation back;
   * otherwise `not_found` blocks it. A creation that stands in has it while nothing behind it may create the session.
   */
  readonly mustExist?: boolean | undefined;
}

/** The version that the remote must have of the first event that an operation writes. */
export interface Expectation {
  /** The remote's revision of the event that this one replaces; `null`: it replaces none. Absent: see `previous`. */
  readonly expected?: number | null | undefined;
  /** Whether the expected revision is only the highest that the event may have. */
  readonly isBound?: boolean | undefined;
  /** The number of the operation whose event this one replaces. */
  readonly previous?: number | undefined;
}

/** What operations were based on, by the kind of write. */
interface Bases {
  create: Basis & {
    /** Whether the remote has the session, or is asked whether it has it. It is fetched, and takes the events of the creation. */
    readonly isThere?: boolean | undefined;
  };
  append: Basis &
    Expectation & {
      /** The revision of the copy. Absent after a retry, which appends in any case. */
      readonly since?: number | undefined;
    };
  rewind: Basis &
    Expectation & {
      /** What readers see until the remote has answered: the result, as far as this device can compute it. */
      readonly result: {
        /** The marker, and the events after it. */
        readonly events: readonly [OutboxEvent, ...OutboxEvent[]];
        /** JSON object: the session's own state at the cut. */
        readonly state: string;
      };
    };
  describe: Basis;
  delete: Basis & {
    /** Whether only a session is deleted that nobody has changed since it was created. */
    readonly ifUnchanged?: boolean | undefined;
  };
  update: Basis;
  cancel: Basis;
}

/** A change that the remote has not confirmed, in `outbox`. */
export interface Operation<Kind extends OutboxKind = OutboxKind> {
  /** Its place in the order of all operations, and its name at the remote. */
  readonly number: number;
  /** What the caller means. */
  readonly write: OutboxWrites[Kind];
  /** The local numbers of its events, in their order. */
  readonly numbers: readonly EventNumbers[];
  readonly basis: Bases[Kind];
  /** How it was sent. */
  readonly sent: {
    /** How often it was sent without an answer. */
    readonly attempts: number;
    /** The remote's revision with which it has arrived, until the copy has that too. */
    readonly landed?: number | undefined;
  };
  /** Why the remote will never accept it. */
  readonly refusal?: Refusal | undefined;
  /** What it changes in shared states. */
  readonly shared: Readonly<Partial<Record<SharedScope, SharedWrite>>>;
}

/** The `sent` of an operation that was never sent. */
export const UNSENT: Operation['sent'] = { attempts: 0 };

/** Members of a new operation that writes no events, and no shared states. */
export const NEW = { numbers: [], sent: UNSENT, shared: {} } as const;

/** Returns an operation whose basis has other values. */
export function withBasis<Kind extends OutboxKind>(
  operation: Operation<Kind>,
  changes: Partial<Bases[Kind]>,
): Operation<Kind> {
  return { ...operation, basis: { ...operation.basis, ...changes } };
}

/** Whether an operation has a write of one of these kinds. */
export function isOf<Kind extends OutboxKind>(
  operation: Operation | undefined,
  ...kinds: readonly Kind[]
): operation is Operation<Kind> {
  return operation !== undefined && (kinds as readonly OutboxKind[]).includes(operation.write.kind);
}

/** Whether nobody has known the session before its creation here, so that no handle has any of its events. */
export function isNewHere({ number, basis }: Operation<'create'>): boolean {
  return number === basis.birth;
}

/** Whether an operation writes events by itself. */
export function isOfEvent(operation: Operation): operation is Operation<'append' | 'rewind'> {
  return isOf(operation, 'append', 'rewind');
}

/** Whether an operation deletes a session that was created for a message which is given up. */
export function isOfGivenUp(operation: Operation): boolean {
  return isOf(operation, 'delete') && operation.basis.ifUnchanged === true;
}

/** Whether an operation deletes a user, with all its sessions. */
export function isUserDeletion({ write }: Operation): boolean {
  return write.kind === 'delete' && write.what === 'user';
}

/** Returns all events of an operation, in order. */
export function eventsOf(operation: Operation): readonly OperationEvent[] {
  const { numbers } = operation;
  return textsOf(operation).map((event, index) => ({ ...event, ...numbers[index]! }));
}

/** Returns the event of an append, or the marker of a rewind. */
export function eventOf(operation: Operation<'append' | 'rewind'>): OutboxEvent {
  return isOf(operation, 'rewind')
    ? operation.basis.result.events[0]
    : (operation as Operation<'append'>).write.events[0];
}

/** Returns the id of the event that pages show: of a rewind the message that comes with it, if one does. */
export function shownEventIdOf(operation: Operation<'append' | 'rewind'>): string {
  const message = isOf(operation, 'rewind') ? operation.write.message : undefined;
  return message?.id ?? eventOf(operation).id;
}

function textsOf(operation: Operation): readonly OutboxEvent[] {
  if (isOf(operation, 'rewind')) return operation.basis.result.events;
  return isOf(operation, 'create', 'append') ? operation.write.events : [];
}

/** Returns the id of the message that the remote's agent is to answer; `undefined` if the operation asks for no run. */
export function askedMessageOf(operation: Operation): string | undefined {
  const { write } = operation;
  if ((write.kind !== 'append' && write.kind !== 'rewind') || write.run === undefined)
    return undefined;
  return write.kind === 'append' ? write.events[0].id : write.message?.id;
}

/** Whether an operation has not arrived at the remote, as far as this device knows. */
export function isWaiting({ sent }: Operation): boolean {
  return sent.landed === undefined;
}

/** The key of an owner, of an app, of a session, or of a user's or an app's state. */
export function entryKey(
  owner: string,
  { appName, userId, sessionId }: Partial<CacheKey>,
): LocalKey {
  const parts = [appName, userId, sessionId].filter((part) => part !== undefined);
  return [owner, ...parts];
}

/** The key of the operations of a session or state. `''` is no id, so the keys of sessions, users and apps do not meet. */
export function operationsKey(
  owner: string,
  { appName, userId, sessionId }: CacheKey,
): readonly string[] {
  return [owner, appName, userId ?? '', sessionId ?? ''];
}

/** The operations of an owner, or of an app or a user with all its sessions. */
export function operationsBelow(owner: string, of: Partial<StateOwner>): LocalRange {
  const range = below(entryKey(owner, of));
  // Begins after the entries of `sharedKey`, which come first.
  return of.appName === undefined ? { ...range, from: [owner, '\0'] } : range;
}

/**
 * The key of what operations change in the states of an app and of its users. It finds the operations of a state among
 * those of sessions.
 */
export function sharedKey(owner: string, appName: string): readonly string[] {
  return [owner, '', appName];
}

/** An entry and everything below its key, whose last member is a string. */
export function below(key: LocalKey): LocalRange {
  return { from: key, to: [...key.slice(0, -1), `${String(key.at(-1))}\0`] };
}
