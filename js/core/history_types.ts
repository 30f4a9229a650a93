/**
 * The verbs of histories, as whoever has the whole session computes them. Each request is a JSON-safe object that says
 * what is meant. A request that is sent again changes nothing: it has the ids of what it stores.
 */
import type { AskedRun } from '../values/model/asked_run.js';
import type { WriteIdentity } from '../values/model/diagnostic.js';
import type { Content } from '../values/model/event/content.js';
import type { Event, NewEvent } from '../values/model/event/event.js';
import type { MessageFile } from '../values/model/event/message_files.js';
import type { Abortable, CompositeSessionKey, Session } from '../values/model/session.js';
import type { JsonObject } from '../values/json/rules.js';
import type { StateShape } from '../values/state/state_shape.js';

/** A place in a history: an event or an invocation. */
export type HistoryPlace =
  | {
      /** The id of a stored event. */
      readonly eventId: string;
    }
  | {
      /** The id of an invocation that has events. */
      readonly invocationId: string;
    };

/** What a rewind undoes. */
export type RewindPlace =
  /** An invocation, and everything after it. */
  | { readonly before: HistoryPlace }
  /** A rewind: the invocation of its marker, which must be the last one of the session. */
  | { readonly undo: string }
  /** What was appended since a branch ended: the invocation of the marker that ended it. */
  | { readonly branch: string }
  /** A turn: from the user's message or answer that an event follows, or is. That is then sent again. */
  | { readonly turn: string };

/** The message that follows a rewind of a turn, and is stored with its marker. */
export interface RepeatedMessage {
  readonly id: string;
  readonly invocationId: string;
  /** The new content. Absent: that of the undone message. */
  readonly content?: Content | undefined;
  /** The files of the new content. Those of the undone message whose text it keeps are added. */
  readonly files?: readonly MessageFile[] | undefined;
}

/** A rewind. Sent again, it answers with what is stored. */
export interface RewindWrite extends WriteIdentity {
  readonly kind: 'rewind';
  readonly key: CompositeSessionKey;
  /** The ids of the marker. */
  readonly marker: { readonly id: string; readonly invocationId: string };
  readonly place: RewindPlace;
  /** Present if the place is a turn. */
  readonly message?: RepeatedMessage | undefined;
  /** The events to store with the marker, after it. They have ids. */
  readonly events?: readonly NewEvent[] | undefined;
  /** Lets the server's agent answer the message. If the marker is stored, nothing runs. */
  readonly run?: AskedRun | undefined;
}

/** The result of a rewind. */
export interface RewindResult {
  /** The marker that was appended. */
  event: Event;
  /**
   * Keys that the rewind removed although the session may have been created with them. The initial state of such a
   * session is not known, for example because Python created it.
   */
  unknownKeys: string[];
}

/** The result of a rewind, with the message that is sent again. */
export interface Rewound extends Readonly<RewindResult> {
  /** Present if the place is a turn. */
  readonly message?: Event | undefined;
  /** The revision of the session. */
  readonly revision: number;
  /** Whether this call has stored it, and not an earlier one with the same marker. */
  readonly isNew: boolean;
}

/**
 * Checks the events that follow a rewind, and returns them as they are stored.
 *
 * @param stored the events that are then stored before them, the newest first, from the marker on. Only those that are
 *   asked for are read
 * @param state the state before the rewind
 * @param isPassedOn whether another store makes the message of these events, so that it stays as it is
 */
export type AdmitEvents = (
  events: readonly NewEvent[],
  stored: AsyncIterable<Event>,
  state: JsonObject,
  isPassedOn: boolean,
) => Promise<NewEvent[]>;

/** A run of the session, as its own process knows it, or has told it when it was asked. */
export interface RunUnderWay {
  /** The message that the run answers, which is stored. */
  readonly message: Pick<Event, 'id' | 'invocationId'>;
  /**
   * Returns the streamed texts and the end event of the run as it is now.
   *
   * @param events the last ones of the session, at least from the first of the run's invocation on, and from the last one
   *   of an agent
   */
  readonly endEvents: (events: readonly Event[]) => readonly NewEvent[];
  /** Stops the run, which stores its end event. Resolves when the run has ended, or its process does not answer. */
  readonly cancel: () => Promise<void>;
  /** Stops the run, which stores no end event. Resolves as `cancel`. */
  readonly abort: () => Promise<void>;
}

