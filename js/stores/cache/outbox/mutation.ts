/** The mutations of the outbox: what this device has written and the remote has not confirmed. */
import type { SharedScope } from '../../../values/state/scope.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { EventTexts } from '../../../values/model/event/snapshot.js';
import type {
  AppendWrite,
  CreateWrite,
  DescribeWrite,
  UpdateWrite,
  Writes,
} from '../../../core/write.js';
import type { CacheFailure } from '../records/status.js';

/** What a mutation changes in a shared state. */
export interface SharedWrite {
  readonly isCleared: boolean;
  /** Keys without prefix. */
  readonly values: readonly (readonly [key: string, value: unknown])[];
}

/** What an unsent mutation changes in a state. */
export interface NumberedWrite extends SharedWrite {
  readonly number: number;
  /** The user whose state it is. Absent: the state of the app. */
  readonly userId: string | undefined;
  /** Whether the mutation deletes the user. */
  readonly isOfDeletedUser: boolean;
  /** Whether the remote has refused the mutation. */
  readonly isRefused: boolean;
}

/** What the outbox stores of an event. Its other texts are made from `text` when it is sent. */
export interface OutboxEvent extends Pick<EventTexts, 'id' | 'timestamp' | 'text'> {
  /** Of an append: who has made the event, and in which invocation. Absent if the text is damaged. */
  readonly author?: string | undefined;
  readonly invocationId?: string | undefined;
}

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
    /** Whether its write also made the session: who gives up the event gives up the session. */
    readonly isJoint?: true | undefined;
  };
  rewind: Writes['rewind'] & {
    /** What readers see until the remote has answered: the result, as far as this device can compute it. */
    readonly result: {
      /** The marker, and the events after it. */
      readonly events: readonly [OutboxEvent, ...OutboxEvent[]];
      /** JSON object: the session's own state at the cut. */
      readonly state: string;
    };
  };
  describe: DescribeWrite;
  delete: Writes['delete'] & {
    /** Whether only a session is deleted that nobody has changed since it was created. */
    readonly ifUnchanged?: true | undefined;
  };
  update: UpdateWrite & { readonly delta: string };
  /** Cancels the run of a message that was given up here, and that may have arrived. */
  cancel: {
    readonly kind: 'cancel';
    readonly key: Readonly<CompositeSessionKey>;
    readonly messageId: string;
  };
}

export type OutboxKind = keyof OutboxWrites;

/** What is known of a mutation at the remote. `outbox_table.ts` has the transitions. */
export type Phase =
  /** It was never sent, or the remote has answered that it stored nothing. */
  | { readonly is: 'fresh' }
  /** It was sent so often without an answer. */
  | { readonly is: 'sent'; readonly attempts: number }
  /** The remote has stored it at this revision, to which the copy has not yet come. */
  | { readonly is: 'acknowledged'; readonly at: number }
  /** The remote will never accept it. */
  | { readonly is: 'refused'; readonly refusal: Refusal };

/**
 * What is known of the session of a creation.
 *
 * - `new`: the creation makes it.
 * - `exists`: the remote has answered that it has the session. It is fetched, and gets the events of the creation.
 * - `provisional`: something was written to a session without a copy. The remote is asked whether it has the session.
 * - `allowed`: a provisional one that may be created if the remote does not have it.
 */
export type Creation = 'new' | 'exists' | 'provisional' | 'allowed';

/**
 * The version that the remote must have of the event that an append or a rewind writes: none, that of a revision, one
 * of at most a revision, that of an earlier mutation, or any.
 */
export type Replaces =
  | 'nothing'
  | { readonly revision: number }
  | { readonly atMost: number }
  | { readonly mutation: number }
  | 'anything';

/** A change that the remote has not confirmed. */
export interface Mutation<Kind extends OutboxKind = OutboxKind> {
  /** Its place in the order of all mutations, and its name at the remote. */
  readonly number: number;
  /** What the caller means. */
  readonly write: OutboxWrites[Kind];
  /** The local numbers of its events, in their order. */
  readonly numbers: readonly EventNumbers[];
  /** The local id of the session that it changes; 0 if it changes no session. */
  readonly localId: number;
  /** The session's time of the last update, as this device sees it; 0 if it changes no session. */
  readonly time: number;
  /**
   * Whether it needs a session that is there. If the remote has none, a call that waits takes the mutation back;
   * otherwise `not_found` blocks it.
   */
  readonly needsSession: boolean;
  readonly phase: Phase;
  /** Present in a creation. */
  readonly creation?: Creation | undefined;
  /** Present in an append and a rewind. */
  readonly replaces?: Replaces | undefined;
  /** Of an append: the revision of the copy when it was made. Absent after a retry, which appends in any case. */
  readonly since?: number | undefined;
  /** What it changes in shared states. */
  readonly shared: Readonly<Partial<Record<SharedScope, SharedWrite>>>;
}

