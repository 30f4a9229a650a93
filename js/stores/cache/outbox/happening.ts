/** What happens to the outbox of a session or state, and what to do because of it. */
import type { SharedScope } from '../../../values/state/scope.js';
import type {
  EventNumbers,
  Mutation,
  NumberedWrite,
  OutboxWrites,
  Refusal,
  SharedWrite,
} from './mutation.js';

/** The mutations of one session or state, in the order of their numbers. */
export type OutboxOfKey = readonly Mutation[];

/** The numbers of mutations. */
type Numbers = readonly number[];

/** What has happened. */
export type Happening =
  // What callers of the cache do.
  /** A call has written something, or what a tab has of an outbox that was lost is stored again. */
  | { readonly type: 'added'; readonly mutations: readonly Mutation[] }
  /** A call may create a provisional session, with this write. */
  | {
      readonly type: 'allowed';
      readonly number: number;
      readonly write: OutboxWrites['create'];
      readonly shared: Mutation['shared'];
    }
  /** A session was deleted. `mayBeRemote`: the remote has it, or may have it. */
  | {
      readonly type: 'deleted';
      readonly write: OutboxWrites['delete'];
      readonly localId: number;
      readonly mayBeRemote: boolean;
    }
  /** The user of the session was deleted. */
  | { readonly type: 'userDeleted' }
  /** Refused mutations are to be sent again. */
  | { readonly type: 'retried'; readonly numbers: Numbers }
  /**
   * Unsent mutations were given up. `shortened`: creations that have lost an event, and stay.
   */
  | {
      readonly type: 'dropped';
      readonly numbers: Numbers;
      readonly shortened: readonly Mutation[];
    }
  /** A message for the remote's agent was given up. `isCancelled`: the remote knows it. */
  | { readonly type: 'givenUp'; readonly messageId: string; readonly isCancelled: boolean }

  // What the sending tab does, and what the remote answers.
  /** They are about to be sent for the nth time without an answer. */
  | { readonly type: 'claimed'; readonly numbers: Numbers; readonly attempts: number }
  /**
   * The remote has stored them. `at`: at this revision, to which the copy has not come. `revisions`: those of stored
   * events, by id, as far as the answer tells them.
   */
  | {
      readonly type: 'stored';
      readonly numbers: Numbers;
      readonly at?: number | undefined;
      readonly revisions?: ReadonlyMap<string, number> | undefined;
    }
  /** The remote has stored nothing of them. */
  | { readonly type: 'unstored'; readonly numbers: Numbers }
  /** The remote has stored nothing of them at the nth attempt, because an agent runs. */
  | { readonly type: 'heldByRun'; readonly numbers: Numbers; readonly attempts: number }
  /** The remote does not accept it. `actual`: because it has this revision of the event, or none. */
  | {
      readonly type: 'refused';
      readonly number: number;
      readonly refusal: Refusal;
      readonly actual?: number | null | undefined;
    }
  /** The remote has the session of a creation. */
  | { readonly type: 'existed'; readonly number: number }
  /** The copy has the session of a creation, which another device has made. */
  | { readonly type: 'merged'; readonly number: number }
  /** The remote does not have the session of a creation. */
  | { readonly type: 'absent'; readonly number: number; readonly refusal: Refusal }
  /** The remote has not deleted a session, because somebody has changed it. */
  | { readonly type: 'keptByRemote'; readonly numbers: Numbers }
  /** A later value of the same keys was stored. */
  | {
      readonly type: 'stripped';
      readonly scope: SharedScope;
      readonly writes: readonly (SharedWrite & { readonly number: number })[];
    }

  // What becomes of the copy.
  /** The copy has come to a revision, or was removed: then to every one. */
  | { readonly type: 'copied'; readonly localId: number; readonly revision: number }
  /** The remote has deleted the session of the copy. */
  | { readonly type: 'gone'; readonly localId: number; readonly refusal: Refusal }
  /** Events have new local numbers: by mutation. */
  | {
      readonly type: 'renumbered';
      readonly numbers: ReadonlyMap<number, readonly EventNumbers[]>;
    };

/** What has happened, of one type. */
export type HappeningOf<Type extends Happening['type']> = Extract<
  Happening,
  { readonly type: Type }
>;

/** What a step has to know of the copy and of other sessions. It is read before. */
export interface Seen {
  /** The session whose copy is here. */
  readonly copy?: { readonly localId: number; readonly revision: number } | undefined;
  /** The remote's revisions of those events that mutations replace, by id, as the copy has them. */
  readonly revisions: ReadonlyMap<string, { readonly revision: number; readonly isExact: boolean }>;
  /** What the unsent mutations of all sessions write to the user's and the app's state. */
  readonly writes: Readonly<Partial<Record<SharedScope, readonly NumberedWrite[]>>>;
  /** The last number that was drawn. */
  readonly counter: number;
}

/** What to do because of it. */
export type Effect =
  /** Remove the copy, and what hangs on it. */
  | 'copy leaves'
  /** Remove the record of a session that was never sent. */
  | 'record leaves'
  /** Tell handles and watchers that the session or state is shown otherwise. */
  | 'shown otherwise'
  /** Tell watchers that a session is back, whose deletion was given up. */
  | 'shown again';

/** The outbox after something has happened, and what to do. */
export interface Step {
  readonly outbox: OutboxOfKey;
  readonly effects: readonly Effect[];
  /** The last number that was drawn. */
  readonly counter: number;
}

/** What the rules know beside the outbox. They draw numbers, and note what is to be done. */
export interface Rules extends Seen {
  readonly draw: () => number;
  readonly note: (effect: Effect) => void;
}