/** What a rewind has to do with this process. */
export interface RewindOptions {
  /** The rights of the request. Absent: all. */
  readonly admit?: AdmitEvents | undefined;
  /** A text that no other call has: the message begins a run in this process. See `HiddenMembers`. */
  readonly idempotencyKey?: string | undefined;
  /** Returns the run under way, if there is one. It is asked again at each attempt. */
  readonly running?: (() => RunUnderWay | undefined | Promise<RunUnderWay | undefined>) | undefined;
}

/** The end of a fork's history. */
export type ForkEnd = { readonly at: HistoryPlace } | { readonly before: HistoryPlace };

/** A fork. Sent again, it finds the session that it made. */
export interface ForkWrite extends WriteIdentity {
  readonly kind: 'fork';
  readonly key: CompositeSessionKey;
  readonly newSessionId: string;
  readonly end: ForkEnd;
  readonly title?: string | undefined;
}

/** One of several turns that follow the same history: the user edited a message, or regenerated its answer. */
export interface BranchAlternative {
  /** The invocation of the turn. */
  invocationId: string;
  /** Whether the turn is in the transcript now. */
  isShown: boolean;
  /**
   * The branch for `switchBranch`, which shows the turn and what last followed it. Absent if no rewind has ended a
   * branch with this turn.
   */
  branch?: string;
}

/** A place in the transcript where a session has several branches. */
export interface TurnBranches {
  /** The turn before this place; absent at the beginning. */
  after?: string;
  /** The alternatives, in the order in which they began. */
  alternatives: BranchAlternative[];
}

/** A turn that was edited or regenerated, as the transcript shows it: one of several versions. */
export interface ShownTurn {
  /** Which version is shown, from 0 on. */
  readonly index: number;
  /** How many versions there are; at least 2. */
  readonly count: number;
  /** The branch of the version before, for `switchBranch`. Absent for the first one. */
  readonly previous?: string | undefined;
  /** The branch of the version after, for `switchBranch`. Absent for the last one. */
  readonly next?: string | undefined;
}

/** The branches of a session. */
export interface SessionBranches {
  readonly places: TurnBranches[];
  /** The invocation of the last marker of a rewind. */
  readonly lastRewind?: string | undefined;
}

/** The session's own state at a point of its history. */
export interface HistoryState {
  /** The state without `user:` and `app:` keys, which other sessions change too. */
  state: StateShape;
  /**
   * Keys that the session may have been created with. The initial state is not known, and only events after that point,
   * or undone ones, write them. They are not in `state`.
   */
  unknownKeys: string[];
}

/** A session to read for its history. */
export interface HistoryRead {
  readonly key: CompositeSessionKey;
}

/** Which branches to read. */
export interface BranchesRead extends HistoryRead {
  /**
   * An event of the transcript. Only the places from its turn on are wanted, so older events need not be read. Absent:
   * all places are wanted.
   */
  readonly fromEventId?: string | undefined;
}

/** The point of a history whose state is read: right after an event. */
export interface StateAtRead extends HistoryRead {
  readonly eventId: string;
}

/** A fork as a service takes it. Without an id it draws one. */
export interface ForkOrder extends Omit<ForkWrite, 'kind' | 'newSessionId'> {
  readonly newSessionId?: string | undefined;
}

/** The verbs of the histories of a service. `fork` returns a handle on the new session. */
export interface ServiceHistory {
  rewind(request: RewindWrite & Abortable, options?: RewindOptions): Promise<Rewound>;
  fork(request: ForkOrder & Abortable): Promise<Session>;
  branches(request: BranchesRead & Abortable): Promise<SessionBranches>;
  stateAt(request: StateAtRead & Abortable): Promise<HistoryState>;
}