/** A mutation as its own record has it, in `outbox`. */
export type StoredMutation = Omit<Mutation, 'phase'> & { readonly phase?: undefined };

export const FRESH: Phase = { is: 'fresh' };

/** Members of a new mutation that writes no events, no shared states and no session. */
export const NEW = {
  numbers: [],
  localId: 0,
  time: 0,
  needsSession: false,
  phase: FRESH,
  shared: {},
} as const;

/** Whether a mutation has a write of one of these kinds. */
export function isOf<Kind extends OutboxKind>(
  mutation: Mutation | undefined,
  ...kinds: readonly Kind[]
): mutation is Mutation<Kind> {
  return mutation !== undefined && (kinds as readonly OutboxKind[]).includes(mutation.write.kind);
}

/** Whether nobody has known the session before its creation here, so that no handle has any of its events. */
export function isNewHere({ number, localId }: Mutation<'create'>): boolean {
  return number === localId;
}

/** Whether a creation waits for the answer whether the remote has the session. */
export function isAskedFor(creation: Mutation | undefined): boolean {
  return creation?.creation !== undefined && creation.creation !== 'new';
}

/** Whether a mutation writes events by itself. */
export function isOfEvent(mutation: Mutation): mutation is Mutation<'append' | 'rewind'> {
  return isOf(mutation, 'append', 'rewind');
}

/** Whether a mutation deletes a session that was created for a message which is given up. */
export function isOfGivenUp(mutation: Mutation): boolean {
  return isOf(mutation, 'delete') && mutation.write.ifUnchanged === true;
}

/** Whether a mutation deletes a user, with all its sessions. */
export function isUserDeletion({ write }: Mutation): boolean {
  return write.kind === 'delete' && write.what === 'user';
}

/** Whether the remote has not acknowledged a mutation, as far as this device knows. */
export function isWaiting({ phase }: Mutation): boolean {
  return phase.is !== 'acknowledged';
}

/** Whether a mutation was sent, and its answer has not come. */
export function isSent({ phase }: Mutation): boolean {
  return phase.is === 'sent';
}

export function isRefused({ phase }: Mutation): boolean {
  return phase.is === 'refused';
}

/** Returns how often a mutation was sent without an answer. */
export function attemptsOf({ phase }: Mutation): number {
  return phase.is === 'sent' ? phase.attempts : 0;
}

/** Returns why the remote will never accept a mutation itself. */
export function ownRefusalOf({ phase }: Mutation): Refusal | undefined {
  return phase.is === 'refused' ? phase.refusal : undefined;
}

/** Whether a mutation may be sent, unless it waits for a refused one. */
export function isOpen(mutation: Mutation): boolean {
  return isWaiting(mutation) && !isRefused(mutation);
}

/** Returns the version that a mutation replaces, if it is a certain one. */
export function replacedVersionOf({ replaces }: Mutation): {
  readonly revision?: number;
  readonly atMost?: number;
  readonly mutation?: number;
} {
  return typeof replaces === 'object' ? replaces : {};
}

/** Returns all events of a mutation, in order. */
export function eventsOf(mutation: Mutation): readonly MutationEvent[] {
  const { numbers } = mutation;
  return textsOf(mutation).map((event, index) => ({ ...event, ...numbers[index]! }));
}

/** Returns the event of an append, or the marker of a rewind. */
export function eventOf(mutation: Mutation<'append' | 'rewind'>): OutboxEvent {
  const { write } = mutation;
  return write.kind === 'rewind' ? write.result.events[0] : write.events[0];
}

/** Returns the id of the event that pages show: of a rewind the message that comes with it, if one does. */
export function shownEventIdOf(mutation: Mutation<'append' | 'rewind'>): string {
  const message = isOf(mutation, 'rewind') ? mutation.write.message : undefined;
  return message?.id ?? eventOf(mutation).id;
}

function textsOf({ write }: Mutation): readonly OutboxEvent[] {
  if (write.kind === 'rewind') return write.result.events;
  return write.kind === 'create' || write.kind === 'append' ? write.events : [];
}

/** Returns the id of the message that the remote's agent is to answer; `undefined` if the mutation asks for no run. */
export function askedMessageOf({ write }: Mutation): string | undefined {
  if ((write.kind !== 'append' && write.kind !== 'rewind') || write.run === undefined)
    return undefined;
  return write.kind === 'append' ? write.events[0].id : write.message?.id;
}
